package hub_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// join registers agents with capabilities.
func (h *testHub) join(id c3po.AgentID, capabilities ...string) {
	h.t.Helper()
	must(h.as(id).RegisterAgent(h.t.Context(), c3po.RegisterInput{Capabilities: capabilities}))(h.t)
}

func (h *testHub) claim(id c3po.AgentID, message c3po.MessageID) c3po.Message {
	h.t.Helper()
	a := h.as(id)
	m := must(a.Claim(h.t.Context(), c3po.MessageInput{MessageID: message}))(h.t)
	a.Delivered()
	return m
}

func TestAMessageToAQueueWakesOneMemberWhoHoldsIt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("asker")
		h.join("w1", "review")
		h.join("w2", "review")
		first, second := h.waitFor("w1", c3po.WaitInput{Timeout: 60}), h.waitFor("w2", c3po.WaitInput{Timeout: 60})
		pass(time.Second)
		receipt := must(h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "look"}))(t)
		same(t, "to", receipt.ToAgent, c3po.AgentID("role/review"))
		same(t, "reachability", receipt.Reachability, c3po.ReachNow)
		same(t, "recipient", receipt.Recipient, c3po.Online)
		pass(time.Second)
		if first.isDone() == second.isDone() {
			t.Fatalf("woken: w1 %v, w2 %v; want one of them", first.isDone(), second.isDone())
		}
		holder, other, got := c3po.AgentID("w1"), c3po.AgentID("w2"), first
		if second.isDone() {
			holder, other, got = other, holder, second
		}
		m := got.atOnce(t)
		same(t, "text", m.Message.Message, "look")
		same(t, "holder", m.Claim.By, holder)
		same(t, "the holder's inbox", texts(h.inbox(holder)), []string{"look"})
		same(t, "the other's inbox", len(h.inbox(other)), 0)
		_, err := h.as(other).Claim(t.Context(), c3po.MessageInput{MessageID: receipt.ID})
		refused(t, err, c3po.Forbidden, string(holder))
		_, err = h.as(other).Reply(t.Context(), c3po.ReplyInput{MessageID: receipt.ID, Response: "mine"})
		refused(t, err, c3po.Forbidden, string(holder))

		answer := h.waitFor("asker", c3po.WaitInput{MessageID: receipt.ID, Timeout: 60})
		pass(time.Second)
		h.reply(holder, receipt.ID, "done")
		reply := answer.atOnce(t)
		same(t, "answer", reply.Response, "done")
		same(t, "from", reply.FromAgent, holder)
		same(t, "claimed", h.trace(receipt.ID).Claimed.By, holder)
		audit := must(h.as("asker").Fsck(t.Context(), c3po.None{}))(t)
		same(t, "fsck", audit.Problems, []string{})
	})
}

func TestAWaitForTheAnswerOfAQueueFollowsWhoClaimedIt(t *testing.T) {
	const run = "box:7:9"
	for name, test := range map[string]struct {
		claimFirst bool // before the wait
		settle     time.Duration
	}{
		"claimed before":                     {true, 10 * time.Second},
		"claimed during the wait":            {false, 10 * time.Second},
		"claimed and dead between two looks": {false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := build(t)
				h.enter("asker")
				h.join("other", "review")
				worker := h.asRun("box/w", run)
				must(worker.RegisterAgent(t.Context(), c3po.RegisterInput{Capabilities: []string{"review"}}))(t)
				sent := must(h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "look"}))(t)
				claim := func() {
					must(worker.Claim(t.Context(), c3po.MessageInput{MessageID: sent.ID}))(t)
					worker.Delivered()
				}
				if test.claimFirst {
					claim()
				}
				answer := h.waitFor("asker", c3po.WaitInput{MessageID: sent.ID, Timeout: 600})
				pass(time.Second)
				if !test.claimFirst {
					claim()
				}
				pass(test.settle)
				must(h.ProcessEnded(t.Context(), "main", "box/w", run))(t)
				pass(5 * time.Second)
				got := answer.atOnce(t).Outcome
				if got == nil || got.Status != c3po.WaitDied || !strings.Contains(got.Message, "'box/w' has died") || !strings.Contains(got.Message, "'review'") {
					t.Fatalf("the wait ended with %+v", got)
				}
				again := h.waitFor("asker", c3po.WaitInput{MessageID: sent.ID, Timeout: 600})
				pass(20 * time.Second)
				if again.isDone() {
					t.Fatal("a wait after the death ends by what was known before it")
				}
				h.claim("other", sent.ID)
				h.reply("other", sent.ID, "done")
				pass(time.Second)
				same(t, "answer", again.atOnce(t).Response, "done")
			})
		})
	}
}

