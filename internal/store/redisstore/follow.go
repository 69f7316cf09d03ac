package redisstore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// followPage bounds one step of the work that follows a renaming or a retirement, so that
// it delays no other step.
const followPage = 100

// scanPage is how much of a list is looked through at once.
const scanPage = 500

// followNow does what is left of a renaming or a retirement that is done. It never
// fails: what it does not do is found in the space by the next reaper.
func (s *Store) followNow(ctx context.Context, space c3po.Space, line string) {
	if err := s.follow(ctx, space, line); err != nil && s.log != nil {
		s.log.WarnContext(ctx, "a new name has not reached everything yet", "space", space, "line", line, "err", err)
	}
}

// followAll finishes what nodes that have died have left.
func (s *Store) followAll(ctx context.Context, space c3po.Space) error {
	fields, err := s.strings(ctx, s.commands.B().Hmget().Key(keysOf(space).meta()).Field("moving").Build())
	if err != nil || len(fields) == 0 {
		return err
	}
	for line := range strings.FieldsFuncSeq(fields[0], func(c rune) bool { return c == '\n' }) {
		if err := s.follow(ctx, space, line); err != nil {
			return err
		}
	}
	return nil
}

// follow does what one line of "moving" asks for: "old new" after a renaming,
// "id @number" after the retirement that had the number. It may be repeated.
func (s *Store) follow(ctx context.Context, space c3po.Space, line string) error {
	was, is, _ := strings.Cut(line, " ")
	old, today := c3po.AgentID(was), c3po.AgentID(is)
	if number, retired := strings.CutPrefix(is, "@"); retired {
		if err := s.followInRooms(ctx, space, old, "", number); err != nil {
			return err
		}
		return s.reindex(ctx, space, old, "", line, nil)
	}
	// It may have got yet another name since, or its first one back.
	known, err := s.Agents(ctx, space, []c3po.AgentID{today})
	if err != nil {
		return err
	}
	if len(known) == 0 {
		now, _, err := s.Renamed(ctx, space, today)
		if err != nil {
			return err
		}
		today = cmp.Or(now, today)
	}
	_, queues, err := s.placesOf(ctx, space, today)
	if err != nil {
		return err
	}
	if today != old {
		if err := s.followTasks(ctx, space, old, today, queues); err != nil {
			return err
		}
		if err := s.followInRooms(ctx, space, old, today, ""); err != nil {
			return err
		}
		if err := s.followMail(ctx, space, old, today); err != nil {
			return err
		}
	}
	return s.reindex(ctx, space, old, today, line, nil)
}

// followTasks gives the tasks that an agent holds to its new name.
func (s *Store) followTasks(ctx context.Context, space c3po.Space, old, today c3po.AgentID, queues string) error {
	k := keysOf(space)
	for _, mailbox := range c3po.QueuesOf(strings.Fields(queues)) {
		for position := "-inf"; position != ""; {
			answer, err := s.run(ctx, "task_reassign", k,
				with{"inbox": k.inbox(mailbox), "fact": k.fact(mailbox), "old": old, "new": today, "after": position, "many": followPage})
			if err != nil {
				return err
			}
			position = word(answer[1])
		}
	}
	return nil
}

// followInRooms moves what an agent may do in rooms it is not in; of nobody, it
// ends what is not newer than a number.
func (s *Store) followInRooms(ctx context.Context, space c3po.Space, old, today c3po.AgentID, upTo string) error {
	k := keysOf(space)
	for after := int64(0); ; {
		rooms, next, err := s.RoomPage(ctx, space, after, followPage)
		if err != nil || len(rooms) == 0 {
			return err
		}
		var places []with
		for _, room := range rooms {
			places = append(places, with{"invited": k.invited(room), "room": room})
		}
		if _, err := s.run(ctx, "room_reassign", k, with{"old": old, "new": today, "last": upTo, "places": places}); err != nil {
			return err
		}
		after = next
	}
}

