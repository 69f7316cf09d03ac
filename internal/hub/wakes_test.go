package hub_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/storetest"
)

func withoutComparing(l *c3po.Limits) { l.CompareEvery = 0 }

func TestAWaitOnOneCoordinatorIsWokenByASendOnAnother(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, withoutComparing)
		other := h.neighbour(withoutComparing)
		wait := h.waitFor("bob", c3po.WaitInput{})
		other.send("alice", "bob", "from next door")
		same(t, "mail", wait.atOnce(t).Text(), "from next door")
	})
}

func TestOnlyThoseWhoHaveMailAreWoken(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, withoutComparing)
		for i := range 50 {
			h.waitFor(c3po.AgentID(fmt.Sprintf("agent-%d", i)), c3po.WaitInput{Timeout: 100})
		}
		looks := h.calls.of("Next")
		h.send("alice", "agent-7", "hi")
		pass(time.Second)
		same(t, "looks of 50 waits for one message", h.calls.of("Next")-looks, 1)
		same(t, "subscriptions", h.calls.of("Listen"), 1)
	})
}

func TestAGapInTheSequenceWakesExactlyThoseWhoMissedSomething(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, withoutComparing)
		h.enter("alice")
		missed := h.waitFor("bob", c3po.WaitInput{})
		idle := h.waitFor("idle", c3po.WaitInput{})
		woken := h.waitFor("carol", c3po.WaitInput{})
		h.model.DropWakes(1)
		h.send("alice", "bob", "unheard")
		if missed.isDone() {
			t.Fatal("the wake was not lost: the test proves nothing")
		}
		looks := h.calls.of("Next")
		h.send("alice", "carol", "heard")
		same(t, "what the gap revealed", missed.atOnce(t).Text(), "unheard")
		same(t, "what was heard", woken.atOnce(t).Text(), "heard")
		if idle.isDone() {
			t.Error("a wait without mail ended")
		}
		pass(time.Second)
		// Carol may look twice: she is heard of and then read of.
		if n := h.calls.of("Next") - looks; n > 3 {
			t.Errorf("filling the gap took %d looks", n)
		}
		before := h.calls.of("Events")
		h.send("alice", "idle", "hi")
		idle.atOnce(t)
		same(t, "gaps seen afterwards", h.calls.of("Events")-before, 0)
	})
}

func TestTrafficWhileAGapIsFilledIsNotAnotherGap(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, withoutComparing)
		h.enter("alice", "carol")
		missed := h.waitFor("bob", c3po.WaitInput{})
		last := h.waitFor("dave", c3po.WaitInput{})
		h.calls.then = sync.OnceFunc(func() {
			h.send("alice", "carol", "in between")
			h.send("alice", "dave", "in between")
		})
		h.model.DropWakes(1)
		h.send("alice", "bob", "unheard")
		h.send("alice", "carol", "heard")
		same(t, "what the gap revealed", missed.atOnce(t).Text(), "unheard")
		same(t, "what came meanwhile", last.atOnce(t).Text(), "in between")
		pass(time.Second)
		same(t, "times events were read", h.calls.of("Events"), 1)
		h.send("alice", "carol", "afterwards")
		pass(time.Second)
		same(t, "times events were read", h.calls.of("Events"), 1)
	})
}

func TestComparingFindsALostWakeWithinItsInterval(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice")
		wait := h.waitFor("bob", c3po.WaitInput{})
		h.model.DropWakes(1)
		h.send("alice", "bob", "unheard")
		began := time.Now()
		same(t, "mail", wait.result(t).Text(), "unheard")
		if took := time.Since(began); took == 0 || took > 5*time.Second {
			t.Errorf("the lost wake was found after %v", took)
		}
	})
}

func TestALostSubscriptionIsMadeUpFor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, withoutComparing)
		h.enter("alice")
		wait := h.waitFor("bob", c3po.WaitInput{})
		h.model.DropWakes(1)
		h.send("alice", "bob", "while nobody listened")
		if wait.isDone() {
			t.Fatal("the wake was not lost: the test proves nothing")
		}
		h.model.Lose()
		same(t, "mail", wait.atOnce(t).Text(), "while nobody listened")
	})
}