func TestWhatAClientTookOfAQueuesMailIsRecorded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("asker", "stranger")
		h.join("w1", "review")
		sent := must(h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "look"}))(t)
		h.claim("w1", sent.ID)
		in := c3po.ReceivedInput{MessageIDs: []c3po.MessageID{sent.ID}}
		same(t, "a stranger's", must(h.as("stranger").Received(t.Context(), in))(t).NotYours, in.MessageIDs)
		if got := h.trace(sent.ID).Received; got != nil {
			t.Fatalf("a stranger took it: %+v", got)
		}
		same(t, "a member's", must(h.as("w1").Received(t.Context(), in))(t).Already, in.MessageIDs)
		if got := h.trace(sent.ID).Received; got == nil || !strings.HasPrefix(got.Session, "w1 ") {
			t.Errorf("received is %+v, want a session of w1", got)
		}
	})
}

func TestWhoHoldsAMessageOfAQueueIsToldThatItWasCancelled(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("asker")
		h.join("w1", "review")
		h.join("w2", "review")
		sent := must(h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "look"}))(t)
		h.claim("w1", sent.ID)
		got := must(h.as("asker").Cancel(t.Context(), c3po.MessageInput{MessageID: sent.ID}))(t)
		same(t, "words", got.Message, "Cancelled. 'w1' had read it and gets a notice.")
		mail := h.inbox("w1")
		if len(mail) != 1 || mail[0].Kind != c3po.KindCancelled || mail[0].MessageID != sent.ID {
			t.Errorf("the holder has %+v", mail)
		}
		same(t, "the other", len(h.inbox("w2")), 0)
	})
}

func TestAMessageToAQueueNobodyHasIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("asker")
		h.join("w1", "mqtt")
		send := func(from c3po.AgentID, target string) error {
			_, err := h.as(from).SendMessage(t.Context(), c3po.SendInput{Target: target, Message: "x"})
			return err
		}
		refused(t, send("asker", "role:review"), c3po.AgentNotFound, "review", "role:mqtt")
		refused(t, send("w1", "role:mqtt"), c3po.AgentNotFound, "no other agent")
		refused(t, send("asker", "role:"), c3po.InvalidRequest)
		refused(t, send("asker", "role:no spaces"), c3po.InvalidRequest)
		_, err := h.as("role/mqtt").WhoAmI(t.Context(), c3po.None{})
		refused(t, err, c3po.InvalidRequest, "reserved")
	})
}

func TestAMembersInboxHoldsTheMailOfItsQueuesInReadingOrder(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("asker")
		h.join("w1", "review", "mqtt")
		send := func(target, text string, priority c3po.Priority) {
			must(h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: target, Message: text, Priority: priority}))(t)
		}
		send("role:review", "1", "")
		send("w1", "2", "")
		send("role:mqtt", "3", "")
		send("w1", "4", "")
		send("role:review", "0", c3po.Urgent)
		same(t, "inbox", texts(h.inbox("w1")), []string{"0", "1", "2", "3", "4"})
		var paged []string
		cursor := ""
		for {
			page := must(h.as("w1").Peek(t.Context(), c3po.GetMessagesInput{Limit: 2, Cursor: cursor}))(t)
			paged = append(paged, texts(page.Messages)...)
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		same(t, "pages", paged, []string{"0", "1", "2", "3", "4"})
		pending := must(h.as("w1").Pending(t.Context(), c3po.PendingInput{}))(t)
		same(t, "pending", pending.Count, 5)
		same(t, "a stranger's inbox", len(h.inbox("asker")), 0)
	})
}

func TestAClaimGoesBackToThoseWhoWaitWhenItsHolderFallsSilent(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("asker")
		h.join("w1", "review")
		h.join("w2", "review")
		id := must(h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "look"}))(t).ID
		h.claim("w1", id)
		waiting := h.waitFor("w2", c3po.WaitInput{Timeout: 3600})
		pass(c3po.DefaultLimits().ClaimLease - time.Minute)
		h.inbox("w1") // any call extends the lease
		pass(10 * time.Minute)
		same(t, "given away too early", waiting.isDone(), false)
		pass(6 * time.Minute)
		m := waiting.atOnce(t)
		same(t, "message", m.ID, id)
		same(t, "claim", m.Claim.By, c3po.AgentID("w2"))
		result := must(h.as("w1").AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{id}}))(t)
		same(t, "stale", result.Stale, []c3po.MessageID{id})
		result = must(h.as("w2").AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{id}}))(t)
		same(t, "acked", result.Acked, []c3po.MessageID{id})
	})
}

