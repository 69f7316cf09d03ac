package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

var errAway = errors.New("the store is away")

// A wire is a store that knows the events of one space, and loses some on their way.
type wire struct {
	store.Store
	hold chan struct{} // no subscription stands before it is closed
	cut  chan struct{} // ends the subscription

	mu   sync.Mutex
	at   store.Sequence
	log  []c3po.Event
	wake func(store.Wake)
	away bool
	seenOfNode
}

// seenOfNode counts what a node has done so far.
type seenOfNode struct {
	listens int // subscriptions that were begun
	ended   int // subscriptions whose context ended
	asked   int // times it was asked where the log stands
	rolled  int
	epoch   int64
}

func (w *wire) seen() (seen seenOfNode) {
	w.with(func() { seen, seen.epoch = w.seenOfNode, w.at.Epoch })
	return seen
}

func (w *wire) Listen(ctx context.Context, _ c3po.Space, ready func(), wake func(store.Wake)) error {
	w.mu.Lock()
	w.listens++
	w.mu.Unlock()
	<-w.hold
	w.mu.Lock()
	w.wake = wake
	w.mu.Unlock()
	ready()
	select {
	case <-w.cut:
		return errAway
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ended++
		return ctx.Err()
	}
}

func (w *wire) Sequence(context.Context, c3po.Space) (store.Sequence, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	if w.away {
		return store.Sequence{}, errAway
	}
	return w.at, nil
}

func (w *wire) Events(_ context.Context, _ c3po.Space, after int64, limit int) ([]c3po.Event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var events []c3po.Event
	for _, e := range w.log {
		if e.Seq > after && len(events) < limit {
			events = append(events, e)
		}
	}
	return events, nil
}

func (w *wire) RaiseEpoch(_ context.Context, _ c3po.Space, known store.Sequence) (store.Sequence, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = store.Sequence{Epoch: known.Epoch + 1, Last: known.Last + 1, Began: known.Last + 1}
	return w.at, true, nil
}

func (w *wire) RolledBack() { w.with(func() { w.rolled++ }) }

// with reads or changes what the node sees at the same time.
func (w *wire) with(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

// happen adds an event, of which the node hears or not.
func (w *wire) happen(agent c3po.AgentID, heard bool) {
	synctest.Wait() // for the subscription
	w.mu.Lock()
	w.at.Last++
	e := c3po.Event{Seq: w.at.Last, Agent: agent, Kind: "acked", At: time.Now()}
	if agent == store.EverybodyAsked {
		e.Agent, e.Kind = "", c3po.EventPaused
	}
	w.log = append(w.log, e)
	wake := w.wake
	w.mu.Unlock()
	if heard {
		wake(store.Wake{Seq: e.Seq, Agent: agent})
	}
	synctest.Wait()
}

// onWire runs a test in a bubble with the waits of one node.
func onWire(t *testing.T, compare time.Duration, test func(*testing.T, *wire, *Wakes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &wire{hold: make(chan struct{}), cut: make(chan struct{}), at: store.Sequence{Epoch: 1, Last: 7}}
		silent := slog.New(slog.DiscardHandler)
		wakes := NewWakes(w, silent, NewMarks(w, silent, w, 0, func(c3po.Space) {}), compare)
		defer wakes.Close()
		test(t, w, wakes)
	})
}

// woken takes the signals of waits, and names those that had one.
func woken(waits map[string]*Waiter) map[string]bool {
	synctest.Wait()
	had := map[string]bool{}
	for name, w := range waits {
		select {
		case <-w.Signals():
			had[name] = true
		default:
		}
	}
	return had
}

func wantWoken(t *testing.T, what string, waits map[string]*Waiter, names ...string) {
	t.Helper()
	want := map[string]bool{}
	for _, name := range names {
		want[name] = true
	}
	if diff := cmp.Diff(want, woken(waits)); diff != "" {
		t.Errorf("%s wakes others (-want +got):\n%s", what, diff)
	}
}

