package redisstore

import (
	"context"
	"strings"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
)

// allKeys are the keys of every space, and those outside spaces.
const allKeys = "c3po:1:*"

// copyAtOnce is how many keys are copied in one round trip.
const copyAtOnce = 200

// Empty reports whether nothing of ours is here.
func (s *Store) Empty(ctx context.Context) (bool, error) {
	found := false
	err := s.eachKey(ctx, func([]string) error {
		found = true
		return nil
	})
	return !found, err
}

// CopyTo puts everything into another store, which must be empty and unused, and returns
// the number of keys.
func (s *Store) CopyTo(ctx context.Context, to *Store) (int, error) {
	copied := 0
	err := s.eachKey(ctx, func(keys []string) error {
		n, err := s.copyKeys(ctx, to, keys)
		copied += n
		return err
	})
	return copied, err
}

// eachKey hands over all keys, page by page.
func (s *Store) eachKey(ctx context.Context, page func([]string) error) error {
	masters, err := mastersOf(ctx, s.commands)
	if err != nil {
		return notReached(err)
	}
	nodes := s.commands.Nodes()
	for _, master := range masters {
		node := nodes[master]
		for cursor := uint64(0); ; {
			found, err := node.Do(ctx, node.B().Scan().Cursor(cursor).Match(allKeys).Count(copyAtOnce).Build()).AsScanEntry()
			if err != nil {
				return notReached(err)
			}
			if len(found.Elements) > 0 {
				if err := page(found.Elements); err != nil {
					return err
				}
			}
			if cursor = found.Cursor; cursor == 0 {
				break
			}
		}
	}
	return nil
}

func (s *Store) copyKeys(ctx context.Context, to *Store, keys []string) (int, error) {
	reads := make(rueidis.Commands, 0, 2*len(keys))
	for _, key := range keys {
		reads = append(reads, s.commands.B().Dump().Key(key).Build(), s.commands.B().Pttl().Key(key).Build())
	}
	answers := s.commands.DoMulti(ctx, reads...)
	var writes rueidis.Commands
	for i, key := range keys {
		value, err := answers[2*i].ToString()
		if rueidis.IsRedisNil(err) {
			continue // its time to live has ended
		}
		if err != nil {
			return 0, notReached(err)
		}
		left, err := answers[2*i+1].AsInt64()
		if err != nil {
			return 0, notReached(err)
		}
		writes = append(writes, to.commands.B().Restore().Key(key).Ttl(max(0, left)).SerializedValue(value).Build())
	}
	for _, answer := range to.commands.DoMulti(ctx, writes...) {
		err := answer.Error()
		if refused, ok := rueidis.IsRedisErr(err); ok && strings.Contains(refused.Error(), "payload version") {
			return 0, c3po.Errorf(c3po.RedisUnavailable, "this Redis is older than the one the data comes from").
				Suggest("Use the same version of Redis, or a later one.")
		}
		if err != nil {
			return 0, c3po.Because(err, c3po.UnknownOutcome, "Redis stopped taking the copy; a part of it is there").
				Suggest("Empty that Redis, and copy again.")
		}
	}
	return len(writes), nil
}
