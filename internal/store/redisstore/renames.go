package redisstore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Rename implements store.Store.
func (s *Store) Rename(ctx context.Context, space c3po.Space, old, new c3po.AgentID, run string) error {
	k := keysOf(space)
	if err := s.relistAll(ctx, space, old, new); err != nil {
		return err
	}
	for {
		rooms, queues, err := s.placesOf(ctx, space, old)
		if err != nil {
			return err
		}
		var members []string
		for room := range strings.FieldsSeq(rooms) {
			members = append(members, k.members(c3po.RoomName(room)))
		}
		var tasks []with
		for _, mailbox := range c3po.QueuesOf(strings.Fields(queues)) {
			tasks = append(tasks, with{"of": k.of(mailbox)})
		}
		answer, err := s.run(ctx, "agent_rename", k, with{
			"was": k.of(old), "is": k.of(new), "members": members, "tasks": tasks,
			"old": old, "new": new, "run": run, "its_rooms": rooms, "its_roles": queues, "max_former": store.MaxFormerNames,
			"max_renames": store.MaxRenames, "rename_window": millis(store.RenameWindow),
		})
		if err != nil {
			return err
		}
		switch outcome := word(answer[0]); outcome {
		case "again":
			// It joined or left one, or took on a queue, meanwhile.
			continue
		case "taken":
			return store.RefuseNameTaken(new)
		case "often":
			return store.RefuseRenames(old, time.Duration(integer(answer[1]))*time.Millisecond)
		case "renamed":
			s.followNow(ctx, space, string(old)+" "+string(new))
			return nil
		default:
			return agentOutcome(outcome, old)
		}
	}
}

// placesOf reads the rooms and the queues of an agent as they are stored.
func (s *Store) placesOf(ctx context.Context, space c3po.Space, id c3po.AgentID) (rooms, queues string, err error) {
	fields, err := s.strings(ctx, s.commands.B().Hmget().Key(keysOf(space).agent(id)).Field("rooms", "roles").Build())
	if err != nil || len(fields) != 2 {
		return "", "", err
	}
	return fields[0], fields[1], nil
}

// Renamed implements store.Store.
func (s *Store) Renamed(ctx context.Context, space c3po.Space, id c3po.AgentID) (c3po.AgentID, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	text, err := s.commands.Do(ctx, s.commands.B().Hget().Key(keysOf(space).renamed()).Field(string(id)).Build()).ToString()
	if errors.Is(err, rueidis.Nil) {
		return "", false, nil
	}
	if err != nil {
		return "", false, s.failure(ctx, "read names", err)
	}
	books, err := s.Counters(ctx, space)
	if err != nil {
		return "", false, err
	}
	to, at, _ := strings.Cut(text, " ")
	return c3po.AgentID(to), books.Lived-atoi(at) < int64(s.limits.NameLife.Seconds()), nil
}

// namesToday gives what agents are called that had one of these names, by it.
func (s *Store) namesToday(ctx context.Context, space c3po.Space, names []string) (map[c3po.AgentID]c3po.AgentID, error) {
	slices.Sort(names)
	names = slices.Compact(names)
	rows, err := s.strings(ctx, s.commands.B().Hmget().Key(keysOf(space).renamed()).Field(names...).Build())
	if err != nil {
		return nil, err
	}
	today := map[c3po.AgentID]c3po.AgentID{}
	for i, row := range rows {
		if to, _, _ := strings.Cut(row, " "); to != "" {
			today[c3po.AgentID(names[i])] = c3po.AgentID(to)
		}
	}
	return today, nil
}

// today gives ids as they are now, of messages that a list has by the ids they
// came with.
func (s *Store) today(ctx context.Context, space c3po.Space, ids []c3po.MessageID) ([]c3po.MessageID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var names []string
	for _, id := range ids {
		_, to, _ := id.Split()
		names = append(names, string(to))
	}
	todays, err := s.namesToday(ctx, space, names)
	if err != nil {
		return nil, err
	}
	var moved []int
	var asks []rueidis.Completed
	for i, id := range ids {
		if _, to, hex := id.Split(); todays[to] != "" {
			moved, asks = append(moved, i), append(asks, s.commands.B().Hexists().Key(keysOf(space).fact(to)).Field(hex).Build())
		}
	}
	if len(moved) == 0 {
		return ids, nil
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	for n, answer := range s.commands.DoMulti(ctx, asks...) {
		// The name may be another agent's by now, and the message that one's.
		stays, err := answer.AsBool()
		if err != nil {
			return nil, s.failure(ctx, "read names", err)
		}
		if from, to, hex := ids[moved[n]].Split(); !stays {
			ids[moved[n]] = c3po.NewMessageID(from, todays[to], hex)
		}
	}
	return ids, nil
}
