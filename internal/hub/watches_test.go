package hub_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store"
)

// watch opens a stream and takes its first word.
func (h *testHub) watch(after *c3po.EventCursor) (*hub.Stream, c3po.StreamStart) {
	h.t.Helper()
	w := must(h.asPerson().Watch(h.t.Context(), after))(h.t)
	h.t.Cleanup(w.Close)
	first := must(w.Next(h.t.Context()))(h.t)
	if len(first) != 1 || first[0].Start == nil {
		h.t.Fatalf("the stream begins with %+v", first)
	}
	return w, *first[0].Start
}

// read takes entries until there are none for a while.
func read(t *testing.T, w *hub.Stream) []c3po.StreamEvent {
	t.Helper()
	var all []c3po.StreamEvent
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		more, err := w.Next(ctx)
		cancel()
		if ctx.Err() == context.DeadlineExceeded && err != nil {
			return all
		}
		all = append(all, must(more, err)(t)...)
	}
}

// words are entries as one line each.
func words(entries []c3po.StreamEvent) []string {
	out := []string{}
	for _, e := range entries {
		switch {
		case e.Start != nil:
			out = append(out, fmt.Sprint(e.At, " start ", e.Start.Recovered, " ", e.Start.Reason))
		default:
			out = append(out, fmt.Sprint(e.At, " ", e.Event.Kind))
		}
	}
	return out
}

func TestAStreamShowsWhatHappensAsItHappens(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, withoutComparing)
		other := h.neighbour(withoutComparing)
		h.enter("alice", "bob")
		w, start := h.watch(nil)
		same(t, "start", start, c3po.StreamStart{Recovered: true, Epoch: 1, Seq: 2})
		pass(time.Second)
		began := time.Now()
		sent := other.send("alice", "bob", "hi")
		first := must(w.Next(t.Context()))(t)
		same(t, "took", time.Since(began), time.Duration(0))
		same(t, "event", *first[0].Event, c3po.Event{Seq: 3, Kind: c3po.EventAccepted, Agent: "bob", ID: sent.ID, At: sent.Timestamp})
		h.reply("bob", sent.ID, "yes")
		same(t, "and then", words(read(t, w)), []string{"1:4 answered", "1:5 acked"})
	})
}

func TestAStreamGoesOnWhereItWasLeft(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice", "bob", "carol")
		w, start := h.watch(&c3po.EventCursor{Epoch: 1, Seq: 1})
		same(t, "start", start, c3po.StreamStart{Recovered: true, Epoch: 1, Seq: 1})
		h.send("alice", "bob", "hi")
		same(t, "events", words(read(t, w)), []string{"1:2 registered", "1:3 registered", "1:4 accepted"})
	})
}

func TestAStreamSaysWhenWhatItMissedIsGone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { l.EventEntries = 3 })
		h.enter("alice", "bob", "carol", "dave", "eve")
		w, start := h.watch(&c3po.EventCursor{Epoch: 1, Seq: 1})
		same(t, "start", start, c3po.StreamStart{Epoch: 1, Seq: 5, Reason: c3po.ResetTrimmed})
		h.send("alice", "bob", "hi")
		same(t, "events", words(read(t, w)), []string{"1:6 accepted"})
		_, start = h.watch(&c3po.EventCursor{Epoch: 1, Seq: 3})
		same(t, "from the oldest that is kept", start.Recovered, true)
		_, start = h.watch(&c3po.EventCursor{Epoch: 1, Seq: 6})
		same(t, "from the end", start.Recovered, true)
	})
}

func TestAnOpenStreamSaysWhenWhatItMissedIsGone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, withoutComparing, func(l *c3po.Limits) { l.EventEntries = 3 })
		h.enter("alice", "bob")
		w, _ := h.watch(nil)
		pass(time.Second)
		h.model.DropWakes(4)
		for i := range 4 {
			h.send("alice", "bob", fmt.Sprint("unheard ", i))
		}
		h.model.Lose()
		same(t, "the one that is gone", words(read(t, w)), []string{"1:6 start false trimmed"})
		h.send("alice", "bob", "heard")
		same(t, "and then", words(read(t, w)), []string{"1:7 accepted"})
	})
}

func TestAStreamSaysWhenTheStoreWentBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice", "bob")
		open, _ := h.watch(nil)
		h.send("alice", "bob", "lost")
		same(t, "before", words(read(t, open)), []string{"1:3 accepted"})
		h.model.Forget(c3po.DefaultSpace, 2)
		pass(10 * time.Second)
		h.send("alice", "bob", "kept")
		got := words(read(t, open))
		want := []string{"2:1003 start false epoch", "2:1004 rollback", "2:1005 accepted"}
		same(t, "an open stream", got, want)

		late, start := h.watch(&c3po.EventCursor{Epoch: 1, Seq: 3})
		same(t, "start of a late one", start, c3po.StreamStart{Epoch: 2, Seq: 1003, Reason: c3po.ResetEpoch})
		same(t, "a late stream", words(read(t, late)), want[1:])
		_, start = h.watch(&c3po.EventCursor{Epoch: 2, Seq: 1004})
		same(t, "in the new epoch", start.Recovered, true)
	})
}

