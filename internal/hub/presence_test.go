package hub_test

import (
	"context"
	"log/slog"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/node"
	"github.com/c3po-dev/c3po/internal/store/storetest"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

func TestWaitingInSlicesIsWrittenDownOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		for range 20 {
			must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 50}))(t)
		}
		same(t, "attached", h.calls.of("Attach"), 1)
		same(t, "detached", h.calls.of("Detach"), 0)
		same(t, "reachability between two slices", h.agent("bob").Reachability, c3po.ReachNow)
		pass(5 * time.Second)
		same(t, "detached when it stopped waiting", h.calls.of("Detach"), 1)
		same(t, "reachability then", h.agent("bob").Reachability, c3po.ReachNextCall)
	})
}

func TestSeveralWaitsOfAnAgentAreOneAttachment(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		short := h.waitFor("bob", c3po.WaitInput{Timeout: 10})
		long := h.waitFor("bob", c3po.WaitInput{Timeout: 100})
		short.result(t)
		pass(10 * time.Second)
		same(t, "attached", h.calls.of("Attach"), 1)
		same(t, "detached while one still waits", h.calls.of("Detach"), 0)
		same(t, "reachability", h.agent("bob").Reachability, c3po.ReachNow)
		long.result(t)
	})
}

func TestAWaitThatFindsMailAtOnceIsNotWrittenDown(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		h.send("alice", "bob", "hi")
		must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{}))(t)
		same(t, "attached", h.calls.of("Attach"), 0)
	})
}

func TestAnAgentThatWaitsForLongStaysOnline(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		wait := h.waitFor("bob", c3po.WaitInput{Timeout: 3600})
		for range 50 {
			pass(time.Minute)
			same(t, "status", h.agent("bob").Status, c3po.Online)
		}
		if n := h.calls.of("RenewLease"); n < 120 || n > 130 {
			t.Errorf("the lease was renewed %d times in 50 minutes, want every 24 s", n)
		}
		wait.result(t)
		pass(time.Minute)
		before := h.calls.of("RenewLease")
		pass(10 * time.Minute)
		same(t, "renewals when nobody is left", h.calls.of("RenewLease")-before, 0)
	})
}

func TestACoordinatorThatStopsLetsItsAgentsGo(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		other := h.neighbour()
		wait := h.waitFor("bob", c3po.WaitInput{})
		same(t, "before", other.agent("bob").Reachability, c3po.ReachNow)
		h.stop()
		same(t, "the wait's end", wait.atOnce(t).Outcome.Status, c3po.WaitRetry)
		same(t, "after", other.agent("bob").Reachability, c3po.ReachNextCall)
	})
}

func TestAnAgentThatComesBackIsAttachedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.waitFor("bob", c3po.WaitInput{Timeout: 1}).result(t)
		must(h.as("bob").Unregister(t.Context(), c3po.None{}))(t)
		// Within the time its last place is kept for it.
		wait := h.waitFor("bob", c3po.WaitInput{Timeout: 10})
		same(t, "reachability", h.agent("bob").Reachability, c3po.ReachNow)
		wait.result(t)
	})
}

func TestAnAgentThatIsRegisteredAnewWhileItWaitsIsAttachedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		other := h.neighbour()
		wait := h.waitFor("bob", c3po.WaitInput{Timeout: 10})
		must(other.as("bob").Unregister(t.Context(), c3po.None{}))(t)
		h.enter("bob")
		wait.result(t)
		wait = h.waitFor("bob", c3po.WaitInput{Timeout: 10})
		same(t, "reachability in the next slice", h.agent("bob").Reachability, c3po.ReachNow)
		wait.result(t)
	})
}

func TestAnAgentThatMovesBetweenCoordinatorsStaysAttached(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		other := h.neighbour()
		for range 5 {
			for _, node := range []*testHub{h, other} {
				wait := node.waitFor("bob", c3po.WaitInput{Timeout: 1})
				same(t, "reachability", h.agent("bob").Reachability, c3po.ReachNow)
				wait.result(t)
			}
		}
		wait := h.waitFor("bob", c3po.WaitInput{Timeout: 20})
		pass(10 * time.Second) // the other one has let go of it by now
		same(t, "reachability", h.agent("bob").Reachability, c3po.ReachNow)
		wait.result(t)
	})
}