// followMail moves mail where the space lists it by its ids: those with a life or
// a deadline, and dead letters.
func (s *Store) followMail(ctx context.Context, space c3po.Space, old, today c3po.AgentID) error {
	k := keysOf(space)
	pattern := "*::" + escapeGlob(string(old)) + "::*"
	for _, list := range []string{k.expire(), k.deadlines(), k.dead()} {
		for cursor := uint64(0); ; {
			entry, err := s.scan(ctx, list, cursor, pattern)
			if err != nil {
				return err
			}
			var ids []string
			for i := 0; i < len(entry.Elements); i += 2 { // each with its score
				if _, to, _ := c3po.MessageID(entry.Elements[i]).Split(); to == old {
					ids = append(ids, entry.Elements[i])
				}
			}
			for len(ids) > 0 {
				n := min(followPage, len(ids))
				if err := s.reindex(ctx, space, old, today, "", ids[:n]); err != nil {
					return err
				}
				ids = ids[n:]
			}
			if cursor = entry.Cursor; cursor == 0 {
				break
			}
		}
	}
	return nil
}

// relistAll is called before a renaming by which former names lead to another
// agent than before, or to none. What is listed by these is listed by the names of
// today instead, where it is found without them.
func (s *Store) relistAll(ctx context.Context, space c3po.Space, old, new c3po.AgentID) error {
	today, err := s.namesToday(ctx, space, []string{string(old), string(new)})
	if err != nil {
		return err
	}
	known, err := s.Agents(ctx, space, []c3po.AgentID{old})
	if err != nil || len(known) == 0 {
		return err
	}
	if former := known[0].Former; len(former) == store.MaxFormerNames {
		today[former[len(former)-1]] = old
	}
	for name, is := range today {
		for cursor := uint64(0); ; {
			entry, err := s.scanFacts(ctx, keysOf(space).fact(is), cursor)
			if err != nil {
				return err
			}
			var hexes []string
			for i := 0; i < len(entry.Elements); i += 2 { // each with its facts
				hexes = append(hexes, entry.Elements[i])
			}
			for some := range slices.Chunk(hexes, followPage) {
				k := keysOf(space)
				if _, err := s.run(ctx, "message_relist", k, with{"facts": k.fact(is), "former": name, "today": is, "hexes": some}); err != nil {
					return err
				}
			}
			if cursor = entry.Cursor; cursor == 0 {
				break
			}
		}
	}
	return nil
}

// reindex follows a renaming for some messages, and with a line ends it.
func (s *Store) reindex(ctx context.Context, space c3po.Space, old, today c3po.AgentID, line string, ids []string) error {
	k := keysOf(space)
	_, err := s.run(ctx, "message_reindex", k,
		with{"agent": k.agent(old), "inbox": k.inbox(today), "old": old, "new": today, "line": line, "ids": ids})
	return err
}

// scan reads some of a sorted set that match a pattern.
func (s *Store) scan(ctx context.Context, key string, cursor uint64, pattern string) (rueidis.ScanEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	entry, err := s.commands.Do(ctx, s.commands.B().Zscan().Key(key).Cursor(cursor).Match(pattern).Count(scanPage).Build()).AsScanEntry()
	if err != nil {
		return entry, s.failure(ctx, "scan", err)
	}
	return entry, nil
}

// escapeGlob is a text as a pattern that matches nothing else.
func escapeGlob(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`).Replace(text)
}

// scanFacts reads some of the facts of a mailbox.
func (s *Store) scanFacts(ctx context.Context, key string, cursor uint64) (rueidis.ScanEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	entry, err := s.commands.Do(ctx, s.commands.B().Hscan().Key(key).Cursor(cursor).Count(followPage).Build()).AsScanEntry()
	if err != nil {
		return entry, s.failure(ctx, "scan", err)
	}
	return entry, nil
}