func TestAnEventWakesThoseItConcerns(t *testing.T) {
	t.Parallel()
	onWire(t, 0, func(t *testing.T, wire *wire, wakes *Wakes) {
		close(wire.hold)
		room, other := c3po.RoomName("build").Address(), c3po.RoomName("lunch").Address()
		waits := map[string]*Waiter{}
		for i, name := range []string{"alice", "alice again", "bob", "carol", "dave"} {
			agent := c3po.AgentID(map[string]string{"alice again": "alice"}[name])
			if agent == "" {
				agent = c3po.AgentID(name)
			}
			waits[name] = wakes.Join("main", agent)
			if n := waits[name].Place(); n != map[bool]int{true: 2, false: 1}[i == 1] {
				t.Errorf("%s is wait %d of its agent", name, n)
			}
		}
		if more := waits["carol"].Listen([]c3po.AgentID{room}); !more {
			t.Error("the first room is none that is new")
		}
		if more := waits["carol"].Listen([]c3po.AgentID{room}); more {
			t.Error("the same room is new again")
		}
		waits["dave"].Follow("bob")
		waits["alice"].Listen(nil)
		woken(waits)
		for _, test := range []struct {
			agent c3po.AgentID
			names []string
		}{
			{"alice", []string{"alice", "alice again"}},
			{"bob", []string{"bob", "dave"}},
			{"dave", []string{"dave"}},
			{"erin", nil},
			{"", nil},
			{room, []string{"carol"}},
			{other, nil},
			{c3po.Everybody.Address(), []string{"alice", "carol"}},
			{store.EverybodyAsked, []string{"dave"}},
		} {
			wire.happen(test.agent, true)
			wantWoken(t, fmt.Sprintf("an event of %q", test.agent), waits, test.names...)
		}
		waits["dave"].Follow("alice")
		wire.happen("bob", true)
		wantWoken(t, "an event of the agent followed before", waits, "bob")
		wire.happen("alice", true)
		wantWoken(t, "an event of the agent followed now", waits, "alice", "alice again", "dave")
		waits["alice"].Rename("al")
		wire.happen("alice", true)
		wantWoken(t, "an event of the old name", waits, "alice again", "dave")
		wire.happen("al", true)
		wantWoken(t, "an event of the new name", waits, "alice")
		wire.happen(c3po.Everybody.Address(), true)
		wantWoken(t, "a broadcast after the renaming", waits, "alice", "carol")
		if waiting, _ := wakes.Counts(); waiting != 5 {
			t.Errorf("%d wait, want 5", waiting)
		}
		for _, name := range []string{"alice", "alice again", "carol", "dave"} {
			waits[name].Leave()
		}
		for _, agent := range []c3po.AgentID{"alice", "al", "carol", "dave", room, c3po.Everybody.Address(), store.EverybodyAsked} {
			wire.happen(agent, true)
		}
		wantWoken(t, "what concerns those who left", waits)
		wire.happen("bob", true)
		wantWoken(t, "an event of the one who stays", waits, "bob")
		l := wakes.lines["main"]
		if len(l.waiters) != 1 || len(l.rooms) != 0 || len(l.asked) != 0 {
			t.Errorf("what those who left waited for is remembered: %v, %v, %v", l.waiters, l.rooms, l.asked)
		}
		waits["bob"].Leave()
	})
}

func TestAnEventThatWasNotHeardWakesAllTheSame(t *testing.T) {
	t.Parallel()
	onWire(t, time.Minute, func(t *testing.T, wire *wire, wakes *Wakes) {
		close(wire.hold)
		waits := map[string]*Waiter{"alice": wakes.Join("main", "alice"), "bob": wakes.Join("main", "bob"), "carol": wakes.Join("main", "carol")}
		defer func() {
			for _, w := range waits {
				w.Leave()
			}
		}()
		synctest.Wait()
		asked := func() (n int) { wire.with(func() { n, wire.asked = wire.asked, 0 }); return n }
		asked()
		wire.happen("alice", true)
		wire.happen("bob", true)
		wantWoken(t, "what was heard", waits, "alice", "bob")
		if n := asked(); n != 0 {
			t.Errorf("without a gap the store is asked %d times", n)
		}
		wire.happen("alice", false)
		wantWoken(t, "what was not heard", waits)
		wire.happen("bob", true)
		wantWoken(t, "the next event", waits, "alice", "bob")
		if n := asked(); n != 1 {
			t.Errorf("for a gap the store is asked %d times", n)
		}
		wire.happen("carol", true)
		if n := asked(); n != 0 {
			t.Errorf("once the gap is filled the store is asked %d times", n)
		}
		wantWoken(t, "what is heard after the gap", waits, "carol")

		wire.happen("alice", false) // and nothing follows
		<-time.After(time.Minute)
		wantWoken(t, "a comparison", waits, "alice")

		wire.with(func() { wire.away = true })
		wire.happen("alice", false)
		wire.happen("bob", true)
		wantWoken(t, "the next event while the store is away", waits, "bob")
		wire.with(func() { wire.away = false })
		<-time.After(MaxRetry)
		wantWoken(t, "the store's return", waits, "alice", "bob") // bob for nothing, which may be

		wire.happen("alice", false)
		wire.happen("dave", false)
		wire.with(func() { wire.log = wire.log[len(wire.log)-1:] }) // the log is trimmed
		wire.happen("dave", true)
		wantWoken(t, "a gap of which the log is gone", waits, "alice", "bob", "carol")
	})
}

func TestAWaitThatLooksBeforeTheSubscriptionStandsLooksAgain(t *testing.T) {
	t.Parallel()
	onWire(t, 0, func(t *testing.T, wire *wire, wakes *Wakes) {
		waits := map[string]*Waiter{"early": wakes.Join("main", "alice"), "late": wakes.Join("main", "bob")}
		waits["early"].StartEarly()
		wantWoken(t, "a subscription that does not stand", waits)
		select {
		case <-waits["late"].Subscribed():
			t.Error("it is said to stand")
		default:
		}
		close(wire.hold)
		wantWoken(t, "the subscription", waits, "early")
		select {
		case <-waits["late"].Subscribed():
		default:
			t.Error("it is said not to stand")
		}
		for _, w := range waits {
			w.Leave()
		}
	})
}

