package hub_test

import (
	"context"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// soon is how long after the last word of another run mail starts the session again.
const soon = 5 * time.Second

func TestMailStartsAClosedSessionAgainOnceAnotherRunOfItsNameHasEnded(t *testing.T) {
	for name, use := range map[string]struct {
		calls  func(t *testing.T, here, other *testHub)
		silent time.Duration // until nothing is heard of the caller
	}{
		"a run on its coordinator that leaves": {func(t *testing.T, here, _ *testHub) {
			must(here.asRun("bob", "r2").Ping(t.Context(), c3po.None{}))(t)
			same(t, "status while it calls", here.agent("bob").Status, c3po.Online)
			pass(10 * time.Second)
			must(here.asRun("bob", "r2").Unregister(t.Context(), c3po.None{}))(t)
		}, 0},
		"a run on another coordinator that leaves": {func(t *testing.T, _, other *testHub) {
			must(other.asRun("bob", "r2").Ping(t.Context(), c3po.None{}))(t)
			pass(10 * time.Second)
			must(other.asRun("bob", "r2").Unregister(t.Context(), c3po.None{}))(t)
		}, 0},
		"a script that falls silent": {func(t *testing.T, here, _ *testHub) {
			for range 20 {
				must(here.as("bob").Ping(t.Context(), c3po.None{}))(t)
				pass(10 * time.Second)
				same(t, "status while it calls", here.agent("bob").Status, c3po.Online)
			}
			must(here.as("bob").Ping(t.Context(), c3po.None{}))(t)
		}, c3po.DefaultLimits().OnlineWindow},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				here := build(t)
				other := here.neighbour()
				here.enter("bob")
				must(here.as("bob").Unregister(t.Context(), c3po.None{}))(t)
				ctx, hangUp := context.WithCancel(t.Context())
				defer hangUp()
				go here.as("bob").Pending(ctx, c3po.PendingInput{Timeout: 3600, State: c3po.SessionClosed})
				pass(time.Minute)
				use.calls(t, here, other)
				pass(use.silent + soon)
				for _, at := range []*testHub{here, other} {
					same(t, "reachability", at.agent("bob").Reachability, c3po.ReachStarts)
					same(t, "status", at.agent("bob").Status, c3po.Offline)
				}
				before := here.calls.of("Attach")
				pass(10 * time.Minute)
				same(t, "writes for a session that stays closed", here.calls.of("Attach")-before, 0)
			})
		})
	}
}

// The coordinator where its host waits hears nothing of an anonymous call elsewhere.
func TestTheNextSliceOfAWaitForAClosedSessionFindsThatAnotherHadItsName(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		here := build(t)
		other := here.neighbour()
		here.enter("bob")
		must(here.as("bob").Unregister(t.Context(), c3po.None{}))(t)
		ctx, hangUp := context.WithCancel(t.Context())
		defer hangUp()
		go func() {
			for ctx.Err() == nil {
				_, _ = here.as("bob").Pending(ctx, c3po.PendingInput{Timeout: 50, State: c3po.SessionClosed})
			}
		}()
		pass(75 * time.Second)
		same(t, "writes for two slices", here.calls.of("Attach"), 1)
		must(other.as("bob").Ping(t.Context(), c3po.None{}))(t)
		pass(c3po.DefaultLimits().OnlineWindow + 50*time.Second + soon)
		same(t, "reachability", other.agent("bob").Reachability, c3po.ReachStarts)
	})
}

// A start is recorded up to a sequence, by its words: other words for later mail do not make
// it one for a message that had ended.
func TestAStartForLaterMailIsNotAFactOfAMessageThatHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob", "web")
		started := func(up int64, words string) {
			t.Helper()
			must(h.as("bob").Received(t.Context(), c3po.ReceivedInput{Started: words, Notified: up}))(t)
			pass(5 * time.Second)
		}
		starts := func(id c3po.MessageID) int {
			t.Helper()
			return len(must(h.as("web").Trace(t.Context(), c3po.MessageInput{MessageID: id}))(t).Started)
		}
		first := h.send("web", "bob", "Which port?")
		started(first.Seq, "codex 1")
		started(first.Seq, "codex 1, attempt 2")
		same(t, "starts of the first", starts(first.ID), 2)
		must(h.as("bob").Reply(t.Context(), c3po.ReplyInput{MessageID: first.ID, Response: "8420"}))(t)
		pass(time.Second)
		second := h.send("web", "bob", "Which host?")
		started(second.Seq, "codex 1, attempt 3")
		same(t, "starts of the first after one for the second", starts(first.ID), 2)
		same(t, "starts of the second", starts(second.ID), 1)
	})
}

// Its client takes seconds to end after the session has said goodbye, and only then its host
// waits for mail.
func TestASessionThatMailHasResumedIsStartedByMailFromItsLastMomentOn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		here := build(t)
		other := here.neighbour()
		run := c3po.Caller{ID: "bob", Run: "pi:7:1", Session: "s", Role: c3po.RoleAgent}
		must(here.As(run).RegisterAgent(t.Context(), c3po.RegisterInput{}))(t)
		own, hangUp := context.WithCancel(t.Context())
		go here.As(run).Pending(own, c3po.PendingInput{Timeout: 3600, State: c3po.SessionWorking})
		pass(time.Minute)
		asks := func(h *testHub) *later[c3po.WaitResult] {
			question := h.send("web", "bob", "Which port?")
			return h.waitFor("web", c3po.WaitInput{MessageID: question.ID, Timeout: 60})
		}
		near, far := asks(here), asks(other)
		pass(time.Second)
		run.Closed = true
		must(here.As(run).Unregister(t.Context(), c3po.None{}))(t)
		for _, at := range []*testHub{here, other} {
			same(t, "reachability at once", at.agent("bob").Reachability, c3po.ReachStarts)
			same(t, "status at once", at.agent("bob").Status, c3po.Offline)
			must(at.as("web").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "And which host?", IfAway: "fail"}))(t)
		}
		hangUp()
		pass(time.Second)
		must(here.ProcessEnded(t.Context(), "main", "bob", "pi:7:1"))(t)
		same(t, "reachability once its process is over", other.agent("bob").Reachability, c3po.ReachStarts)
		same(t, "the asker here waits on", near.isDone(), false)
		same(t, "the asker elsewhere waits on", far.isDone(), false)
		pass(soon)
		same(t, "reachability if no host comes", here.agent("bob").Reachability, c3po.ReachOffline)
		pass(soon)
		same(t, "reachability elsewhere if no host comes", other.agent("bob").Reachability, c3po.ReachOffline)
	})
}
