package bench

import (
	"context"
	"fmt"
	"sync"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
)

// bare is the way straight into Redis: the coordinator's scripts, and one
// subscription, but no coordinator.
type bare struct {
	store      *redisstore.Store
	space      c3po.Space
	durability c3po.Durability

	mu    sync.Mutex
	wakes map[c3po.AgentID]chan struct{}
	rooms map[c3po.AgentID][]chan struct{} // of their members, by the room's address
}

func newBare(store *redisstore.Store, space c3po.Space, durability c3po.Durability) *bare {
	return &bare{
		store: store, space: space, durability: durability,
		wakes: map[c3po.AgentID]chan struct{}{}, rooms: map[c3po.AgentID][]chan struct{}{},
	}
}

// listen lets wakes reach their seats until ctx ends, and returns when they do.
func (b *bare) listen(ctx context.Context) error {
	stands := make(chan struct{})
	var once sync.Once
	ended := make(chan error, 1)
	go func() {
		ended <- b.store.Listen(ctx, b.space, func() { once.Do(func() { close(stands) }) }, b.wake)
	}()
	select {
	case <-stands:
		return nil
	case err := <-ended:
		return err
	}
}

func (b *bare) wake(w store.Wake) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, wakes := range append(b.rooms[w.Agent], b.wakes[w.Agent]) {
		select {
		case wakes <- struct{}{}:
		default: // nobody sits there, or it was woken already
		}
	}
}

func (b *bare) open(_ context.Context, id c3po.AgentID) (seat, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	wakes := make(chan struct{}, 1)
	b.wakes[id] = wakes
	return &bareSeat{door: b, id: id, wakes: wakes}, nil
}

type bareSeat struct {
	door  *bare
	id    c3po.AgentID
	wakes chan struct{}
	sent  int
	given int64
}

// key names what is sent next, as every client of ours does.
func (s *bareSeat) key() string {
	s.sent++
	return fmt.Sprintf("%s-%d", s.id, s.sent)
}

func (s *bareSeat) send(ctx context.Context, to c3po.AgentID, text string) (id c3po.MessageID, err error) {
	step := store.SendStep{
		Draft: store.Draft{
			From: s.id, To: to, Kind: c3po.KindMessage, Priority: c3po.Normal, ExpectsReply: true, Text: text, Key: s.key(),
		},
		Durability: s.door.durability,
	}
	err = insist(ctx, func() error {
		stored, err := s.door.store.Send(ctx, s.door.space, step)
		id = stored.Message.ID
		return err
	})
	return id, err
}

func (s *bareSeat) woken(ctx context.Context) error {
	select {
	case <-s.wakes:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *bareSeat) next(ctx context.Context) (c3po.MessageID, error) {
	for {
		var next store.NextMessage
		if err := insist(ctx, func() (err error) {
			next, err = s.door.store.Next(ctx, s.door.space, s.id, store.NextQuery{MinSeq: s.given})
			return err
		}); err != nil {
			return "", err
		}
		if next.Entry != nil {
			s.given = next.Seq
			return next.Entry.Message.ID, nil
		}
		if err := s.woken(ctx); err != nil {
			return "", err
		}
	}
}

func (s *bareSeat) reply(ctx context.Context, to c3po.MessageID, text string) error {
	step := store.ReplyStep{
		Draft:      store.Draft{From: s.id, Kind: c3po.KindReply, Priority: c3po.Normal, Status: c3po.ReplySuccess, Text: text, Key: s.key()},
		Durability: s.door.durability, Answers: to,
	}
	return insist(ctx, func() error {
		_, err := s.door.store.Reply(ctx, s.door.space, step)
		return err
	})
}

func (s *bareSeat) answer(ctx context.Context, to c3po.MessageID) (c3po.MessageID, error) {
	for {
		var answers []store.Entry
		if err := insist(ctx, func() (err error) {
			answers, err = s.door.store.Answers(ctx, s.door.space, to)
			return err
		}); err != nil {
			return "", err
		}
		if len(answers) > 0 {
			return answers[0].Message.ID, nil
		}
		if err := s.woken(ctx); err != nil {
			return "", err
		}
	}
}

func (s *bareSeat) ack(ctx context.Context, id c3po.MessageID) error {
	return insist(ctx, func() error {
		_, err := s.door.store.Ack(ctx, s.door.space, s.id, "", []c3po.MessageID{id})
		return err
	})
}
