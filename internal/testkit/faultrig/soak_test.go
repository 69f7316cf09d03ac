package faultrig_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

const soakWriters, soakReaders = 24, 8

// In the long form what has ended is forgotten soon: what is left must not grow.
const soakLimits = "limits:\n  key_life: 60s\n  ended_life: 30s\n  reap_every: 2s\n  event_entries: 10000\n"

// A soak is a long run at a steady pace while something breaks every few seconds.
type soak struct {
	*breakable
	messages int
	pace     time.Duration // between two messages of one writer
	writing  sync.RWMutex  // held by each send, and by who wants none to be under way
	rested   []float64     // memory of Redis when nobody wrote and all was forgotten
	tally    faultrig.Tally
	begun    atomic.Int64
	stored   atomic.Int64
	slowest  atomic.Int64 // send, repeats and all, in ns
	unknown  atomic.Int64 // attempts whose outcome their caller could not know
	failed   atomic.Int64 // attempts that said that nothing was done
}

func TestASoakUnderFaultsLosesDoublesAndReordersNothingAndGrowsNothing(t *testing.T) {
	long := faultrig.Torture()
	s := newSoak(t, faultrig.Size(3_000, 1_000_000))
	every := 700 * time.Millisecond
	if long {
		every, s.pace = 5*time.Second, 12*time.Millisecond
	}
	if faultrig.Night() {
		s.pace = 30 * time.Minute * soakWriters / time.Duration(s.messages)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
	defer cancel()
	began := time.Now()

	var writing, reading sync.WaitGroup
	for w := range soakWriters {
		writing.Go(func() { s.write(ctx, w) })
	}
	written, done := make(chan struct{}), make(chan struct{})
	go func() { writing.Wait(); close(written) }()
	for r := range soakReaders {
		reading.Go(func() { s.read(ctx, r, done) })
	}
	var v vitals
	faults := s.breakThings(every, written, func() {
		at := float64(s.stored.Load()) / float64(s.messages)
		v.take(at, s.coordinators[0].URL())
		if long && at > 0.4 && len(s.rested) == 0 {
			s.rest()
		}
	})
	close(done)
	reading.Wait()
	for r := range soakReaders {
		s.drain(ctx, s.client(r, soakReader(r)), soakReader(r))
	}

	report := s.tally.Report()
	took := time.Since(began)
	t.Logf("%d messages in %s, %.0f a second; %d attempts failed, %d unknown; %s: %s",
		s.messages, took.Round(time.Second), float64(s.messages)/took.Seconds(), s.failed.Load(), s.unknown.Load(), faults, report)
	if len(report.Violations) > 0 || report.Stored != s.messages {
		t.Errorf("%d of %d stored, %d violations", report.Stored, s.messages, len(report.Violations))
	}
	audit := balanced(t, agent(t, s.coordinators[0].URL(), "auditor"))
	if audit.Sent != int64(s.messages) || audit.Pending != 0 {
		t.Errorf("fsck counts otherwise: %+v", audit)
	}
	v.flat(t, long)
	if long {
		s.rest()
		flat(t, "memory of all keys of Redis at rest", s.rested[0], s.rested[1], true)
	}
	for _, row := range []string{"E2", "F4"} {
		faultrig.Verdict{
			Row: row, Size: fmt.Sprintf("%d messages in %s", s.messages, took.Round(time.Second)), Faults: faults,
			Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost, faultrig.AckIsFinal, faultrig.OneMessageAKey, faultrig.OrderIsKept, faultrig.BooksBalance},
			Lost:  report.Count(faultrig.Lost), Doubled: report.Count(faultrig.Doubled), Recovery: time.Duration(s.slowest.Load()),
		}.Record(t)
	}
}

func newSoak(t *testing.T, messages int) *soak {
	t.Helper()
	limits := ""
	if faultrig.Torture() {
		limits = soakLimits
	}
	s := &soak{breakable: newBreakable(t, limits), messages: messages}
	// The first coordinator is never killed: it lives through all that happens to
	// Redis and to the network, and its memory is what is measured.
	s.killable = s.coordinators[1:]
	for r := range soakReaders {
		agent(t, s.coordinators[0].URL(), soakReader(r))
	}
	return s
}

func soakReader(i int) c3po.AgentID { return c3po.AgentID(fmt.Sprintf("reader-%d", i%soakReaders)) }

