package node

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// slowNotes is a store that writes no note until take is closed.
type slowNotes struct {
	store.Store
	take chan struct{}
}

func (s *slowNotes) WriteNotes(context.Context, c3po.Space, store.Notes) error {
	<-s.take
	return nil
}

// A session dies once it was shown a message, and the next one reads it while the note of
// that is on its way to the store.
func TestMailIsShownAgainAlsoWhileTheNoteOfItIsOnItsWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := &slowNotes{take: make(chan struct{})}
		n := NewNotes(slow, slog.New(slog.DiscardHandler), NewLastCalls(c3po.DefaultLimits()))
		again := func() bool {
			_, again := n.TimesServed("main", store.ServedNote{ID: "ann::bob::1", Reader: "next"})
			return again
		}
		if again() {
			t.Error("what nobody was shown is shown again")
		}
		n.AddServed("main", store.ServedNote{ID: "ann::bob::1", Reader: "first"})
		go n.Flush(t.Context(), false)
		synctest.Wait()
		if !again() {
			t.Error("while the note is written, the message counts as new")
		}
		close(slow.take)
		synctest.Wait()
		if !again() {
			t.Error("to who has looked into the store before the note was there, the message is new")
		}
		n.Flush(t.Context(), false)
		if again() {
			t.Error("once the store must know, this still says so")
		}
	})
}

// A ledger is a store that keeps the notes it is given, unless it is away.
type ledger struct {
	store.Store
	away atomic.Bool

	mu    sync.Mutex
	notes []store.Notes
}

func (l *ledger) WriteNotes(_ context.Context, _ c3po.Space, notes store.Notes) error {
	if l.away.Load() {
		return errAway
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notes = append(l.notes, notes)
	return nil
}

// taken gives what was written since it was last asked for, as one.
func (l *ledger) taken() (all store.Notes) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.notes {
		all.Seen, all.Late = append(all.Seen, n.Seen...), append(all.Late, n.Late...)
		all.Served, all.Notified = append(all.Served, n.Served...), append(all.Notified, n.Notified...)
		all.Given, all.ServedPosts = append(all.Given, n.Given...), append(all.ServedPosts, n.ServedPosts...)
	}
	l.notes = nil
	return all
}

func newLedger() (*ledger, *Notes) {
	l := &ledger{}
	return l, NewNotes(l, slog.New(slog.DiscardHandler), NewLastCalls(c3po.DefaultLimits()))
}

func TestNotesOutliveAStoreThatIsAwayAndSayTheLatest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, n := newLedger()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go n.Run(ctx)
		began := time.Now()
		served := func(reader string, times int, first, at time.Time) store.ServedNote {
			return store.ServedNote{ID: "ann::bob::1", Reader: reader, At: at, Times: times, First: first}
		}
		add := func() time.Time {
			now := time.Now()
			n.AddSeen("main", "bob")
			for _, reader := range []string{"s1", "s1", "s2"} {
				n.AddServed("main", store.ServedNote{ID: "ann::bob::1", Reader: reader, At: now})
			}
			for _, seq := range []int64{4, 6, 5} {
				n.AddNotified("main", store.NotifiedNote{Agent: "bob", Reader: "s1", Seq: seq})
				n.AddServedPost("main", store.PostServedNote{ID: "ann::#build::1", Agent: "bob", Reader: "s1", Seq: seq})
				n.AddLook("main", "bob", "s1", store.NextMessage{Seq: seq, Looked: manyLooked + 1})
			}
			n.AddLook("main", "bob", "s2", store.NextMessage{Seq: 9, Looked: manyLooked})
			return now
		}
		want := store.Notes{
			Seen: []c3po.AgentID{"bob"}, Served: []store.ServedNote{served("s1", 2, began, began), served("s2", 1, began, began)},
			Notified: []store.NotifiedNote{{Agent: "bob", Reader: "s1", Seq: 6}}, Given: []store.GivenNote{{Agent: "bob", Reader: "s1", Seq: 6}},
			ServedPosts: []store.PostServedNote{{ID: "ann::#build::1", Agent: "bob", Reader: "s1", Seq: 6}},
		}
		wantTaken := func(when string, want store.Notes) {
			t.Helper()
			synctest.Wait()
			if diff := cmp.Diff(want, l.taken(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s others are written (-want +got):\n%s", when, diff)
			}
		}
		add()
		<-time.After(flushEvery + time.Millisecond)
		wantTaken("after a second", want)
		<-time.After(flushEvery)
		wantTaken("after another", store.Notes{})

		l.away.Store(true)
		first := add()
		<-time.After(2 * flushEvery)
		wantTaken("while the store is away", store.Notes{})
		if times, _ := n.TimesServed("main", store.ServedNote{ID: "ann::bob::1"}); times != 3 {
			t.Errorf("while the store is away the message was handed out %d times, want 3", times)
		}
		second := add()
		<-time.After(flushEvery)
		l.away.Store(false)
		<-time.After(flushEvery)
		// What may have been written takes no further answers.
		want.Served = []store.ServedNote{served("s1", 2, first, first), served("s2", 1, first, first), served("s1", 2, second, second), served("s2", 1, second, second)}
		wantTaken("once it is back", want)
	})
}