func TestASubscriptionThatBreaksIsOpenedAgainAndMissesNothing(t *testing.T) {
	t.Parallel()
	onWire(t, 0, func(t *testing.T, wire *wire, wakes *Wakes) {
		close(wire.hold)
		waits := map[string]*Waiter{"alice": wakes.Join("main", "alice"), "bob": wakes.Join("main", "bob")}
		synctest.Wait()
		for n := range 3 {
			wire.cut <- struct{}{}
			wire.happen("alice", false)
			wantWoken(t, "what happens without a subscription", waits)
			<-time.After(time.Second)
			wantWoken(t, "the next subscription", waits, "alice")
			if seen := wire.seen(); seen.listens != n+2 {
				t.Errorf("it was opened %d times, want %d", seen.listens, n+2)
			}
		}
		for _, w := range waits {
			w.Leave()
		}
	})
}

func TestAfterTheStoreWentBackEverybodyLooksOnce(t *testing.T) {
	t.Parallel()
	onWire(t, time.Minute, func(t *testing.T, wire *wire, wakes *Wakes) {
		close(wire.hold)
		waits := map[string]*Waiter{"alice": wakes.Join("main", "alice"), "bob": wakes.Join("main", "bob")}
		wire.happen("alice", true)
		wire.happen("alice", true)
		woken(waits)
		wire.with(func() { wire.at.Last -= 2 }) // as after a failover
		<-time.After(time.Minute)
		wantWoken(t, "a loss", waits, "alice", "bob")
		if seen := wire.seen(); seen.rolled != 1 || seen.epoch != 2 {
			t.Errorf("it was noticed %d times, and the epoch is %d", seen.rolled, seen.epoch)
		}
		<-time.After(5 * time.Minute)
		wantWoken(t, "time", waits)
		wire.happen("bob", true)
		wantWoken(t, "an event of the new epoch", waits, "bob")
		for _, w := range waits {
			w.Leave()
		}
	})
}

func TestASubscriptionOutlivesItsLastWaitByAMinute(t *testing.T) {
	t.Parallel()
	onWire(t, 10*time.Second, func(t *testing.T, wire *wire, wakes *Wakes) {
		close(wire.hold)
		wakes.Join("main", "alice").Leave()
		<-time.After(50 * time.Second)
		again := wakes.Join("main", "alice")
		<-time.After(2 * time.Minute)
		if seen := wire.seen(); seen.listens != 1 || seen.ended != 0 {
			t.Errorf("with a wait there were %d subscriptions, and %d ended", seen.listens, seen.ended)
		}
		again.Leave()
		wire.with(func() { wire.asked = 0 })
		<-time.After(59 * time.Second)
		synctest.Wait()
		if seen := wire.seen(); seen.ended != 0 || seen.asked != 0 {
			t.Errorf("within a minute %d ended, and the store was asked %d times for nobody", seen.ended, seen.asked)
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		wakes.mu.Lock()
		open := len(wakes.lines)
		wakes.mu.Unlock()
		if seen := wire.seen(); seen.ended != 1 || open != 0 {
			t.Errorf("after a minute %d ended, and %d are open", seen.ended, open)
		}
		last := wakes.Join("main", "alice")
		synctest.Wait()
		wakes.Close()
		if seen := wire.seen(); seen.listens != 2 || seen.ended != 2 {
			t.Errorf("%d were opened and %d ended", seen.listens, seen.ended)
		}
		last.Leave()
		late := wakes.Join("main", "alice") // of a call that a stopping coordinator still serves
		synctest.Wait()
		late.Leave()
		if wire.seen().listens != 2 {
			t.Error("a coordinator that stops subscribes")
		}
	})
}

func TestADeadlineIsReportedOnceItHasPassed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var mu sync.Mutex
		passed := map[c3po.MessageID]time.Duration{}
		d := NewDeadlines(func(_ context.Context, space c3po.Space, id c3po.MessageID) {
			mu.Lock()
			defer mu.Unlock()
			if _, again := passed[id]; again || space != "main" {
				t.Errorf("%s of %s passes again", id, space)
			}
			passed[id] = time.Since(began)
		})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go d.Run(ctx)
		want := map[c3po.MessageID]time.Duration{}
		for n, within := range []time.Duration{3 * time.Hour, time.Minute, time.Minute, time.Hour, 0} {
			id := c3po.MessageID(fmt.Sprint(n))
			d.Add("main", id, within)
			want[id] = within + deadlineSlack
			synctest.Wait()
		}
		<-time.After(4 * time.Hour)
		synctest.Wait()
		if diff := cmp.Diff(want, passed); diff != "" {
			t.Errorf("they pass at other times (-want +got):\n%s", diff)
		}
	})
}