func TestAWaitWorksWhenItsPresenceCannotBeWritten(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		for _, call := range []string{"Attach", "Detach", "RenewLease"} {
			h.calls.failWith(call, c3po.Errorf(c3po.StoreFull, "full"))
		}
		wait := h.waitFor("bob", c3po.WaitInput{})
		h.send("alice", "bob", "hi")
		same(t, "mail", wait.atOnce(t).Text(), "hi")
	})
}

func TestAnAgentWhoseWaitCouldNotBeWrittenDownIsAttachedOnceItCan(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		h.calls.failWith("Attach", c3po.Errorf(c3po.RedisUnavailable, "Redis cannot be reached"))
		wait := h.waitFor("bob", c3po.WaitInput{Timeout: 3600})
		pass(time.Minute)
		h.calls.failWith("Attach", nil)
		pass(5 * time.Second)
		same(t, "reachability", h.agent("bob").Reachability, c3po.ReachNow)
		tries := h.calls.of("Attach")
		pass(time.Minute)
		same(t, "attached after it was", h.calls.of("Attach"), tries)
		h.send("alice", "bob", "hi")
		same(t, "mail", wait.atOnce(t).Text(), "hi")
	})
}

func TestAnAgentThatMayNotBeAttachedIsNotTriedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		h.calls.failWith("Attach", c3po.Errorf(c3po.AgentNotFound, "no such agent"))
		wait := h.waitFor("bob", c3po.WaitInput{Timeout: 100})
		pass(time.Minute)
		same(t, "tries", h.calls.of("Attach"), 1)
		wait.result(t)
	})
}

// A session process that was killed says no goodbye, and nobody calls for it any more.
func TestARunWhoseConnectionIsCutIsSoonOffline(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		cut := func(who actor) {
			ctx, hangUp := context.WithCancel(t.Context())
			wait := start(func() (c3po.WaitResult, error) { return who.WaitForMessage(ctx, c3po.WaitInput{Timeout: 600}) })
			pass(time.Minute)
			hangUp()
			<-wait.done
		}
		bob := c3po.AgentID("bob")
		cut(h.asRun(bob, "host:1:1"))
		pass(5 * time.Second)
		same(t, "status of a run that was cut off", h.agent(bob).Status, c3po.Offline)
		same(t, "id of the next", must(h.asRun(bob, "host:2:2").RegisterAgent(t.Context(), c3po.RegisterInput{}))(t).ID, bob)

		cut(h.asRun(bob, "host:2:2"))
		again := start(func() (c3po.WaitResult, error) {
			return h.asRun(bob, "host:2:2").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 20})
		})
		pass(10 * time.Second)
		same(t, "status of one that came back at once", h.agent(bob).Status, c3po.Online)
		again.result(t)
		pass(5 * time.Second)
		same(t, "status after a wait that ended by itself", h.agent(bob).Status, c3po.Online)

		cut(h.as("carol"))
		pass(5 * time.Second)
		same(t, "status of a caller without a run", h.agent("carol").Status, c3po.Online)
	})
}

// A runner waits for an agent that its own session process cannot wake: mail wakes it all
// the same, for as long as the runner waits.
func TestAnAgentSleepsWhileNoneOfItsWaitsWakesIt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		ctx, hangUp := context.WithCancel(t.Context())
		defer hangUp()
		h.enter("bob")
		asleep := h.as("bob")
		go asleep.Pending(ctx, c3po.PendingInput{Timeout: 3600, Asleep: true})
		pass(time.Second)
		same(t, "asleep", h.agent("bob").Reachability, c3po.ReachPersonReturns)
		awake := h.waitFor("bob", c3po.WaitInput{Timeout: 10})
		pass(time.Second)
		same(t, "with one that wakes it", h.agent("bob").Reachability, c3po.ReachNow)
		awake.result(t)
		pass(5 * time.Second)
		same(t, "when that has ended", h.agent("bob").Reachability, c3po.ReachPersonReturns)
		same(t, "written", h.calls.of("Attach"), 3)
	})
}