func TestNotesAreWrittenInStepsThatTheStoreCanTake(t *testing.T) {
	t.Parallel()
	for _, count := range []struct{ seen, served, notified, given int }{{1, 1, 1, 0}, {450, 0, 10, 0}, {10, 450, 450, 0}, {200, 0, 0, 0}, {0, 199, 0, 1}, {201, 200, 199, 201}, {150, 50, 0, 0}, {150, 51, 0, 0}} {
		l, n := newLedger()
		for i := range max(count.seen, count.served, count.notified, count.given) {
			agent := c3po.AgentID(fmt.Sprintf("a%03d", i))
			if i < count.seen {
				n.AddSeen("main", agent)
			}
			if i < count.served {
				n.AddServed("main", store.ServedNote{ID: c3po.MessageID(fmt.Sprintf("ann::bob::%d", i)), Reader: "s"})
			}
			if i < count.notified {
				n.AddNotified("main", store.NotifiedNote{Agent: agent, Reader: "s", Seq: 1})
			}
			if i < count.given {
				n.AddLook("main", agent, "s", store.NextMessage{Seq: 1, Looked: manyLooked + 1})
			}
		}
		parts := n.of("main").parts()
		n.Flush(t.Context(), false)
		all := l.taken()
		if len(all.Seen) != count.seen || len(all.Served) != count.served || len(all.Notified) != count.notified || len(all.Given) != count.given {
			t.Errorf("of %+v there are written %d, %d, %d and %d", count, len(all.Seen), len(all.Served), len(all.Notified), len(all.Given))
		}
		for _, p := range parts {
			if size := len(p.Served) + len(p.Given) + len(p.Seen) + len(p.Notified); len(p.Seen) > flushItems || len(p.Notified) > flushItems || len(p.Served)+len(p.Given) > flushItems || size == 0 || size > 2*flushItems {
				t.Errorf("of %+v a step has %d served, %d given, %d seen and %d notified", count, len(p.Served), len(p.Given), len(p.Seen), len(p.Notified))
			}
		}
		if small := count.seen+count.served+count.notified <= flushItems && count.given == 0; small && len(parts) != 1 {
			t.Errorf("%+v take %d steps, want 1", count, len(parts))
		}
	}
}

// A reader's next wait must not be answered with what it was just handed.
func TestAReaderIsRememberedToHaveItsMailUntilTheStoreKnows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, n := newLedger()
		hand := func(id c3po.MessageID, cursor int64) {
			n.AddServed("main", store.ServedNote{ID: id, Reader: "s", Cursor: cursor})
		}
		five := int64(5)
		want := func(when string, all int, atFive int) {
			t.Helper()
			if got := n.GivenTo("main", "bob", "s", nil); len(got) != all {
				t.Errorf("%s it has %v, want %d", when, got, all)
			}
			if got := n.GivenTo("main", "bob", "s", &five); len(got) != atFive {
				t.Errorf("%s, at 5, it has %v, want %d", when, got, atFive)
			}
			for _, other := range [][]c3po.MessageID{n.GivenTo("main", "bob", "other", nil), n.GivenTo("main", "ann", "s", nil), n.GivenTo("team", "bob", "s", nil)} {
				if len(other) != 0 {
					t.Errorf("%s others have %v", when, other)
				}
			}
		}
		want("at first", 0, 0)
		hand("ann::bob::1", 4)
		hand("ann::bob::2", 5)
		hand("ann::bob::3", 6)
		hand("ann::bob::1", 4)
		want("before the store knows", 3, 2)
		l.away.Store(true)
		n.Flush(t.Context(), false)
		want("while the store is away", 3, 2)
		l.away.Store(false)
		n.Flush(t.Context(), false)
		want("once the store knows", 0, 0)
		if len(n.given) != 0 {
			t.Error("a reader with nothing is remembered")
		}

		for i := range maxGiven + 10 {
			hand(c3po.MessageID(fmt.Sprintf("ann::bob::%d", i)), 0)
		}
		want("after very many", maxGiven, maxGiven)
		<-time.After(CallerIdle - time.Second)
		n.sweep(time.Now())
		want("within ten minutes", maxGiven, maxGiven)
		<-time.After(time.Second)
		n.sweep(time.Now())
		want("after ten minutes", 0, 0)

		post := func(id c3po.MessageID, seq int64) store.PostServedNote {
			return store.PostServedNote{ID: id, Seq: seq, Agent: "bob", Reader: "s"}
		}
		early, last, elsewhere := post("ann::#build::1", 1), post("ann::#build::2", 2), post("ann::#lunch::1", 3)
		for _, p := range []store.PostServedNote{early, last} {
			n.AddServedPost("main", p)
		}
		n.forgetServedPosts("main", []store.PostServedNote{elsewhere})
		if !n.HasServedPost("main", early) || !n.HasServedPost("main", last) || n.HasServedPost("main", elsewhere) {
			t.Error("a reader is not remembered to have the posts it was handed")
		}
		n.AddServedPost("main", elsewhere)
		n.forgetServedPosts("main", []store.PostServedNote{last}) // and those before it
		if n.HasServedPost("main", early) || n.HasServedPost("main", last) || !n.HasServedPost("main", elsewhere) {
			t.Error("posts that the store knows are remembered, or others are not")
		}
	})
}
