package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/c3po-dev/c3po"
)

const (
	// recipients of Send are many, so that no inbox becomes full.
	recipients = 256
	// pace is how many messages a second wake the waits of Wait: few enough that
	// the way of one is measured and not the queue before it.
	pace = 1000
	// wakers send them.
	wakers = 16
)

// A stage is where a scenario plays: a space whose agents are registered.
type stage struct {
	cfg  Config
	open func(ctx context.Context, id c3po.AgentID) (seat, error)
}

// A seat is an agent at a door. It is used by one goroutine, and what it does
// ends when the context it was opened with does.
type seat interface {
	send(ctx context.Context, to c3po.AgentID, text string) (c3po.MessageID, error)
	// woken returns when there is new mail.
	woken(ctx context.Context) error
	// next waits for new mail.
	next(ctx context.Context) (c3po.MessageID, error)
	reply(ctx context.Context, to c3po.MessageID, text string) error
	// answer waits for the answer to a message of the agent's.
	answer(ctx context.Context, to c3po.MessageID) (c3po.MessageID, error)
	ack(ctx context.Context, id c3po.MessageID) error
}

// A scenario says which agents it needs and what they do.
type scenario struct {
	cast  func(Config) []c3po.AgentID
	loops func(context.Context, stage) ([]loop, error)
}

var scenarios = map[string]scenario{
	Send: {
		cast: func(cfg Config) []c3po.AgentID {
			return append(names("asker", cfg.Concurrency), names("helper", recipients)...)
		},
		loops: sendLoops,
	},
	Exchange: {
		cast: func(cfg Config) []c3po.AgentID {
			return append(names("asker", cfg.Concurrency), names("helper", cfg.Concurrency)...)
		},
		loops: exchangeLoops,
	},
	Wait: {
		cast: func(cfg Config) []c3po.AgentID {
			return append(names("asker", wakers), names("helper", cfg.Concurrency)...)
		},
		loops: waitLoops,
	},
}

func names(part string, n int) []c3po.AgentID {
	ids := make([]c3po.AgentID, n)
	for i := range ids {
		ids[i] = c3po.AgentID(fmt.Sprintf("%s-%d", part, i))
	}
	return ids
}

// seats opens those of many agents at once.
func (s stage) seats(ctx context.Context, ids []c3po.AgentID) ([]seat, error) {
	const atOnce = 64
	all := make([]seat, len(ids))
	err := inParallel(atOnce, len(ids), func(i int) error {
		var err error
		all[i], err = s.open(ctx, ids[i])
		return err
	})
	return all, err
}

// inParallel does n things, a few at once, and returns the first error.
func inParallel(atOnce, n int, do func(i int) error) error {
	var running sync.WaitGroup
	var next atomic.Int64
	failed := make(chan error, atOnce)
	for range min(atOnce, n) {
		running.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := do(int(i)); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	running.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func sendLoops(ctx context.Context, s stage) ([]loop, error) {
	helpers := names("helper", recipients)
	askers, err := s.seats(ctx, names("asker", s.cfg.Concurrency))
	var loops []loop
	for worker, asker := range askers {
		loops = append(loops, func(ctx context.Context, done func(time.Duration)) error {
			for n := 0; ctx.Err() == nil; n++ {
				text, began := s.cfg.text(worker, n), time.Now()
				if _, err := asker.send(ctx, helpers[(worker+n)%recipients], text); err != nil {
					return err
				}
				done(time.Since(began))
			}
			return nil
		})
	}
	return loops, err
}

func exchangeLoops(ctx context.Context, s stage) ([]loop, error) {
	ids := names("helper", s.cfg.Concurrency)
	helpers, err := s.seats(ctx, ids)
	if err != nil {
		return nil, err
	}
	askers, err := s.seats(ctx, names("asker", s.cfg.Concurrency))
	var loops []loop
	for worker, asker := range askers {
		loops = append(loops, func(ctx context.Context, _ func(time.Duration)) error {
			for n := 0; ctx.Err() == nil; n++ {
				id, err := helpers[worker].next(ctx)
				if err != nil {
					return err
				}
				if err := helpers[worker].reply(ctx, id, s.cfg.text(worker, n)); err != nil {
					return err
				}
			}
			return nil
		}, func(ctx context.Context, done func(time.Duration)) error {
			for n := 0; ctx.Err() == nil; n++ {
				text, began := s.cfg.text(worker, n), time.Now()
				if err := ask(ctx, asker, ids[worker], text); err != nil {
					return err
				}
				done(time.Since(began))
			}
			return nil
		})
	}
	return loops, err
}

func ask(ctx context.Context, asker seat, helper c3po.AgentID, text string) error {
	question, err := asker.send(ctx, helper, text)
	if err != nil {
		return err
	}
	answer, err := asker.answer(ctx, question)
	if err != nil {
		return err
	}
	return asker.ack(ctx, answer)
}

// waitLoops are waits that are woken one at a time. Who was woken waits again,
// at the end of the queue.
func waitLoops(ctx context.Context, s stage) ([]loop, error) {
	ids := names("helper", s.cfg.Concurrency)
	helpers, err := s.seats(ctx, ids)
	if err != nil {
		return nil, err
	}
	askers, err := s.seats(ctx, names("asker", wakers))
	idle := make(chan int, len(ids))
	began := make([]atomic.Int64, len(ids)) // of the send that wakes each
	start := time.Now()
	var loops []loop
	for i, helper := range helpers {
		loops = append(loops, func(ctx context.Context, done func(time.Duration)) error {
			for ctx.Err() == nil {
				idle <- i
				if err := helper.woken(ctx); err != nil {
					return err
				}
				done(time.Since(start) - time.Duration(began[i].Load()))
			}
			return nil
		})
	}
	due := make(chan struct{}, wakers)
	loops = append(loops, func(ctx context.Context, _ func(time.Duration)) error {
		tick := time.NewTicker(time.Second / pace)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return nil
			}
			select {
			case due <- struct{}{}:
			default: // all wakers are behind; they must not come in a crowd later
			}
		}
	})
	for worker, asker := range askers {
		loops = append(loops, func(ctx context.Context, _ func(time.Duration)) error {
			for n := 0; ; n++ {
				select {
				case <-due:
				case <-ctx.Done():
					return nil
				}
				select {
				case i := <-idle:
					text := s.cfg.text(worker, n)
					began[i].Store(int64(time.Since(start)))
					if _, err := asker.send(ctx, ids[i], text); err != nil {
						return err
					}
				case <-ctx.Done():
					return nil
				}
			}
		})
	}
	return loops, err
}
