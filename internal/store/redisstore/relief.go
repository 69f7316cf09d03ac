package redisstore

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// relievedTo is how much of its memory, in per cent, a full Redis uses once
	// ended mail has made room.
	relievedTo = 95
	// reliefEvery is how often that is tried: mail acked in between can go then.
	reliefEvery   = time.Second
	reliefTimeout = time.Minute
)

// A relief makes room in a full Redis, in the background and once at a time; the refused
// call does not wait for it.
type relief struct {
	mu     sync.Mutex
	busy   bool
	ended  bool
	last   time.Time
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// makeRoom forgets ended mail, the oldest of each space first, while Redis has no
// memory left. It begins when Redis refuses something, so an idle store costs
// nothing. What was not acked stays.
func (s *Store) makeRoom() {
	r := &s.relief
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy || r.ended || time.Since(r.last) < reliefEvery {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), reliefTimeout)
	r.busy, r.cancel = true, cancel
	r.work.Go(func() {
		defer cancel()
		forgotten, err := s.relieve(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			s.log.ErrorContext(ctx, "Redis is full, and no room could be made", "forgotten", forgotten, "err", err)
		case forgotten > 0:
			s.log.WarnContext(ctx, "Redis is full: ended mail was forgotten to make room", "forgotten", forgotten)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.busy, r.last = false, time.Now()
	})
}

// relieve takes a little of each space in turn, until there is room or no ended
// mail is left. Each space asks the shard that it is on.
func (s *Store) relieve(ctx context.Context) (total int, err error) {
	spaces, err := s.Spaces(ctx)
	for len(spaces) > 0 {
		var more []c3po.Space // a space that fails does not keep the others from it
		for _, space := range spaces {
			forgotten, _, failed := s.trimEnded(ctx, space, maxTrimmed, relievedTo)
			total, err = total+forgotten, cmp.Or(err, failed)
			if forgotten > 0 && failed == nil {
				more = append(more, space)
			}
		}
		spaces = more
	}
	return total, err
}

func (r *relief) end() {
	r.mu.Lock()
	r.ended = true
	if r.cancel != nil {
		r.cancel()
	}
	r.mu.Unlock()
	r.work.Wait()
}