func TestAWaitThatWasCutOffAfterItsClaimLosesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("asker")
		h.join("w1", "review")
		must(h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "look"}))(t)
		after := int64(0)
		// The answer is made and never written: its mail was not served.
		lost := must(h.Hub.As(c3po.Caller{ID: "w1", Route: "mcp"}).WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1, After: &after}))(t)
		same(t, "lost", lost.Message.Message, "look")
		again := must(h.as("w1").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1, After: &after}))(t)
		same(t, "again", again.Message.Message, "look")
		// It was written, but lost on the way: the reader is not where it would be.
		if again.Cursor <= after {
			t.Fatalf("the reader was told to stay at %d", again.Cursor)
		}
		pass(2 * time.Second)
		third := must(h.as("w1").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1, After: &after}))(t)
		same(t, "third", third.Message.Message, "look")
		pass(2 * time.Second)
		fourth := must(h.as("w1").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1, After: &third.Cursor}))(t)
		if fourth.Outcome == nil {
			t.Errorf("given again: %+v", fourth.Message)
		}
	})
}

// A claimed store lets something happen right after a claim.
type claimed struct {
	store.Store
	then func()
}

func (c *claimed) Claim(ctx context.Context, space c3po.Space, step store.ClaimStep) (store.Claimed, error) {
	got, err := c.Store.Claim(ctx, space, step)
	if then := c.then; got.Entry != nil && then != nil {
		c.then = nil
		then()
	}
	return got, err
}

func TestMailThatComesWhileATaskIsHandedOverIsTheNextThatIsRead(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		between := &claimed{}
		h := configured(t, func(c *hub.Config) { between.Store, c.Store = c.Store, between })
		h.enter("asker")
		h.join("w1", "review")
		must(h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "look"}))(t)
		between.then = func() { h.send("asker", "w1", "and by the way") }
		after := int64(0)
		task := must(h.as("w1").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1, After: &after}))(t)
		same(t, "the task", task.Message.Message, "look")
		mail := must(h.as("w1").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1, After: &task.Cursor}))(t)
		same(t, "the mail", mail.Message.Message, "and by the way")
		same(t, "unacked", []int{task.Unacked, mail.Unacked}, []int{2, 1})
		none := must(h.as("w1").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1, After: &mail.Cursor}))(t)
		if none.Outcome == nil {
			t.Errorf("given again: %+v", none.Message)
		}
	})
}

func TestEveryTaskOfABurstFindsAWaiter(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { l.SendsPerMinute = 0 })
		h.enter("asker")
		workers := []c3po.AgentID{"w1", "w2", "w3", "w4", "w5"}
		var waits []*later[c3po.WaitResult]
		for _, id := range workers {
			h.join(id, "review")
			waits = append(waits, h.waitFor(id, c3po.WaitInput{Timeout: 60}))
		}
		pass(time.Second)
		seen := map[string]bool{}
		for _, text := range []string{"a", "b", "c", "d", "e"} {
			must(h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: text}))(t)
		}
		pass(time.Second)
		for _, wait := range waits {
			seen[wait.atOnce(t).Message.Message] = true
		}
		same(t, "different tasks", len(seen), len(workers))
	})
}

func TestAQueueTakenOnAtAnotherCoordinatorIsKnownSoon(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		other := h.neighbour()
		h.enter("asker", "w1")
		other.join("w1", "review")
		must(h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "look"}))(t)
		pass(c3po.DefaultLimits().SeenEvery + time.Second)
		same(t, "inbox", texts(h.inbox("w1")), []string{"look"})
	})
}

func TestAReceiptForAQueueSaysWhenNoMemberIsThere(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.join("w1", "review")
		pass(time.Hour)
		h.enter("asker")
		receipt := must(h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "look"}))(t)
		same(t, "reachability", receipt.Reachability, c3po.ReachOffline)
		if receipt.Notice == "" {
			t.Error("no word about it")
		}
		_, err := h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "now", IfAway: "fail"})
		refused(t, err, c3po.AgentUnavailable)
		_, err = h.as("asker").Claim(t.Context(), c3po.MessageInput{MessageID: receipt.ID})
		refused(t, err, c3po.Forbidden, "register_agent")
	})
}

