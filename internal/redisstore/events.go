package redisstore

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
)

// listenAgain is the pause before a lost subscription is tried again.
const listenAgain = 100 * time.Millisecond

// Listen implements hub.Store.
func (s *Store) Listen(ctx context.Context, space c3po.Space, ready func(), wake func(hub.Wake)) error {
	channel := keysOf(space).wake()
	hooked := rueidis.WithOnSubscriptionHook(ctx, func(sub rueidis.PubSubSubscription) {
		if sub.Kind == "ssubscribe" {
			ready()
		}
	})
	for ctx.Err() == nil {
		// Receive also returns without an error, when the slot of the space moves
		// to another node: then it is asked for again there.
		err := s.wakes.Receive(hooked, s.wakes.B().Ssubscribe().Channel(channel).Build(), func(m rueidis.PubSubMessage) {
			seq, agent, _ := strings.Cut(m.Message, " ")
			wake(hub.Wake{Seq: atoi(seq), Agent: c3po.AgentID(agent)})
		})
		if ctx.Err() != nil {
			break
		}
		s.log.WarnContext(ctx, "wake subscription lost", "space", space, "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(listenAgain):
		}
	}
	return ctx.Err()
}

// Events implements hub.Store.
func (s *Store) Events(ctx context.Context, space c3po.Space, after int64, limit int) ([]c3po.Event, error) {
	defer s.took("events", time.Now())
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	rows, err := s.commands.Do(ctx, s.commands.B().Xrange().Key(keysOf(space).events()).Start(itoa(after+1)+"-0").End("+").Count(int64(limit)).Build()).AsXRange()
	if err != nil {
		return nil, s.failure(ctx, "read events", true, err)
	}
	var out []c3po.Event
	for _, row := range rows {
		out = append(out, c3po.Event{
			Seq: seqOf(row.ID), Kind: c3po.EventKind(row.FieldValues["k"]), Agent: c3po.AgentID(row.FieldValues["a"]),
			ID: c3po.MessageID(row.FieldValues["i"]), At: instant(atoi(row.FieldValues["t"])), Node: row.FieldValues["n"],
		})
	}
	return out, nil
}

// Sequence implements hub.Store.
func (s *Store) Sequence(ctx context.Context, space c3po.Space) (hub.Sequence, error) {
	defer s.took("sequence", time.Now())
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	k := keysOf(space)
	answers := s.commands.DoMulti(ctx,
		s.commands.B().Hmget().Key(k.meta()).Field("epoch", "seq", "began").Build(),
		s.commands.B().Xrange().Key(k.events()).Start("-").End("+").Count(1).Build())
	fields, err := answers[0].AsStrSlice()
	if err != nil {
		return hub.Sequence{}, s.failure(ctx, "read sequence", true, err)
	}
	rows, err := answers[1].AsXRange()
	if err != nil {
		return hub.Sequence{}, s.failure(ctx, "read sequence", true, err)
	}
	at := hub.Sequence{Epoch: max(1, atoi(fields[0])), Last: atoi(fields[1]), Began: atoi(fields[2])}
	if len(rows) > 0 {
		at.Oldest = seqOf(rows[0].ID)
	}
	return at, nil
}

// RaiseEpoch implements hub.Store.
func (s *Store) RaiseEpoch(ctx context.Context, space c3po.Space, known hub.Sequence) (hub.Sequence, bool, error) {
	k := keysOf(space)
	answer, err := s.run(ctx, s.scripts.rollback, []string{k.meta(), k.events()}, []string{
		s.nowArg(), k.wake(), itoa(s.limits.EventEntries), itoa(known.Epoch), itoa(known.Last), itoa(hub.EpochMargin),
	})
	if err != nil {
		return hub.Sequence{}, false, err
	}
	// An old engine that was put back may not know the space any more.
	s.known.Delete(space)
	return hub.Sequence{Epoch: integer(answer[1]), Last: integer(answer[2])}, word(answer[0]) == "raised", nil
}

// Now implements hub.Store.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	defer s.took("clock", time.Now())
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	parts, err := s.commands.Do(ctx, s.commands.B().Time().Build()).AsStrSlice()
	if err != nil || len(parts) != 2 {
		return time.Time{}, s.failure(ctx, "read clock", true, err)
	}
	if s.now != nil {
		return s.now().UTC().Truncate(time.Millisecond), nil
	}
	return time.UnixMilli(atoi(parts[0])*1000 + atoi(parts[1])/1000).UTC(), nil
}

// engineCache keeps what the engine said of itself for a short while: receipts
// name it, and asking for each of them would double the round trips.
type engineCache struct {
	mu    sync.Mutex
	value engineWord
	until time.Time
}

// engineWord is what is asked of the engine besides the work.
type engineWord struct {
	durability c3po.Durability
	memory     hub.Memory
}

// engineAge is how long a receipt may lag behind a CONFIG SET.
const engineAge = 5 * time.Second

// Durability implements hub.Store.
func (s *Store) Durability(ctx context.Context) (c3po.Durability, error) {
	said, err := s.askEngine(ctx)
	return said.durability, err
}

// Memory implements hub.Store.
func (s *Store) Memory(ctx context.Context) (hub.Memory, error) {
	said, err := s.askEngine(ctx)
	return said.memory, err
}

func (s *Store) askEngine(ctx context.Context) (engineWord, error) {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	if time.Now().Before(s.engine.until) {
		return s.engine.value, nil
	}
	durability, err := s.askDurability(ctx)
	if err != nil {
		return engineWord{}, err
	}
	memory, err := s.askMemory(ctx)
	if err != nil {
		return engineWord{}, err
	}
	s.engine.value, s.engine.until = engineWord{durability, memory}, time.Now().Add(engineAge)
	return s.engine.value, nil
}

// askMemory gives the numbers of the fullest node. One that will not say, or has
// no limit, is not full.
func (s *Store) askMemory(ctx context.Context) (hub.Memory, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	var fullest hub.Memory
	for _, node := range s.commands.Nodes() {
		info, err := node.Do(ctx, node.B().Info().Section("memory").Build()).ToString()
		if _, refused := rueidis.IsRedisErr(err); refused {
			continue
		}
		if err != nil {
			return hub.Memory{}, s.failure(ctx, "read memory", true, err)
		}
		var is hub.Memory
		for line := range strings.Lines(info) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			switch name {
			case "used_memory":
				is.Used = atoi(value)
			case "maxmemory":
				is.Most = atoi(value)
			}
		}
		if cmp.Or(cmp.Compare(is.Percent(), fullest.Percent()), cmp.Compare(is.Used, fullest.Used)) > 0 {
			fullest = is
		}
	}
	return fullest, nil
}

// askDurability is "fsync" only if every node says that it writes the log
// through to the disk before it answers. One that will not say is "memory".
func (s *Store) askDurability(ctx context.Context) (c3po.Durability, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	for _, node := range s.commands.Nodes() {
		settings, err := node.Do(ctx, node.B().ConfigGet().Parameter("appendonly", "appendfsync").Build()).AsStrMap()
		if _, refused := rueidis.IsRedisErr(err); refused {
			return c3po.InMemory, nil
		}
		if err != nil {
			return "", s.failure(ctx, "read durability", true, err)
		}
		if settings["appendonly"] != "yes" || settings["appendfsync"] != "always" {
			return c3po.InMemory, nil
		}
	}
	return c3po.OnDisk, nil
}