func TestWhenTheMissedEventsAreGoneEverybodyLooks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, withoutComparing, func(l *c3po.Limits) { l.EventEntries = 3 })
		h.enter("alice", "carol")
		wait := h.waitFor("bob", c3po.WaitInput{})
		h.model.DropWakes(9)
		h.send("alice", "bob", "long ago")
		for i := range 8 {
			h.send("alice", "carol", fmt.Sprint(i))
		}
		h.model.Lose()
		same(t, "mail", wait.atOnce(t).Text(), "long ago")
	})
}

func TestWhenOneMissedEventIsGoneEverybodyLooks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		const kept = 3
		h := build(t, withoutComparing, func(l *c3po.Limits) { l.EventEntries = kept })
		h.enter("alice", "carol")
		wait := h.waitFor("bob", c3po.WaitInput{})
		last := must(h.model.Sequence(t.Context(), c3po.DefaultSpace))(t).Last
		h.model.DropWakes(kept + 1)
		h.send("alice", "bob", "just gone")
		for i := range kept {
			h.send("alice", "carol", fmt.Sprint(i))
		}
		if at := must(h.model.Sequence(t.Context(), c3po.DefaultSpace))(t); at.Oldest != last+2 {
			t.Fatalf("heard up to %d, and the log goes from %d to %d: the test proves nothing", last, at.Oldest, at.Last)
		}
		h.model.Lose()
		same(t, "mail", wait.atOnce(t).Text(), "just gone")
	})
}

// A trimmed store loses its oldest events right before they are read.
type trimmed struct {
	store.Store
	before func()
}

func (s *trimmed) Events(ctx context.Context, space c3po.Space, after int64, limit int) ([]c3po.Event, error) {
	s.before()
	return s.Store.Events(ctx, space, after, limit)
}

func TestWhenMissedEventsGoWhileTheyAreReadEverybodyLooks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		const kept = 3
		h := build(t, withoutComparing, func(l *c3po.Limits) { l.EventEntries = kept })
		h.enter("alice", "carol")
		wait := h.waitFor("bob", c3po.WaitInput{})
		h.calls.Store = &trimmed{h.model, sync.OnceFunc(func() {
			h.model.DropWakes(kept)
			for i := range kept {
				h.send("alice", "carol", fmt.Sprint(i))
			}
		})}
		h.model.DropWakes(1)
		h.send("alice", "bob", "unheard")
		h.model.Lose()
		same(t, "mail", wait.atOnce(t).Text(), "unheard")
	})
}

func TestAGapBehindAGapIsFilledToo(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, withoutComparing)
		h.enter("alice", "carol")
		first := h.waitFor("bob", c3po.WaitInput{})
		second := h.waitFor("dave", c3po.WaitInput{})
		// Right behind what is being read one wake is lost, and the next one heard.
		h.calls.then = sync.OnceFunc(func() {
			h.model.DropWakes(1)
			h.send("alice", "dave", "unheard again")
			h.send("alice", "carol", "heard again")
		})
		h.model.DropWakes(1)
		h.send("alice", "bob", "unheard")
		h.send("alice", "carol", "heard")
		same(t, "what the first gap revealed", first.atOnce(t).Text(), "unheard")
		pass(time.Second)
		same(t, "what the second gap revealed", second.atOnce(t).Text(), "unheard again")
	})
}

// A mute store does not let a subscription stand until it may speak.
type mute struct {
	store.Store
	speak chan struct{}
}

func (m *mute) Listen(ctx context.Context, space c3po.Space, ready func(), wake func(store.Wake)) error {
	select {
	case <-m.speak:
		return m.Store.Listen(ctx, space, ready, wake)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestAWaitThatCannotSubscribeStillLooks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, withoutComparing)
		h.stop() // the house's own hub is not needed
		limits := c3po.DefaultLimits()
		limits.CompareEvery = 0
		silent := &mute{h.model, make(chan struct{})}
		h = run(t, &testHub{t: t, model: h.model, calls: &calls{Store: silent, count: map[string]int{}, fail: map[string]error{}}}, limits, "node-3")
		h.enter("bob")
		h.send("alice", "bob", "one")
		began := time.Now()
		same(t, "mail", must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{}))(t).Text(), "one")
		same(t, "it looked after", time.Since(began), 2*time.Second)

		wait := h.waitFor("bob", c3po.WaitInput{})
		pass(3 * time.Second) // it has looked and sleeps
		h.send("alice", "bob", "two")
		if wait.isDone() {
			t.Fatal("the wait was woken without a subscription")
		}
		close(silent.speak)
		same(t, "mail from before the subscription", wait.atOnce(t).Text(), "two")
	})
}

func TestASubscriptionThatFailsIsTriedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, withoutComparing)
		h.calls.failWith("Listen", c3po.Errorf(c3po.RedisUnavailable, "away"))
		wait := h.waitFor("bob", c3po.WaitInput{})
		pass(10 * time.Second)
		h.send("alice", "bob", "hi")
		h.calls.failWith("Listen", nil)
		began := time.Now()
		same(t, "mail", wait.result(t).Text(), "hi")
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it was tried again after %v", took)
		}
		if n := h.calls.of("Listen"); n > 15 {
			t.Errorf("a store that was away for 10 s was asked %d times", n)
		}
	})
}

func TestASubscriptionEndsAMinuteAfterItsLastWait(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		for range 3 {
			must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1}))(t)
			pass(30 * time.Second)
		}
		same(t, "subscriptions of waits that follow each other", h.calls.of("Listen"), 1)
		pass(61 * time.Second)
		must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1}))(t)
		same(t, "subscriptions after a pause", h.calls.of("Listen"), 2)
	})
}

// A dead store answers nothing until its caller gives up.
type dead struct{ store.Store }

func (dead) Listen(ctx context.Context, _ c3po.Space, ready func(), _ func(store.Wake)) error {
	ready()
	<-ctx.Done()
	return ctx.Err()
}

func (dead) Sequence(ctx context.Context, _ c3po.Space) (store.Sequence, error) {
	<-ctx.Done()
	return store.Sequence{}, ctx.Err()
}

func (dead) Attach(ctx context.Context, _ c3po.Space, _ c3po.AgentID, _ string, _ c3po.SessionState) error {
	<-ctx.Done()
	return ctx.Err()
}

func (dead) WriteNotes(ctx context.Context, _ c3po.Space, _ store.Notes) error {
	<-ctx.Done()
	return ctx.Err()
}

// The bubble fails the test if a goroutine stays behind.
func TestADeadStoreHoldsNobodyBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		limits := c3po.DefaultLimits()
		model := storetest.NewModel(limits)
		h := run(t, &testHub{t: t, model: model, calls: &calls{Store: dead{model}, count: map[string]int{}, fail: map[string]error{}}}, limits, "node-1")
		h.enter("bob")
		h.send("alice", "bob", "hi")
		h.inbox("bob") // leaves a note that cannot be written
		ctx, cancel := context.WithCancel(t.Context())
		wait := start(func() (c3po.WaitResult, error) { return h.as("bob").WaitForMessage(ctx, c3po.WaitInput{Timeout: 3600}) })
		pass(30 * time.Second)
		began := time.Now()
		cancel()
		<-wait.done
		same(t, "the cancelled wait took", time.Since(began), time.Duration(0))
		h.stop()
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("stopping took %v", took)
		}
	})
}

// In real time and without comparing: what is lost here is lost for good.
func TestMailThatComesBetweenLookAndSleepIsNotSleptThrough(t *testing.T) {
	t.Parallel()
	h := build(t, withoutComparing, func(l *c3po.Limits) { l.SendsPerMinute = 0 })
	h.enter("bob")
	for i := range 300 {
		got := make(chan c3po.WaitResult, 1)
		go func() {
			result, err := h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 3000})
			if err != nil {
				t.Errorf("wait %d: %v", i, err)
			}
			got <- result
		}()
		text := fmt.Sprint(i)
		h.send("alice", "bob", text)
		select {
		case result := <-got:
			same(t, "mail", result.Text(), text)
			must(h.as("bob").AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{result.ID}}))(t)
		case <-time.After(10 * time.Second):
			t.Fatalf("wait %d was not woken", i)
		}
	}
}