func TestAnAgentWhoseWaitWasCutOffIsNotSaidToWake(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		ctx, hangUp := context.WithCancel(t.Context())
		h.enter("bob")
		go h.as("bob").WaitForMessage(ctx, c3po.WaitInput{Timeout: 3600})
		pass(time.Second)
		same(t, "while it waits", h.agent("bob").Reachability, c3po.ReachNow)
		hangUp()
		pass(10 * time.Millisecond)
		same(t, "when its wait was cut off", h.agent("bob").Reachability, c3po.ReachNextCall)
	})
}

func TestAnAgentWhoseWaitHasEndedIsNotSaidToWake(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		wait := h.waitFor("bob", c3po.WaitInput{Timeout: 60})
		pass(time.Second)
		same(t, "while it waits", h.agent("bob").Reachability, c3po.ReachNow)
		h.send("alice", "bob", "hi")
		wait.result(t)
		pass(10 * time.Millisecond)
		same(t, "when its wait brought mail", h.agent("bob").Reachability, c3po.ReachNextCall)

		// Of a wait that was over nobody knows whether it was a slice of a longer one.
		h.waitFor("bob", c3po.WaitInput{Timeout: 10}).result(t)
		same(t, "when its time was over", h.agent("bob").Reachability, c3po.ReachNow)
		pass(510 * time.Millisecond)
		same(t, "when no other wait has followed", h.agent("bob").Reachability, c3po.ReachNextCall)
	})
}

func TestAnotherCoordinatorSeesThatAWaitIsOver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		other := h.neighbour()
		h.enter("bob")
		wait := h.waitFor("bob", c3po.WaitInput{Timeout: 60})
		pass(time.Second)
		h.send("alice", "bob", "hi")
		wait.result(t)
		pass(260 * time.Millisecond)
		same(t, "when its wait brought mail", other.agent("bob").Reachability, c3po.ReachNextCall)
	})
}

func TestAnAgentThatWaitsAgainAtOnceIsWrittenDownOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		for i := range 8 {
			wait := h.waitFor("bob", c3po.WaitInput{Timeout: 60})
			pass(time.Second)
			same(t, "while it waits", h.agent("bob").Reachability, c3po.ReachNow)
			h.send("alice", "bob", strconv.Itoa(i))
			wait.result(t)
			pass(10 * time.Millisecond)
			same(t, "between two waits", h.agent("bob").Reachability, c3po.ReachNextCall)
		}
		same(t, "attached", h.calls.of("Attach"), 1)
	})
}

// What is due a quarter of a second after one wait falls between two later ones.
func TestABusyAgentIsWrittenDownOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		for i := range 10 {
			wait := h.waitFor("bob", c3po.WaitInput{Timeout: 60})
			pass(60 * time.Millisecond)
			h.send("alice", "bob", strconv.Itoa(i))
			wait.result(t)
			pass(60 * time.Millisecond)
		}
		same(t, "attached", h.calls.of("Attach"), 1)
		pass(260 * time.Millisecond)
		same(t, "attached and said to wait no longer", h.calls.of("Attach"), 2)
		same(t, "reachability once it waits no longer", h.agent("bob").Reachability, c3po.ReachNextCall)
	})
}

// Its place at the first coordinator is gone when it comes back, however soon.
func TestAnAgentWhoseMailComesElsewhereIsAttachedWhereItWaits(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		other := h.neighbour()
		h.enter("bob")
		for i := range 3 {
			for j, node := range []*testHub{h, other} {
				wait := node.waitFor("bob", c3po.WaitInput{Timeout: 60})
				pass(10 * time.Millisecond)
				sent := h.send("alice", "bob", strconv.Itoa(2*i+j))
				wait.result(t)
				must(node.as("bob").AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{sent.ID}}))(t)
			}
		}
		wait := h.waitFor("bob", c3po.WaitInput{Timeout: 60})
		pass(10 * time.Second)
		for _, node := range []*testHub{h, other} {
			same(t, "reachability", node.agent("bob").Reachability, c3po.ReachNow)
		}
		wait.result(t)
	})
}

