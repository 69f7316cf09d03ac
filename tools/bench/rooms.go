package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// roomLoops are the members of one room, and one agent that says something new
// in it as soon as all have read what was said before. An operation is the way
// of a post to one member.
func roomLoops(ctx context.Context, s stage) ([]loop, error) {
	room := c3po.RoomName(s.prefix + "lobby")
	members, err := s.seats(ctx, s.helpers(s.cfg.Concurrency))
	if err != nil {
		return nil, err
	}
	askers, err := s.seats(ctx, s.askers(1))
	if err != nil {
		return nil, err
	}
	all := append(askers, members...)
	const atOnce = 64
	if err := inParallel(atOnce, len(all), func(i int) error { return all[i].join(ctx, room) }); err != nil {
		return nil, err
	}
	read := make(chan struct{}, len(members))
	start := time.Now()
	var began atomic.Int64 // of the post that is on its way
	loops := []loop{func(ctx context.Context, _ func(time.Duration)) error {
		for n := 0; ctx.Err() == nil; n++ {
			text := s.cfg.text(0, n)
			began.Store(int64(time.Since(start)))
			if err := askers[0].post(ctx, room, text); err != nil {
				return err
			}
			for range members {
				select {
				case <-read:
				case <-ctx.Done():
					return nil
				}
			}
		}
		return nil
	}}
	for _, member := range members {
		loops = append(loops, func(ctx context.Context, done func(time.Duration)) error {
			for ctx.Err() == nil {
				if err := member.awaitPost(ctx, room); err != nil {
					return err
				}
				done(time.Since(start) - time.Duration(began.Load()))
				read <- struct{}{}
			}
			return nil
		})
	}
	return loops, nil
}

func (s *bareSeat) join(ctx context.Context, room c3po.RoomName) error {
	s.door.mu.Lock()
	s.door.rooms[room.Address()] = append(s.door.rooms[room.Address()], s.wakes)
	s.door.mu.Unlock()
	_, err := s.door.store.Join(ctx, s.door.space, store.JoinStep{Room: room, Agent: s.id, Visibility: c3po.Public})
	return err
}

func (s *bareSeat) post(ctx context.Context, room c3po.RoomName, text string) error {
	step := store.PostStep{
		Draft:      store.Draft{From: s.id, To: room.Address(), Room: room, Kind: c3po.KindPost, Priority: c3po.Normal, Text: text, Key: s.key()},
		Durability: s.door.durability,
	}
	return insist(ctx, func() error {
		_, err := s.door.store.Post(ctx, s.door.space, step)
		return err
	})
}

func (s *bareSeat) awaitPost(ctx context.Context, _ c3po.RoomName) error {
	for {
		var mail store.RoomMail
		if err := insist(ctx, func() (err error) {
			mail, err = s.door.store.RoomMail(ctx, s.door.space, s.id, store.RoomQuery{After: s.given, Limit: 1, Bytes: 1})
			return err
		}); err != nil {
			return err
		}
		if len(mail.Posts) > 0 {
			s.given = mail.Posts[0].Message.Seq
			return nil
		}
		if err := s.woken(ctx); err != nil {
			return err
		}
	}
}

func (s *webSeat) join(ctx context.Context, room c3po.RoomName) error {
	_, err := s.call(ctx, "room_join", c3po.RoomJoinInput{Room: room})
	return err
}

func (s *webSeat) post(ctx context.Context, room c3po.RoomName, text string) error {
	_, err := s.call(ctx, "room_post", c3po.RoomPostInput{Room: room, Message: text, ClientKey: s.key()})
	return err
}

func (s *webSeat) awaitPost(ctx context.Context, room c3po.RoomName) error {
	_, err := s.await(ctx, c3po.WaitInput{Timeout: waitSeconds, After: &s.given}, fmt.Sprintf("::%s::", room.Address()))
	return err
}
