package redisstore

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
)

// Tick implements hub.Store.
func (s *Store) Tick(ctx context.Context, space c3po.Space, interval time.Duration) (int64, error) {
	answer, err := s.run(ctx, s.scripts.tick, []string{keysOf(space).meta()}, []string{s.nowArg(), millis(interval)})
	if err != nil {
		return 0, err
	}
	return integer(answer[1]), nil
}

// DueMail implements hub.Store.
func (s *Store) DueMail(ctx context.Context, space c3po.Space, limit int) ([]hub.Due, error) {
	books, err := s.Counters(ctx, space)
	if err != nil {
		return nil, err
	}
	rows, err := s.strings(ctx, s.commands.B().Zrangebyscore().Key(keysOf(space).expire()).Min("-inf").Max(itoa(books.Lived)).Limit(0, int64(limit)).Build())
	if err != nil {
		return nil, err
	}
	var out []hub.Due
	for _, row := range rows {
		from, _, _ := c3po.MessageID(row).Split()
		out = append(out, hub.Due{ID: c3po.MessageID(row), From: from})
	}
	return out, nil
}

// Oldest implements hub.Store.
func (s *Store) Oldest(ctx context.Context, space c3po.Space) (time.Time, error) {
	rows, err := s.strings(ctx, s.commands.B().Zrange().Key(keysOf(space).expire()).Min("0").Max("0").Build())
	if err != nil || len(rows) == 0 {
		return time.Time{}, err
	}
	first, err := s.Message(ctx, space, c3po.MessageID(rows[0]))
	if err != nil || first == nil {
		return time.Time{}, err
	}
	return first.Facts.Accepted, nil
}

// Bury implements hub.Store.
func (s *Store) Bury(ctx context.Context, space c3po.Space, id c3po.MessageID, reason, bounce string) (bool, error) {
	from, owner, hex := id.Split()
	note := hub.Draft{From: c3po.System, To: from, Kind: c3po.KindBounce, Text: bounce}
	body, err := encodeBody(note)
	if err != nil {
		return false, err
	}
	durability, err := s.Durability(ctx)
	if err != nil {
		return false, err
	}
	k, l := keysOf(space), s.limits
	answer, err := s.run(ctx, s.scripts.bury, []string{
		k.meta(), k.inbox(owner), k.body(owner), k.fact(owner), k.box(owner), k.expire(), k.threads(), k.events(), k.dead(),
		k.agent(from), k.inbox(from), k.body(from), k.fact(from), k.box(from), k.owed(),
	}, []string{
		s.nowArg(), k.wake(), string(owner), string(from), hex, reason, seconds(l.DeadLife), body, itoa(note.Bytes()),
		seconds(l.MessageLife), itoa(l.EventEntries), string(durability),
	})
	return err == nil && word(answer[0]) == "buried", err
}

// Trim implements hub.Store.
func (s *Store) Trim(ctx context.Context, space c3po.Space, limit int) (int, error) {
	ended, err := s.trimEnded(ctx, space, limit)
	if err != nil {
		return ended, err
	}
	dead, err := s.trimDead(ctx, space, limit)
	if err != nil {
		return ended + dead, err
	}
	retired, err := s.trimRetired(ctx, space, limit)
	if err != nil {
		return ended + dead + retired, err
	}
	k := keysOf(space)
	answer, err := s.run(ctx, s.scripts.trimKeys, []string{k.meta(), k.idem(), k.idemx()}, []string{itoa(limit)})
	if err != nil {
		return ended + dead + retired, err
	}
	return ended + dead + retired + int(integer(answer[1])), s.trimAccounts(ctx, space, limit)
}

// trimEnded goes through the owners of ended mail, the one with the oldest
// first, so that the oldest message of the space is always the first to go.
func (s *Store) trimEnded(ctx context.Context, space c3po.Space, limit int) (int, error) {
	k, total := keysOf(space), 0
	for total < limit {
		rows, err := s.scores(ctx, s.commands.B().Zrange().Key(k.ending()).Min("0").Max("1").Withscores().Build())
		if err != nil || len(rows) == 0 {
			return total, err
		}
		bound := "inf"
		if len(rows) > 1 {
			bound = itoa(int64(rows[1].Score))
		}
		owner := c3po.AgentID(rows[0].Member)
		answer, err := s.run(ctx, s.scripts.trim, []string{k.meta(), k.body(owner), k.fact(owner), k.ended(owner), k.ending(), k.threads(), k.tickets()},
			[]string{string(owner), itoa(limit - total), itoa(s.limits.EndedBytes), bound})
		if err != nil {
			return total, err
		}
		forgotten := int(integer(answer[1]))
		if forgotten == 0 {
			return total, nil
		}
		total += forgotten
	}
	return total, nil
}

func (s *Store) trimDead(ctx context.Context, space c3po.Space, limit int) (int, error) {
	rows, err := s.strings(ctx, s.commands.B().Zrange().Key(keysOf(space).dead()).Min("0").Max(itoa(limit-1)).Build())
	if err != nil {
		return 0, err
	}
	total := 0
	for _, row := range rows {
		forgotten, err := s.forgetLetter(ctx, space, c3po.MessageID(row), false)
		if err != nil {
			return total, err
		}
		if !forgotten {
			break
		}
		total++
	}
	return total, nil
}