func TestAPlaceThatNeverWasIsNotGoneOnFrom(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice")
		_, start := h.watch(&c3po.EventCursor{Epoch: 1, Seq: 400})
		same(t, "start", start, c3po.StreamStart{Epoch: 1, Seq: 1, Reason: c3po.ResetEpoch})
	})
}

func TestTheLogIsReadOnceForAllWhoWatch(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, withoutComparing, func(l *c3po.Limits) { l.SendsPerMinute = 0 })
		h.enter("alice", "bob")
		var all []*hub.Stream
		for range 50 {
			w, _ := h.watch(nil)
			all = append(all, w)
		}
		pass(time.Second)
		before := h.calls.of("Events")
		for i := range 20 {
			h.send("alice", "bob", fmt.Sprint(i))
		}
		for _, w := range all {
			same(t, "events", len(read(t, w)), 20)
		}
		if reads := h.calls.of("Events") - before; reads > 20 {
			t.Errorf("50 watchers of 20 events took %d reads of the log", reads)
		}
		same(t, "subscriptions", h.calls.of("Listen"), 1)
	})
}

func TestASlowWatcherHoldsNobodyUpAndMissesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		const many = 5000 // more than a tail keeps
		h := build(t, withoutComparing, func(l *c3po.Limits) { l.EventEntries = 10 * many })
		h.enter("alice", "bob")
		slow, _ := h.watch(nil)
		quick, _ := h.watch(nil)
		for i := range many {
			must(h.asPerson().Pause(t.Context(), c3po.PauseInput{AgentID: "bob", Reason: fmt.Sprint("reason ", i)}))(t)
			if i%100 == 0 {
				pass(time.Second)
			}
		}
		for name, w := range map[string]*hub.Stream{"slow": slow, "quick": quick} {
			got := read(t, w)
			same(t, name+" saw", len(got), many)
			for i, e := range got {
				if e.At.Seq != int64(i+3) {
					t.Fatalf("%s: entry %d is %s", name, i, e.At)
				}
			}
		}
	})
}

func TestALostWakeIsMadeUpForInAStream(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice", "bob")
		w, _ := h.watch(nil)
		pass(time.Second)
		h.model.DropWakes(1)
		h.send("alice", "bob", "unheard")
		same(t, "events", words(read(t, w)), []string{"1:3 accepted"})
	})
}

// A busy store lets something happen right after it was asked where it stands.
type busy struct {
	store.Store
	happens func()
}

func (b *busy) Sequence(ctx context.Context, space c3po.Space) (store.Sequence, error) {
	at, err := b.Store.Sequence(ctx, space)
	if happens := b.happens; happens != nil {
		b.happens = nil
		happens()
	}
	return at, err
}

func TestWhatHappensWhileAStreamIsOpenedIsNotMissed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, withoutComparing)
		h.stop() // the house's own hub is not needed
		limits := c3po.DefaultLimits()
		limits.CompareEvery = 0
		store := &busy{Store: h.model}
		h = run(t, &testHub{t: t, model: h.model, calls: &calls{Store: store, count: map[string]int{}, fail: map[string]error{}}}, limits, "node-3")
		h.enter("alice", "bob")
		h.waitFor("alice", c3po.WaitInput{Timeout: 100}) // so that the subscription stands
		store.happens = func() {
			h.send("alice", "bob", "meanwhile")
			synctest.Wait() // it was heard, and there was nothing to do about it
		}
		w, _ := h.watch(nil)
		same(t, "events", words(read(t, w)), []string{"1:3 accepted"})
	})
}

func TestAStreamEndsWhenTheCoordinatorStops(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		w, _ := h.watch(nil)
		next := start(func() ([]c3po.StreamEvent, error) { return w.Next(t.Context()) })
		h.Drain()
		<-next.done
		refused(t, next.err, c3po.CoordDown)
		_, err := h.asPerson().Watch(t.Context(), nil)
		refused(t, err, c3po.CoordDown)
	})
}

func TestVitalsAskTheStoreNowAndThen(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice", "bob")
		h.send("alice", "bob", "hi")
		pass(90 * time.Second)
		h.waitFor("alice", c3po.WaitInput{Timeout: 100})
		h.watch(nil)
		want := hub.Vitals{StoreUp: true, Durability: c3po.OnDisk, Waiters: 1, Watchers: 1, Pending: 1, OldestUnacked: 90 * time.Second,
			PendingBytes: int64(weight("alice", "bob", "hi")), SpaceBytes: c3po.DefaultLimits().SpaceBytes}
		same(t, "vitals", h.Vitals(t.Context()), want)
		asked := h.calls.of("Counters")
		for range 100 {
			h.Vitals(t.Context())
		}
		same(t, "asked 100 times more", h.calls.of("Counters")-asked, 0)
		h.Drain()
		same(t, "draining", h.Vitals(t.Context()).Draining, true)
	})
}
