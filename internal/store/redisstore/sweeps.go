package redisstore

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// sweepPage is how many fields of a hash are looked at in one go.
	sweepPage = 500
	// queuePage likewise for queues, of which each is three keys.
	queuePage = 100
)

// sweep forgets what is useless and does not expire otherwise.
func (s *Store) sweep(ctx context.Context, space c3po.Space, lived int64) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	k := keysOf(space)
	for _, hash := range []struct {
		key  string
		over func(field, value string) (bool, error)
	}{
		{k.nodes(), func(_, until string) (bool, error) { return store.LeaseOver(s.limits, instant(atoi(until)), now), nil }},
		{k.aliases(), func(_, value string) (bool, error) { return store.AliasOver(s.limits, lived, secondWord(value)), nil }},
		{k.renamed(), func(_, value string) (bool, error) { return store.NameOver(s.limits, lived, secondWord(value)), nil }},
		{k.flow(), func(account, value string) (bool, error) { return s.chainOver(ctx, space, account, value, now) }},
	} {
		if err := s.drop(ctx, hash.key, hash.over); err != nil {
			return err
		}
	}
	if err := s.dropLeases(ctx, space, store.LeaseMemory); err != nil {
		return err
	}
	if err := s.endEmptyRooms(ctx, space, lived); err != nil {
		return err
	}
	if err := s.trimFiles(ctx, space, lived); err != nil {
		return err
	}
	if err := s.dropQueues(ctx, space); err != nil {
		return err
	}
	if _, err := s.run(ctx, "import_drop", k, with{"import_life": seconds(store.ImportLife(s.limits))}); err != nil {
		return err
	}
	outcome, err := s.vacate(ctx, space, "")
	if err != nil || outcome != "over" {
		return err
	}
	return s.leaving(ctx, space, "go")
}

// dropQueues forgets queues without members and without mail.
func (s *Store) dropQueues(ctx context.Context, space c3po.Space) error {
	queues, err := s.Queues(ctx, space)
	if err != nil {
		return err
	}
	k := keysOf(space)
	for page := range slices.Chunk(queues, queuePage) {
		var rows []with
		for _, queue := range page {
			rows = append(rows, with{"fact": k.fact(queue), "box": k.box(queue), "mark": k.mark(queue), "name": queue.Queue()})
		}
		if _, err := s.run(ctx, "queue_drop", k, with{"queues": rows}); err != nil {
			return err
		}
	}
	return nil
}

// secondWord is the number behind an id.
func secondWord(value string) int64 {
	_, at, _ := strings.Cut(value, " ")
	return atoi(at)
}

// drop goes through a hash and forgets what is over.
func (s *Store) drop(ctx context.Context, key string, over func(field, value string) (bool, error)) error {
	for cursor := uint64(0); ; {
		page, err := s.scanHash(ctx, key, cursor)
		if err != nil {
			return err
		}
		var fields []with
		for i := 0; i+1 < len(page.Elements); i += 2 {
			is, err := over(page.Elements[i], page.Elements[i+1])
			if err != nil {
				return err
			}
			if is {
				fields = append(fields, with{"field": page.Elements[i], "value": page.Elements[i+1]})
			}
		}
		if len(fields) > 0 {
			if _, err := s.run(ctx, "field_drop", noSpace, with{"hash": key, "fields": fields}); err != nil {
				return err
			}
		}
		if cursor = page.Cursor; cursor == 0 {
			return nil
		}
	}
}

func (s *Store) scanHash(ctx context.Context, key string, cursor uint64) (rueidis.ScanEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	page, err := s.commands.Do(ctx, s.commands.B().Hscan().Key(key).Cursor(cursor).Count(sweepPage).Build()).AsScanEntry()
	if err != nil {
		return page, s.failure(ctx, "sweep", err)
	}
	return page, nil
}

// chainOver says that a chain was paused long ago, and that nothing of it is left
// that somebody could go on with.
func (s *Store) chainOver(ctx context.Context, space c3po.Space, account, value string, now time.Time) (bool, error) {
	chain, isChain := strings.CutPrefix(account, "t:")
	words := strings.Fields(value)
	if !isChain || len(words) < 5 || words[4] == "-" || !store.PauseOver(s.limits, instant(atoi(words[0])), now) {
		return false, nil
	}
	thread := itoa(len(chain)) + ":" + chain
	left, err := s.strings(ctx, s.commands.B().Zrangebylex().Key(keysOf(space).threads()).Min("["+thread+"\x00").Max("("+thread+"\x01").Limit(0, 1).Build())
	return err == nil && len(left) == 0, err
}
