package hub_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
)

// inTurns waits for mail in turns, and counts them.
func inTurns(ctx context.Context, who actor, turn *hub.Turn, in c3po.PendingInput, turns *int) (c3po.PendingResult, error) {
	ctx = hub.WithTurn(ctx, turn)
	defer turn.End(ctx)
	for {
		*turns++
		got, err := who.Pending(ctx, in)
		if !errors.Is(err, hub.ErrYielded) {
			return got, err
		}
		turn.Sleep = 0
		turn.Wait(ctx)
	}
}

func TestAWaitInTurnsIsOneWait(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		turns := 0
		began := time.Now()
		wait := start(func() (c3po.PendingResult, error) {
			return inTurns(t.Context(), h.as("bob"), &hub.Turn{Sleep: 5 * time.Second}, c3po.PendingInput{Timeout: 600}, &turns)
		})
		pass(4 * time.Second)
		same(t, "turns before the first is over", turns, 1)
		pass(5 * time.Minute)
		same(t, "turns in which nothing happens", turns, 1)
		same(t, "reachability", h.agent("bob").Reachability, c3po.ReachNow)
		sent := h.send("alice", "bob", "hi")
		got := wait.atOnce(t)
		same(t, "mail", got.Messages[0].ID, sent.ID)
		same(t, "turns", turns, 2)
		same(t, "attached", h.calls.of("Attach"), 1)
		same(t, "waits after it", h.Vitals(t.Context()).Waiters, int64(0))
		same(t, "time", time.Since(began), 5*time.Minute+4*time.Second)
	})
}

func TestAWaitInTurnsEndsWithItsTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		turns := 0
		began := time.Now()
		got := must(inTurns(t.Context(), h.as("bob"), &hub.Turn{Sleep: 5 * time.Second}, c3po.PendingInput{Timeout: 60}, &turns))(t)
		same(t, "outcome", got.Outcome.Status, c3po.WaitTimeout)
		same(t, "time", time.Since(began), time.Minute)
	})
}

func TestAWaitInTurnsEndsWhenTheCoordinatorStops(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		turns := 0
		wait := start(func() (c3po.PendingResult, error) {
			return inTurns(t.Context(), h.as("bob"), &hub.Turn{}, c3po.PendingInput{Timeout: 600}, &turns)
		})
		pass(time.Minute)
		h.Drain()
		same(t, "outcome", wait.atOnce(t).Outcome.Status, c3po.WaitRetry)
	})
}

func TestAWaitThatIsNotMadeAgainLeavesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		turn := &hub.Turn{}
		ctx := hub.WithTurn(t.Context(), turn)
		if _, err := h.as("bob").Pending(ctx, c3po.PendingInput{Timeout: 600}); !errors.Is(err, hub.ErrYielded) {
			t.Fatalf("a turn without sleep ended with %v", err)
		}
		same(t, "waits between two turns", h.Vitals(t.Context()).Waiters, int64(1))
		turn.End(ctx)
		same(t, "waits", h.Vitals(t.Context()).Waiters, int64(0))
		pass(5 * time.Second)
		same(t, "reachability", h.agent("bob").Reachability, c3po.ReachNextCall)
	})
}
