package redisstore

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Tick implements store.Store.
func (s *Store) Tick(ctx context.Context, space c3po.Space, node string, interval time.Duration) (store.Pulse, error) {
	answer, err := s.run(ctx, "space_tick", keysOf(space),
		with{"interval": millis(interval), "node": node, "retire": seconds(s.limits.RetireAfter), "idle": millis(store.FlowIdle)})
	if err != nil {
		return store.Pulse{}, err
	}
	return store.Pulse{Lived: integer(answer[1]), Won: word(answer[2]) == "1", Due: word(answer[3]) == "1"}, nil
}

// Reaper implements store.Store.
func (s *Store) Reaper(ctx context.Context, node string, length time.Duration) (time.Duration, error) {
	answer, err := s.run(ctx, "reaper_elect", noSpace, with{"node": node, "length": millis(length)})
	if err != nil {
		return 0, err
	}
	return time.Duration(integer(answer[1])) * time.Millisecond, nil
}

// DueMail implements store.Store.
func (s *Store) DueMail(ctx context.Context, space c3po.Space, limit int) ([]store.Due, error) {
	books, err := s.Counters(ctx, space)
	if err != nil {
		return nil, err
	}
	rows, err := s.strings(ctx, s.commands.B().Zrangebyscore().Key(keysOf(space).expire()).Min("-inf").Max(itoa(books.Lived)).Limit(0, int64(limit)).Build())
	if err != nil {
		return nil, err
	}
	var out []store.Due
	for _, row := range rows {
		from, _, _ := c3po.MessageID(row).Split()
		out = append(out, store.Due{ID: c3po.MessageID(row), From: from})
	}
	return out, nil
}

// Oldest implements store.Store.
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

// Bury implements store.Store.
func (s *Store) Bury(ctx context.Context, space c3po.Space, id c3po.MessageID, reason, bounce string) (bool, error) {
	from, owner, hex := id.Split()
	note := store.Draft{From: c3po.System, To: from, Kind: c3po.KindBounce, Text: bounce}
	body, err := encodeBody(note)
	if err != nil {
		return false, err
	}
	if bounce == "" {
		body = ""
	}
	durability, err := s.Durability(ctx)
	if err != nil {
		return false, err
	}
	k := keysOf(space)
	answer, err := s.run(ctx, "letter_bury", k, with{
		"mail": k.of(owner), "back": k.of(from), "owner": owner, "from": from, "hex": hex, "reason": reason,
		"bounce": body, "bytes": note.Bytes(), "durability": durability,
	})
	return err == nil && word(answer[0]) == "buried", err
}

// Trim implements store.Store.
func (s *Store) Trim(ctx context.Context, space c3po.Space, limit int) (int, error) {
	total := 0
	var ends [2]int64
	ended := func(ctx context.Context, space c3po.Space, limit int) (int, int64, error) {
		return s.trimEnded(ctx, space, limit, 0)
	}
	for i, trim := range []func(context.Context, c3po.Space, int) (int, int64, error){ended, s.trimDead} {
		forgotten, end, err := trim(ctx, space, limit)
		total, ends[i] = total+forgotten, end
		if err != nil {
			return total, err
		}
	}
	retired, err := s.trimRetired(ctx, space, limit)
	total += retired
	if err != nil {
		return total, err
	}
	answer, err := s.run(ctx, "key_trim", keysOf(space), with{"limit": limit})
	if err != nil {
		return total, err
	}
	total += int(integer(answer[1]))
	if err := s.trimAccounts(ctx, space, limit); err != nil {
		return total, err
	}
	if err := s.followAll(ctx, space); err != nil || total > 0 {
		return total, err
	}
	return 0, s.swept(ctx, space, ends[:])
}

// swept sweeps a space, and writes down when the next sweep is due.
func (s *Store) swept(ctx context.Context, space c3po.Space, ends []int64) error {
	books, err := s.Counters(ctx, space)
	if err != nil {
		return err
	}
	if err := s.sweep(ctx, space, books.Lived); err != nil {
		return err
	}
	_, err = s.run(ctx, "sweep_schedule", keysOf(space), with{"next_sweep": store.NextSweep(s.limits, books.Lived, ends...)})
	return err
}

// maxTrimmed is how many ended messages one step forgets.
const maxTrimmed = 100

// trimEnded goes through the owners of ended mail, the one with the oldest
// first, so that the oldest message of the space is always the first to go. It
// also says when the life of the first that is left ends. Unless most is 0, it
// makes room until Redis uses so many per cent of its memory.
func (s *Store) trimEnded(ctx context.Context, space c3po.Space, limit, most int) (total int, ends int64, err error) {
	k := keysOf(space)
	for total < limit {
		rows, err := s.scores(ctx, s.commands.B().Zrange().Key(k.ending()).Min("0").Max("1").Withscores().Build())
		if err != nil || len(rows) == 0 {
			return total, 0, err
		}
		bound := "inf"
		if len(rows) > 1 {
			bound = itoa(int64(rows[1].Score))
		}
		owner := c3po.AgentID(rows[0].Member)
		answer, err := s.run(ctx, "message_trim", k,
			with{"mail": k.of(owner), "owner": owner, "limit": min(limit-total, maxTrimmed), "bound": bound, "per_cent": most})
		if err != nil {
			return total, 0, err
		}
		forgotten := int(integer(answer[1]))
		if forgotten == 0 {
			return total, integer(answer[2]), nil
		}
		total += forgotten
	}
	return total, 0, nil
}

func (s *Store) trimDead(ctx context.Context, space c3po.Space, limit int) (total int, ends int64, err error) {
	rows, err := s.strings(ctx, s.commands.B().Zrange().Key(keysOf(space).dead()).Min("0").Max(itoa(limit-1)).Build())
	if err != nil {
		return 0, 0, err
	}
	for _, row := range rows {
		forgotten, ends, err := s.forgetLetter(ctx, space, c3po.MessageID(row), false)
		if err != nil || !forgotten {
			return total, ends, err
		}
		total++
	}
	return total, 0, nil
}
