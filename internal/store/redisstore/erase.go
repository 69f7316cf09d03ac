package redisstore

import (
	"context"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
)

// Erase removes a space and everything in it. It is for spaces that were made
// for a measurement: a coordinator that still serves the space would take it
// for a Redis that has lost what it acknowledged.
func (s *Store) Erase(ctx context.Context, space c3po.Space) error {
	for _, node := range s.commands.Nodes() {
		// Until nothing is found: a step whose caller has given up may still run while
		// the keys are looked through, and write where that has been.
		for found := true; found; {
			var err error
			if found, err = s.erase(ctx, node, string(keysOf(space))+"*"); err != nil {
				return err
			}
		}
	}
	s.known.Delete(space)
	return s.write(ctx, "erase", func() error {
		return s.commands.Do(ctx, s.commands.B().Srem().Key(spacesKey).Member(string(space)).Build()).Error()
	})
}

// erase removes the keys of a pattern that one node has. All are of one space,
// so in a cluster they are of one slot and go in one command, to whoever may
// write there: the node may be a replica. It says whether there were any.
func (s *Store) erase(ctx context.Context, node rueidis.Client, pattern string) (found bool, err error) {
	for cursor := uint64(0); ; {
		page, err := node.Do(ctx, node.B().Scan().Cursor(cursor).Match(pattern).Count(1000).Build()).AsScanEntry()
		if err != nil {
			return found, s.failure(ctx, "erase", err)
		}
		if len(page.Elements) > 0 {
			found = true
			err := s.write(ctx, "erase", func() error {
				return s.commands.Do(ctx, s.commands.B().Unlink().Key(page.Elements...).Build()).Error()
			})
			if err != nil {
				return found, err
			}
		}
		if cursor = page.Cursor; cursor == 0 {
			return found, nil
		}
	}
}
