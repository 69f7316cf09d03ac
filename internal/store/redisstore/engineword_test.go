package redisstore

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// Every send wants to know how safely it will be stored.
func TestAnEngineThatHangsHoldsUpAllWhoAskNoLongerThanOne(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	s, err := Open(t.Context(), Config{URL: redis.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.engine.until = time.Time{} // what it said before is too old
	if _, err := redistest.Do(redis.Addr(), "CLIENT", "PAUSE", "60000", "ALL"); err != nil {
		t.Fatal(err)
	}
	const callers = 10
	began := time.Now()
	var asking sync.WaitGroup
	for range callers {
		asking.Go(func() {
			if _, err := s.Durability(t.Context()); !errors.Is(err, c3po.RedisUnavailable) {
				t.Errorf("asked how safe it is: %v", err)
			}
		})
	}
	asking.Wait()
	if took := time.Since(began); took > callers/2*stepTimeout {
		t.Errorf("%d callers were told after %v, one is after %v", callers, took, stepTimeout)
	}
}

// seen is a context that says when somebody waits for its end.
type seen struct {
	context.Context
	once    sync.Once
	waiting chan struct{}
}

func (s *seen) Done() <-chan struct{} {
	s.once.Do(func() { close(s.waiting) })
	return s.Context.Done()
}

func TestAnAskerThatHangsUpCostsTheOthersNothing(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	s, err := Open(t.Context(), Config{URL: redis.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.engine.until = time.Time{} // what it said before is too old
	if _, err := redistest.Do(redis.Addr(), "CLIENT", "PAUSE", "500", "ALL"); err != nil {
		t.Fatal(err)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	said := make(chan error, 1)
	for i, ctx := range []context.Context{ctx, t.Context()} {
		asker := &seen{Context: ctx, waiting: make(chan struct{})}
		go func() {
			if _, err := s.Durability(asker); i == 1 {
				said <- err
			}
		}()
		<-asker.waiting
	}
	hangUp()
	if err := <-said; err != nil {
		t.Errorf("who waited on was told %v", err)
	}
}