func TestAnOperationThatIsSaidToChangeNothingClaimsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("a")
		must(h.as("b").RegisterAgent(t.Context(), c3po.RegisterInput{Capabilities: []string{"review"}}))(t)
		task := must(h.as("a").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "for one of you"}))(t).ID
		for _, op := range dialect.Operations() {
			if !op.ReadOnly {
				continue
			}
			for _, arguments := range []string{`{}`, `{"timeout": 1}`} {
				_, _ = op.Call(t.Context(), h.as("b").Actor, []byte(arguments))
				if claim := must(h.calls.Message(t.Context(), c3po.DefaultSpace, task))(t).Facts.Claim; claim != nil {
					t.Fatalf("%s claims", op.Name)
				}
			}
		}
		got := must(h.as("b").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1}))(t)
		same(t, "a wait claims", got.ID, task)
	})
}

// The host of a closed session hears only of the mail of that session.
func TestAReceiptOfAQueueNeverSaysThatMailStartsAClosedMember(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann")
		h.join("bob", "review")
		must(h.as("bob").Unregister(t.Context(), c3po.None{}))(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go h.as("bob").Pending(ctx, c3po.PendingInput{Timeout: 3600, State: c3po.SessionClosed})
		pass(time.Second)
		same(t, "its own mail", h.agent("bob").Reachability, c3po.ReachStarts)
		receipt := must(h.as("ann").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "look"}))(t)
		same(t, "the queue's", receipt.Reachability, c3po.ReachOffline)
	})
}

// Sessions wait all the time, so the member that sends its queue a task waits itself.
func TestAMemberThatWaitsHandsWorkToAnotherThatWaits(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { l.SendsPerMinute = 0 })
		h.join("m1", "review")
		h.join("m2", "review")
		h.join("m3", "review")
		h.join("worker", "review")
		must(h.asPerson().Pause(t.Context(), c3po.PauseInput{AgentID: "m3"}))(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go h.as("m1").Pending(ctx, c3po.PendingInput{Timeout: 3000})
		h.waitFor("m2", c3po.WaitInput{Timeout: 3000, Kind: c3po.KindIncoming})
		h.waitFor("m3", c3po.WaitInput{Timeout: 3000})
		pass(time.Second)
		must(h.as("m2").SendMessage(t.Context(), c3po.SendInput{Target: "m2", Message: "busy"}))(t) // m2 no longer waits
		for round := range 100 {
			waiting := h.waitFor("worker", c3po.WaitInput{Timeout: 60})
			pass(time.Second)
			id := must(h.as("m1").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: fmt.Sprint("task ", round)}))(t).ID
			pass(500 * time.Millisecond)
			if !waiting.isDone() {
				t.Fatalf("round %d: the other member still sleeps", round)
			}
			same(t, "task", waiting.atOnce(t).ID, id)
			must(h.as("worker").AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{id}}))(t)
		}
	})
}

func TestAPausedMemberTakesNoTask(t *testing.T) {
	t.Parallel()
	for name, whom := range map[string]c3po.PauseInput{"the member": {AgentID: "m1"}, "the space": {All: true}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := build(t)
				h.enter("asker")
				h.join("m1", "review")
				must(h.asPerson().Pause(t.Context(), c3po.PauseInput{AgentID: "m1"}))(t)
				id := must(h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "look"}))(t).ID
				must(h.asPerson().Pause(t.Context(), whom))(t)
				same(t, "first it learns that it is paused", h.waitFor("m1", c3po.WaitInput{Timeout: 600}).atOnce(t).Outcome.Status, c3po.WaitPaused)
				paused := h.waitFor("m1", c3po.WaitInput{Timeout: 600})
				pass(time.Minute)
				same(t, "the paused member has taken it", paused.isDone(), false)
				_, err := h.as("m1").Claim(t.Context(), c3po.MessageInput{MessageID: id})
				refused(t, err, c3po.AgentUnavailable, "paused")
				must(h.asPerson().Resume(t.Context(), c3po.PauseInput{AgentID: "m1"}))(t)
				must(h.asPerson().Resume(t.Context(), whom))(t)
				pass(time.Minute)
				same(t, "task", paused.atOnce(t).ID, id)
			})
		})
	}
}
