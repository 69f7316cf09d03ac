package hub_test

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

func TestWhoseProcessIsHaltedIsNotSaidToWakeUntilItGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		caller := c3po.Caller{ID: "api", Run: "r1", Role: c3po.RoleAgent, Route: "rest", PID: 7}
		wait := func() *later[c3po.PendingResult] {
			after := int64(0)
			return start(func() (c3po.PendingResult, error) {
				return h.As(caller).Pending(t.Context(), c3po.PendingInput{Timeout: 300, After: &after, State: c3po.SessionIdle})
			})
		}
		first := wait()
		pass(2 * time.Second)
		same(t, "while it runs", h.agent("api").Reachability, c3po.ReachNow)

		h.stopped.put(7, true)
		pass(2 * time.Second)
		same(t, "halted", h.agent("api").Reachability, c3po.ReachUnknown)
		written := h.calls.of("Attach")
		pass(time.Minute)
		same(t, "writes while it stays halted", h.calls.of("Attach")-written, 0)

		h.send("web", "api", "Which port?")
		first.result(t) // the kernel has taken it, and nobody reads it
		for _, later := range []time.Duration{time.Second, 10 * time.Second, 5 * time.Minute} {
			pass(later)
			same(t, "its wait was answered", h.agent("api").Reachability, c3po.ReachUnknown)
		}

		h.stopped.put(7, false)
		pass(2 * time.Second)
		seq := first.result(t).Seq
		second := start(func() (c3po.PendingResult, error) {
			return h.As(caller).Pending(t.Context(), c3po.PendingInput{Timeout: 30, After: &seq, State: c3po.SessionIdle})
		})
		pass(time.Second)
		same(t, "it goes on", h.agent("api").Reachability, c3po.ReachNow)
		second.result(t)
		pass(10 * time.Second)
		same(t, "it has left", h.agent("api").State, c3po.SessionState(""))
	})
}

func TestACallThatWaitsIsHeardThoughAnotherProcessOfItsAgentIsHalted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		caller := c3po.Caller{ID: "api", Role: c3po.RoleAgent, Route: "rest", PID: 7}
		session := start(func() (c3po.PendingResult, error) {
			return h.As(caller).Pending(t.Context(), c3po.PendingInput{Timeout: 60, State: c3po.SessionIdle})
		})
		h.stopped.put(7, true)
		pass(2 * time.Second)
		same(t, "halted", h.agent("api").Reachability, c3po.ReachUnknown)
		shell := caller
		shell.PID = 8
		call := start(func() (c3po.WaitResult, error) {
			return h.As(shell).WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 20})
		})
		pass(2 * time.Second)
		same(t, "a call beside it", h.agent("api").Reachability, c3po.ReachNow)
		call.result(t)
		pass(2 * time.Second)
		same(t, "after the call", h.agent("api").Reachability, c3po.ReachUnknown)
		session.result(t)
	})
}
