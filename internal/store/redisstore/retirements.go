package redisstore

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// retiredLook is how long the keys of a retired agent are left alone before it
// is looked whether any of its mail is left.
const retiredLook = 24 * time.Hour

// Retire implements store.Store.
func (s *Store) Retire(ctx context.Context, space c3po.Space, id c3po.AgentID, silent time.Duration, empty bool) (store.RetireOutcome, error) {
	k := keysOf(space)
	answer, err := s.run(ctx, "agent_retire", k, with{
		"agent": k.agent(id), "inbox": k.inbox(id), "skips": k.skips(id), "reads": k.reads(id),
		"id": id, "silent": seconds(silent), "empty": empty, "later": seconds(retiredLook),
	})
	if err != nil {
		return "", err
	}
	if outcome := word(answer[0]); outcome != "retired" || word(answer[1]) == "" {
		return store.RetireOutcome(outcome), nil
	}
	s.followNow(ctx, space, word(answer[1]))
	return store.RetireDone, nil
}

// Silent implements store.Store.
func (s *Store) Silent(ctx context.Context, space c3po.Space, silent time.Duration, limit int) ([]store.Silence, error) {
	books, err := s.Counters(ctx, space)
	if err != nil {
		return nil, err
	}
	rows, err := s.scores(ctx, s.commands.B().Zrangebyscore().Key(keysOf(space).lastKnown()).Min("-inf").
		Max(itoa(books.Lived-int64(silent/time.Second))).Withscores().Limit(0, int64(limit)).Build())
	if err != nil {
		return nil, err
	}
	var out []store.Silence
	for _, row := range rows {
		out = append(out, store.Silence{ID: c3po.AgentID(row.Member), For: time.Duration(books.Lived-int64(row.Score)) * time.Second})
	}
	return out, nil
}

// Retired implements store.Store.
func (s *Store) Retired(ctx context.Context, space c3po.Space, skip, limit int) ([]c3po.AgentID, error) {
	return s.ids(ctx, s.commands.B().Zrange().Key(keysOf(space).retired()).Min(itoa(skip)).Max(itoa(skip+limit-1)).Build())
}

func (s *Store) trimRetired(ctx context.Context, space c3po.Space, limit int) (int, error) {
	books, err := s.Counters(ctx, space)
	if err != nil {
		return 0, err
	}
	k := keysOf(space)
	ids, err := s.ids(ctx, s.commands.B().Zrangebyscore().Key(k.retired()).Min("-inf").Max(itoa(books.Lived)).Limit(0, int64(limit)).Build())
	if err != nil {
		return 0, err
	}
	forgotten := 0
	for _, id := range ids {
		answer, err := s.run(ctx, "agent_forget", k,
			with{"fact": k.fact(id), "box": k.box(id), "mark": k.mark(id), "id": id, "later": seconds(retiredLook)})
		if err != nil {
			return forgotten, err
		}
		if word(answer[0]) == "forgotten" {
			forgotten++
		}
	}
	return forgotten, nil
}
