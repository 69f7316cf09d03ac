package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// patience is how long a promise waits for what must come. It is long because
// the machine may be busy; no promise waits for it in vain.
const patience = 20 * time.Second

// listen subscribes to the space and returns when the subscription stands.
func (w *testStore) listen() <-chan store.Wake {
	w.Helper()
	ctx, stop := context.WithCancel(w.ctx)
	ready, wakes, done := make(chan struct{}, 100), make(chan store.Wake, 1000), make(chan struct{})
	go func() {
		defer close(done)
		_ = w.store.Listen(ctx, w.space, func() { ready <- struct{}{} }, func(wake store.Wake) { wakes <- wake })
	}()
	w.Cleanup(func() {
		stop()
		wait(w, done, "Listen to return when its context ends")
	})
	wait(w, ready, "the subscription")
	return wakes
}

func wait[T any](w *testStore, from <-chan T, what string) T {
	w.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(patience):
		w.Fatalf("waited %s in vain for %s", patience, what)
		panic("unreachable")
	}
}

func eventPromises() []promise {
	return []promise{
		{"every change is an event with the next number", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.register(bob, "r2")
			ask := w.send(alice, bob, "why?")
			reply := w.reply(bob, ask, "because")
			w.ack(alice, reply)
			lost := w.send(alice, bob, "lost")
			w.bury(lost)
			bounce := w.page(alice, store.InboxQuery{}).Entries[0].Message.ID
			w.must(w.store.SetPaused(w.ctx, w.space, bob, "lunch"))
			w.must(w.store.SetPaused(w.ctx, w.space, bob, ""))
			w.must(w.store.SetPaused(w.ctx, w.space, "", "all"))
			w.must(w.store.SetPaused(w.ctx, w.space, "", ""))
			w.unregister(alice, "r1")
			want := []c3po.Event{
				{Kind: c3po.EventRegistered, Agent: alice},
				{Kind: c3po.EventRegistered, Agent: bob},
				{Kind: c3po.EventAccepted, Agent: bob, ID: ask},
				{Kind: c3po.EventAnswered, Agent: alice, ID: reply},
				{Kind: c3po.EventAcked, ID: ask},
				{Kind: c3po.EventAcked, ID: reply},
				{Kind: c3po.EventAccepted, Agent: bob, ID: lost},
				{Kind: c3po.EventDead, ID: lost},
				{Kind: c3po.EventAccepted, Agent: alice, ID: bounce},
				{Kind: c3po.EventPaused, Agent: bob},
				{Kind: c3po.EventResumed, Agent: bob},
				{Kind: c3po.EventPaused},
				{Kind: c3po.EventResumed},
				{Kind: c3po.EventUnregistered, Agent: alice},
			}
			for i := range want {
				want[i].Seq, want[i].At = int64(i+1), w.now()
			}
			same(w, "events", w.events(0), want)
		}},
		{"what changes no state is no event", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.enter(bob)
			id := w.tell(bob, alice, "hi")
			w.must(w.store.SetPaused(w.ctx, w.space, alice, "lunch"))
			w.unchanged(func() {
				w.register(alice, "r1")
				w.enter(alice)
				w.attach(alice, "n1")
				w.must(w.store.Detach(w.ctx, w.space, alice, "n1", false, 0))
				w.must(w.store.SetStatus(w.ctx, w.space, alice, "r1", c3po.Busy, "x"))
				w.must(w.store.SetPaused(w.ctx, w.space, alice, "lunch"))
				w.must(w.store.SetPaused(w.ctx, w.space, "", ""))
				w.serve("s1", id)
				w.tick(time.Minute)
				w.trim(10)
				w.received(alice, "s1", id)
				w.page(alice, store.InboxQuery{})
			})
		}},
		{"a new run of a known agent is an event", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.goOffline()
			w.register(alice, "r2")
			same(w, "events", kinds(w.events(0)), []c3po.EventKind{c3po.EventRegistered, c3po.EventRegistered})
		}},
		{"events are read from a number on, so many at a time", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.fill(bob, alice, 5)
			some, err := w.store.Events(w.ctx, w.space, 3, 2)
			w.must(err)
			same(w, "events", []int64{some[0].Seq, some[1].Seq, int64(len(some))}, []int64{4, 5, 2})
			same(w, "at the end", len(w.events(7)), 0)
			same(w, "sequence", w.sequence(), store.Sequence{Epoch: 1, Last: 7, Oldest: 1})
		}},
		{"a space without events stands at nought", nil, func(w *testStore) {
			same(w, "sequence", w.sequence(), store.Sequence{Epoch: 1})
			same(w, "events", len(w.events(0)), 0)
		}},
		{"old events are dropped, and the log says which is the oldest", func(l *c3po.Limits) { l.EventEntries = 50 }, func(w *testStore) {
			w.enter(alice)
			for i := range 500 {
				w.must(w.store.SetPaused(w.ctx, w.space, alice, fmt.Sprint("reason ", i)))
			}
			at := w.sequence()
			last, oldest := at.Last, at.Oldest
			same(w, "last", last, 501)
			if kept := last - oldest + 1; kept < 50 || kept > 300 {
				w.Errorf("%d events are kept, want about 50", kept)
			}
			events := w.events(0)
			same(w, "the first", events[0].Seq, oldest)
			same(w, "without a gap", events[len(events)-1].Seq-events[0].Seq+1, int64(len(events)))
		}},
		{"numbers of concurrent senders have no gaps and no doubles", func(l *c3po.Limits) { l.InboxMessages, l.InboxBytes, l.SenderShare = 200, 1<<20, 1 }, func(w *testStore) {
			w.enter(alice)
			const senders, each = 4, 10
			done := make(chan error, senders)
			for s := range senders {
				from := alice.Numbered(s + 2)
				w.enter(from)
				go func() {
					var err error
					for i := 0; i < each && err == nil; i++ {
						_, err = w.store.Send(w.ctx, w.space, letter(from, alice, fmt.Sprint(i)))
					}
					done <- err
				}()
			}
			for range senders {
				w.must(<-done)
			}
			for i, e := range w.events(0) {
				same(w, "number", e.Seq, int64(i+1))
			}
			last := map[c3po.AgentID]string{}
			entries := w.page(alice, store.InboxQuery{}).Entries
			for _, e := range entries {
				if e.Message.Message < last[e.Message.FromAgent] {
					w.Errorf("%s of %s after %s", e.Message.Message, e.Message.FromAgent, last[e.Message.FromAgent])
				}
				last[e.Message.FromAgent] = e.Message.Message
			}
			same(w, "all are there", len(entries), senders*each)
		}},
		{"a listener hears of every event", nil, func(w *testStore) {
			w.enter(alice, bob)
			wakes := w.listen()
			question := w.send(alice, bob, "why?")
			w.reply(bob, question, "because")
			for _, want := range []store.Wake{{Seq: 3, Agent: bob}, {Seq: 4, Agent: alice}, {Seq: 5}} {
				same(w, "wake", wait(w, wakes, "a wake"), want)
			}
		}},
		{"a listener hears nothing of other spaces", nil, func(w *testStore) {
			wakes := w.listen()
			_, err := w.store.Register(w.ctx, w.other, store.RegisterStep{Want: carol})
			w.must(err)
			w.enter(alice)
			same(w, "the first wake", wait(w, wakes, "a wake"), store.Wake{Seq: 1, Agent: alice})
		}},
		{"every listener of a space hears", nil, func(w *testStore) {
			first, second := w.listen(), w.listen()
			w.enter(alice)
			want := store.Wake{Seq: 1, Agent: alice}
			same(w, "the first", wait(w, first, "a wake"), want)
			same(w, "the second", wait(w, second, "a wake"), want)
		}},
		{"times are whole milliseconds of UTC", nil, func(w *testStore) {
			w.advance(1234567 * time.Nanosecond)
			now := w.now()
			if now.Location() != time.UTC || !now.Equal(now.Truncate(time.Millisecond)) {
				w.Errorf("now is %v", now)
			}
			same(w, "registered", w.register(alice, "r1").Record.RegisteredAt, now)
		}},
	}
}