// At a thousand messages a second three thousand agents have left in the last three seconds.
// It does not run beside others: what they allocate would count.
func TestAWaitThatBringsMailCostsLittleHoweverManyDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := node.NewPresence(storetest.NewModel(c3po.DefaultLimits()), slog.New(slog.DiscardHandler), "node-1", time.Minute, nil)
		ended := make(chan struct{})
		go func() {
			p.RunDetaches(ctx)
			close(ended)
		}()
		wait := func(n int) {
			for i := range n {
				leave := p.Attach(ctx, "main", c3po.AgentID(strconv.Itoa(i%100)), "node-1", node.Wait{State: c3po.SessionWaiting})
				pass(time.Millisecond)
				leave(true, false)
			}
		}
		wait(4_000)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		wait(1_000)
		runtime.ReadMemStats(&after)
		bytes := int(after.TotalAlloc-before.TotalAlloc) / 1_000
		t.Logf("a wait that brings mail allocates %d bytes for its presence", bytes)
		faultrig.Hold(t, "bytes of a wait that brings mail", bytes, 8<<10)
		cancel()
		<-ended
	})
}

func TestASenderIsToldWhatTheSessionDoes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		for state, want := range map[c3po.SessionState]c3po.Reachability{
			c3po.SessionIdle: c3po.ReachNow, c3po.SessionWorking: c3po.ReachNextStep, c3po.SessionFailed: c3po.ReachRetry, c3po.SessionDialog: c3po.ReachDialog,
			c3po.SessionUnarmed: c3po.ReachPersonReturns, c3po.SessionOff: c3po.ReachOff, c3po.SessionUnattended: c3po.ReachNextSession,
			c3po.SessionUnknown: c3po.ReachUnknown,
		} {
			ctx, hangUp := context.WithCancel(t.Context())
			go h.as("bob").Pending(ctx, c3po.PendingInput{Timeout: 3600, State: state})
			pass(time.Second)
			same(t, "state", h.agent("bob").State, state)
			same(t, "reachability of "+string(state), h.agent("bob").Reachability, want)
			hangUp()
			pass(time.Second)
		}
	})
}

func TestMailStartsAClosedSessionForAsLongAsItsHostWaits(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		must(h.as("bob").Unregister(t.Context(), c3po.None{}))(t)
		ctx, hangUp := context.WithCancel(t.Context())
		host := start(func() (c3po.PendingResult, error) {
			return h.as("bob").Pending(ctx, c3po.PendingInput{Timeout: 3600, State: c3po.SessionClosed})
		})
		pass(time.Minute)
		closed := h.agent("bob")
		same(t, "reachability", closed.Reachability, c3po.ReachStarts)
		same(t, "status", closed.Status, c3po.Offline)
		same(t, "state", closed.State, c3po.SessionClosed)
		word := must(h.as("web").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "FYI", ExpectsReply: new(bool)}))(t)
		same(t, "what a message says that expects no answer", word.Reachability, c3po.ReachOffline)
		same(t, "what its host hears of", len(host.result(t).Messages), 1)

		after := word.Seq
		again := start(func() (c3po.PendingResult, error) {
			return h.as("bob").Pending(ctx, c3po.PendingInput{Timeout: 3600, State: c3po.SessionClosed, After: &after})
		})
		pass(time.Second)
		question := h.send("web", "bob", "Which port?")
		same(t, "the receipt", question.Reachability, c3po.ReachStarts)
		again.result(t)
		const what = "claude-code 1234 on pi, by c3po attend, permission mode manual"
		must(h.as("bob").Received(t.Context(), c3po.ReceivedInput{Started: what, Notified: question.Seq}))(t)
		pass(5 * time.Second)
		trace := must(h.as("web").Trace(t.Context(), c3po.MessageInput{MessageID: question.ID}))(t)
		if len(trace.Started) != 1 || trace.Started[0].Session != what || len(trace.Notified) != 0 {
			t.Errorf("the trace says %+v, %+v", trace.Started, trace.Notified)
		}
		same(t, "status after a start", h.agent("bob").Status, c3po.Offline)
		same(t, "when its host waits no longer", h.agent("bob").Reachability, c3po.ReachOffline)

		go h.as("bob").Pending(ctx, c3po.PendingInput{Timeout: 3600, State: c3po.SessionClosed, After: &question.Seq})
		pass(time.Second)
		same(t, "who opens the session", must(h.As(c3po.Caller{ID: "bob", Run: "pi:7:1", Session: "s", Role: c3po.RoleAgent}).RegisterAgent(t.Context(), c3po.RegisterInput{}))(t).ID, c3po.AgentID("bob"))
		same(t, "when it is open", h.agent("bob").Status, c3po.Online)
		hangUp()
		pass(10 * time.Second)
		same(t, "when its host waits no longer for it to close", h.agent("bob").Status, c3po.Online)
	})
}

