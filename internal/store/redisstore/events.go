package redisstore

import (
	"context"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// listenAgain is the pause before a lost subscription is tried again.
const listenAgain = 100 * time.Millisecond

// Listen implements store.Store.
func (s *Store) Listen(ctx context.Context, space c3po.Space, ready func(), wake func(store.Wake)) error {
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
			wake(store.Wake{Seq: atoi(seq), Agent: c3po.AgentID(agent)})
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

// Events implements store.Store.
func (s *Store) Events(ctx context.Context, space c3po.Space, after int64, limit int) ([]c3po.Event, error) {
	defer s.took("events", time.Now())
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	rows, err := s.commands.Do(ctx, s.commands.B().Xrange().Key(keysOf(space).events()).Start(itoa(after+1)+"-0").End("+").Count(int64(limit)).Build()).AsXRange()
	if err != nil {
		return nil, s.failure(ctx, "read events", err)
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

// Sequence implements store.Store.
func (s *Store) Sequence(ctx context.Context, space c3po.Space) (store.Sequence, error) {
	defer s.took("sequence", time.Now())
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	k := keysOf(space)
	answers := s.commands.DoMulti(ctx,
		s.commands.B().Hmget().Key(k.meta()).Field("epoch", "seq", "began").Build(),
		s.commands.B().Xrange().Key(k.events()).Start("-").End("+").Count(1).Build())
	fields, err := answers[0].AsStrSlice()
	if err != nil {
		return store.Sequence{}, s.failure(ctx, "read sequence", err)
	}
	rows, err := answers[1].AsXRange()
	if err != nil {
		return store.Sequence{}, s.failure(ctx, "read sequence", err)
	}
	at, err := s.sequenceOf(ctx, fields)
	if err != nil {
		return store.Sequence{}, err
	}
	if len(rows) > 0 {
		at.Oldest = seqOf(rows[0].ID)
	}
	return at, nil
}

// RaiseEpoch implements store.Store.
func (s *Store) RaiseEpoch(ctx context.Context, space c3po.Space, known store.Sequence) (store.Sequence, bool, error) {
	answer, err := s.run(ctx, "epoch_raise", keysOf(space), with{"known_epoch": known.Epoch, "known_last": known.Last, "margin": store.EpochMargin})
	if err != nil {
		return store.Sequence{}, false, err
	}
	// An old engine that was put back may not know the space any more.
	s.known.Delete(space)
	return store.Sequence{Epoch: integer(answer[1]), Last: integer(answer[2])}, word(answer[0]) == "raised", nil
}

// Now implements store.Store.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	defer s.took("clock", time.Now())
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	said, _, err := askNodes(ctx, s, func(ctx context.Context, node rueidis.Client) ([]string, error) {
		return node.Do(ctx, node.B().Time().Build()).AsStrSlice()
	})
	parts := anyOf(said)
	if err != nil || len(parts) != 2 {
		return time.Time{}, s.failure(ctx, "read clock", err)
	}
	if s.now != nil {
		return s.now().UTC().Truncate(time.Millisecond), nil
	}
	return time.UnixMilli(atoi(parts[0])*1000 + atoi(parts[1])/1000).UTC(), nil
}
