package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// recipients of Send are many, so that no inbox becomes full.
	recipients = 256
	// wakers send the messages that wake the waits of Wait.
	wakers = 16
	// arriveEvery is the distance between the waits of Wait at the beginning.
	arriveEvery = time.Second / 2000
)

// A stage is where a scenario plays: a space whose agents are registered.
type stage struct {
	cfg  Config
	open func(ctx context.Context, id c3po.AgentID) (seat, error)
	// prefix of the names of its agents, where several scenarios share a space.
	prefix string
	// begin is closed when messages may come, in Wait.
	begin <-chan struct{}
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

	join(ctx context.Context, room c3po.RoomName) error
	post(ctx context.Context, room c3po.RoomName, text string) error
	// awaitPost waits for the next post in the room it has joined.
	awaitPost(ctx context.Context, room c3po.RoomName) error
}

// A scenario says which agents it needs and what they do.
type scenario struct {
	cast  func(stage) []c3po.AgentID
	loops func(context.Context, stage) ([]loop, error)
}

// scenarioOf gives the scenario of a name, which is not Mixed.
func scenarioOf(name string) scenario {
	pairs := func(s stage) []c3po.AgentID {
		return append(s.askers(s.cfg.Concurrency), s.helpers(s.cfg.Concurrency)...)
	}
	woken := func(s stage) []c3po.AgentID { return append(s.askers(wakers), s.helpers(s.cfg.Concurrency)...) }
	switch name {
	case Send:
		return scenario{func(s stage) []c3po.AgentID { return append(s.askers(s.cfg.Concurrency), s.helpers(recipients)...) }, sendLoops}
	case Deliver:
		return scenario{pairs, deliverLoops}
	case Exchange:
		return scenario{pairs, exchangeLoops}
	case Rooms:
		return scenario{func(s stage) []c3po.AgentID { return append(s.askers(1), s.helpers(s.cfg.Concurrency)...) }, roomLoops}
	default: // Wait, Waiters
		return scenario{woken, waitLoops}
	}
}

// parts are the scenarios that are played on a stage: several at once in Mixed,
// each with agents of its own.
func (s stage) parts() []stage {
	if s.cfg.Scenario != Mixed {
		return []stage{s}
	}
	var parts []stage
	for _, scenario := range []string{Send, Exchange, Rooms, Wait} {
		part := s
		part.cfg.Rate = 0
		if scenario == Wait {
			part.cfg.Rate = s.cfg.pace()
		}
		part.cfg.Scenario, part.cfg.Concurrency, part.prefix = scenario, max(1, s.cfg.Concurrency/4), scenario+"-"
		parts = append(parts, part)
	}
	return parts
}

func (s stage) askers(n int) []c3po.AgentID  { return names(s.prefix+"asker", n) }
func (s stage) helpers(n int) []c3po.AgentID { return names(s.prefix+"helper", n) }

func names(part string, n int) []c3po.AgentID {
	ids := make([]c3po.AgentID, n)
	for i := range ids {
		ids[i] = c3po.AgentID(fmt.Sprintf("%s-%d", part, i))
	}
	return ids
}

// paceTurns gives the turns of messages that come so many a second, and what makes
// them; nothing does if they are not counted.
func (s stage) paceTurns(rate int) (<-chan struct{}, []loop) {
	if rate == 0 {
		return nil, nil
	}
	due := make(chan struct{}, wakers)
	return due, []loop{func(ctx context.Context, _ func(time.Duration)) error {
		if s.begin != nil {
			select {
			case <-s.begin:
			case <-ctx.Done():
				return nil
			}
		}
		tick := time.NewTicker(time.Second / time.Duration(rate))
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return nil
			}
			select {
			case due <- struct{}{}:
			default: // all who send are behind; they must not come in a crowd later
			}
		}
	}}
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
	helpers := s.helpers(recipients)
	askers, err := s.seats(ctx, s.askers(s.cfg.Concurrency))
	due, loops := s.paceTurns(s.cfg.Rate)
	for worker, asker := range askers {
		loops = append(loops, func(ctx context.Context, done func(time.Duration)) error {
			for n := 0; ctx.Err() == nil; n++ {
				if s.cfg.Rate > 0 {
					select {
					case <-due:
					case <-ctx.Done():
						return nil
					}
				}
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

// deliverLoops are pairs of which one sends, and the other waits and acks.
func deliverLoops(ctx context.Context, s stage) ([]loop, error) {
	ids := s.helpers(s.cfg.Concurrency)
	helpers, err := s.seats(ctx, ids)
	if err != nil {
		return nil, err
	}
	askers, err := s.seats(ctx, s.askers(s.cfg.Concurrency))
	var loops []loop
	for worker, asker := range askers {
		acked := make(chan struct{}, 1)
		loops = append(loops, func(ctx context.Context, _ func(time.Duration)) error {
			for ctx.Err() == nil {
				id, err := helpers[worker].next(ctx)
				if err != nil {
					return err
				}
				if err := helpers[worker].ack(ctx, id); err != nil {
					return err
				}
				acked <- struct{}{}
			}
			return nil
		}, func(ctx context.Context, done func(time.Duration)) error {
			for n := 0; ctx.Err() == nil; n++ {
				text, began := s.cfg.text(worker, n), time.Now()
				if _, err := asker.send(ctx, ids[worker], text); err != nil {
					return err
				}
				select {
				case <-acked:
					done(time.Since(began))
				case <-ctx.Done():
				}
			}
			return nil
		})
	}
	return loops, err
}

func exchangeLoops(ctx context.Context, s stage) ([]loop, error) {
	ids := s.helpers(s.cfg.Concurrency)
	helpers, err := s.seats(ctx, ids)
	if err != nil {
		return nil, err
	}
	askers, err := s.seats(ctx, s.askers(s.cfg.Concurrency))
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
	ids := s.helpers(s.cfg.Concurrency)
	helpers, err := s.seats(ctx, ids)
	if err != nil {
		return nil, err
	}
	askers, err := s.seats(ctx, s.askers(wakers))
	idle := make(chan int, len(ids))
	began := make([]atomic.Int64, len(ids)) // of the send that wakes each
	start := time.Now()
	var loops []loop
	for i, helper := range helpers {
		loops = append(loops, func(ctx context.Context, done func(time.Duration)) error {
			// They come one after the other, as those of many hosts do.
			if err := pass(ctx, time.Duration(i)*arriveEvery, nil, nil); err != nil {
				return nil
			}
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
	due, pace := s.paceTurns(s.cfg.pace())
	loops = append(loops, pace...)
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