func TestWhatItsHostAsksAndAcksForAClosedSessionDoesNotOpenIt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob", "web")
		must(h.as("bob").Unregister(t.Context(), c3po.None{}))(t)
		host := h.As(c3po.Caller{ID: "bob", Role: c3po.RoleAgent, Closed: true})
		offline := func(after string) {
			t.Helper()
			same(t, "status after "+after, h.agent("bob").Status, c3po.Offline)
		}
		asked := must(host.EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "All starts are used up.", Question: "May I go on?"}))(t)
		offline("a question to the person")
		waits := h.waitFor("web", c3po.WaitInput{MessageID: h.send("web", "bob", "Which port?").ID, Timeout: 60})
		answer := must(h.As(c3po.Caller{ID: c3po.Human, Role: c3po.RoleHuman}).HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: asked.MessageID, Response: "yes"}))(t)
		must(host.AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{answer.ID}}))(t)
		offline("an ack")
		pass(30 * time.Second)
		if waits.isDone() {
			t.Errorf("the asker waits no longer: %+v", waits.result(t).Outcome)
		}
	})
}

func TestNobodyAttendsToAnAgentThatIsUnknownOrAnothers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		_, err := h.as("nobody").Pending(t.Context(), c3po.PendingInput{State: c3po.SessionClosed})
		refused(t, err, c3po.AgentNotFound)
		h.enter("bob")
		_, err = h.As(c3po.Caller{ID: "bob", Role: c3po.RoleAgent, Agents: "pi/*"}).Pending(t.Context(), c3po.PendingInput{State: c3po.SessionClosed})
		refused(t, err, c3po.Forbidden)
		_, err = h.as("bob").Received(t.Context(), c3po.ReceivedInput{Started: "something"})
		refused(t, err, c3po.InvalidRequest)
	})
}

// The store has the agent at its node by the new name, the node by the old one.
func TestAnAgentThatIsRenamedAfterItsLastWaitGoesOffline(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		stays := h.waitFor("alice", c3po.WaitInput{Timeout: 3600}) // so that the node's lease goes on
		must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1}))(t)
		must(h.as("bob").Rename(t.Context(), c3po.RenameInput{NewID: "robert"}))(t)
		pass(10 * time.Minute)
		same(t, "status", h.agent("robert").Status, c3po.Offline)
		stays.result(t)
	})
}

func TestAnAgentThatWaitsUnderItsNewNameStaysOnline(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1}))(t)
		must(h.as("bob").Rename(t.Context(), c3po.RenameInput{NewID: "robert"}))(t)
		wait := h.waitFor("robert", c3po.WaitInput{Timeout: 3600})
		pass(10 * time.Minute)
		same(t, "status", h.agent("robert").Status, c3po.Online)
		wait.result(t)
	})
}

// That it was seen is written once a second; the coordinator it called knows at once.
func TestAnAgentThatHasJustCalledIsNotCalledOffline(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob", "alice")
		pass(100 * time.Second)
		same(t, "after a silence", h.agent("bob").Status, c3po.Offline)
		must(h.as("bob").Ping(t.Context(), c3po.None{}))(t)
		receipt := must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "hi"}))(t)
		same(t, "the recipient", receipt.Recipient, c3po.Online)
		same(t, "as others see it", h.agent("bob").Status, c3po.Online)
		must(h.as("bob").Unregister(t.Context(), c3po.None{}))(t)
		same(t, "when it has left", h.agent("bob").Status, c3po.Offline)
	})
}