func (s *soak) client(i int, id c3po.AgentID) *client.Client {
	return client.New(client.Config{URL: s.url(i), AgentID: id})
}

// rest keeps the writers from sending until Redis has forgotten all that has a
// life, and measures what is left. Under load there is as much of that as is
// sent in such a life: a figure of the load, not of what leaks.
func (s *soak) rest() {
	s.writing.Lock()
	defer s.writing.Unlock()
	eventuallyWithin(s.t, 5*time.Minute, "all that has a life is forgotten", func() bool {
		for _, key := range []string{"idemx", "threads", "ending", "expire"} {
			if left, err := redistest.Do(s.redis.Addr(), "ZCARD", "c3po:1:{main}:"+key); err != nil || left != int64(0) {
				return false
			}
		}
		return true
	})
	memory, most, err := memoryOf(s.redis.Addr())
	if err != nil {
		s.t.Errorf("memory of Redis: %v", err)
	}
	s.t.Logf("at rest the keys of Redis take %.0f bytes, most of them %s", memory, most)
	s.rested = append(s.rested, memory)
}

// write sends one writer's share, one after the other.
func (s *soak) write(ctx context.Context, w int) {
	id := c3po.AgentID(fmt.Sprintf("writer-%d", w))
	svc := s.client(w, id)
	if w%2 == 0 {
		svc = s.lossy(w, id) // what the client does not hide, its caller repeats
	}
	tick := time.NewTicker(max(s.pace, time.Nanosecond))
	defer tick.Stop()
	// All of them write until the last message: whoever ended early would take its
	// connections along, which are counted.
	for i := 0; s.begun.Add(1) <= int64(s.messages); i++ {
		if s.pace > 0 {
			<-tick.C
		}
		to, n := soakReader(i), i/soakReaders
		in := c3po.SendInput{Target: string(to), Message: faultrig.NumberedText(id, n), ClientKey: fmt.Sprintf("%s-%d;", id, i)}
		s.writing.RLock()
		began := time.Now()
		receipt, err := s.insist(ctx, svc, in)
		s.writing.RUnlock()
		if err != nil {
			s.t.Errorf("%s: %v", id, err)
			return
		}
		if took := int64(time.Since(began)); took > s.slowest.Load() {
			s.slowest.Store(took)
		}
		s.tally.Stored(id, to, n, receipt.ID)
		s.stored.Add(1)
	}
}

// insist repeats a send under its key until it is known to be stored.
func (s *soak) insist(ctx context.Context, svc c3po.Service, in c3po.SendInput) (receipt c3po.Receipt, err error) {
	for {
		receipt, err = svc.SendMessage(ctx, in)
		switch {
		case err == nil:
			return receipt, nil
		case ctx.Err() != nil || c3po.AsError(err).Code.Retry() == c3po.RetryNo:
			return receipt, err
		case faultrig.OutcomeOf(err) == faultrig.Unknown:
			s.unknown.Add(1)
		default:
			s.failed.Add(1)
		}
		faultrig.Pass(ctx, 20*time.Millisecond)
	}
}

// read waits for mail, reads it and acks it, until done.
func (s *soak) read(ctx context.Context, r int, done <-chan struct{}) {
	id := soakReader(r)
	svc := s.client(r, id)
	waitUntil(ctx, svc, done, func() bool {
		s.drain(ctx, svc, id)
		return true
	})
}

// drain reads and acks everything a reader has.
func (s *soak) drain(ctx context.Context, svc c3po.Service, id c3po.AgentID) {
	for ctx.Err() == nil {
		list, err := svc.GetMessages(ctx, c3po.GetMessagesInput{})
		if err != nil {
			faultrig.Pass(ctx, 20*time.Millisecond)
			continue
		}
		if len(list.Messages) == 0 {
			return
		}
		s.tally.Read(id, list.Messages)
		for ctx.Err() == nil {
			result, err := svc.AckMessages(ctx, c3po.AckInput{MessageIDs: idsOf(list.Messages)})
			if err != nil {
				faultrig.Pass(ctx, 20*time.Millisecond)
				continue
			}
			if len(result.NotYours)+len(result.Stale) > 0 {
				s.t.Errorf("%s may not ack what it was given: %+v", id, result)
			}
			break
		}
		s.tally.Acked(id, list.Messages)
	}
	if !errors.Is(ctx.Err(), context.Canceled) {
		s.t.Errorf("%s could not read all: %v", id, ctx.Err())
	}
}
