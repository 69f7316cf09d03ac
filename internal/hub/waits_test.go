package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (h *testHub) waitFor(id c3po.AgentID, in c3po.WaitInput) *later[c3po.WaitResult] {
	return start(func() (c3po.WaitResult, error) { return h.as(id).WaitForMessage(h.t.Context(), in) })
}

func TestAWaitIsWokenByMailAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		wait := h.waitFor("bob", c3po.WaitInput{})
		began := time.Now()
		pass(10 * time.Second)
		if wait.isDone() {
			t.Fatal("the wait ended before there was mail")
		}
		sent := h.send("alice", "bob", "wake up")
		got := wait.result(t)
		if got.ID != sent.ID || got.Outcome != nil || got.Unacked != 1 || got.Cursor != sent.Seq || got.Redelivered || got.Deliveries != 1 {
			t.Errorf("got %+v", got)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("woken after %v, want at once after 10 s", took)
		}
		fields := wire(t, got)
		for _, field := range []string{"id", "from_agent", "message", "timestamp", "unacked", "seq"} {
			if fields[field] == nil {
				t.Errorf("%s is missing from %v", field, fields)
			}
		}
	})
}

func TestATimeoutIsAResultInTheDocumentsWords(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("meshtastic")
		began := time.Now()
		got := must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{}))(t)
		if took := time.Since(began); took != 60*time.Second {
			t.Errorf("the default wait took %v", took)
		}
		fields := wire(t, got)
		delete(fields, "seq")
		same(t, "no message", fields, map[string]any{
			"status": "timeout", "code": "TIMEOUT",
			"message":    "No message received within 60 seconds",
			"suggestion": "No messages are pending. You can continue with other work.",
		})

		sent := h.send("bob", "meshtastic", "question")
		got = must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: sent.ID, Timeout: 5}))(t)
		fields = wire(t, got)
		delete(fields, "seq")
		same(t, "no answer", fields, map[string]any{
			"status": "timeout", "code": "TIMEOUT", "message_id": string(sent.ID),
			"message":    "No response received within 5 seconds",
			"suggestion": "The target agent may be offline or busy. Check agent status with list_agents.",
		})

		asked := must(h.as("bob").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "May I?"}))(t)
		got = must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: asked.MessageID, Timeout: 5}))(t)
		same(t, "what to do while the user is away", got.Outcome.Suggestion, "The question stays open until your user answers it.")
	})
}

func TestATimeoutDoesNotDenyMailThatWaitsToBeAcked(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		h.send("alice", "bob", "read, not acked")
		h.inbox("bob")
		got := must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 2}))(t)
		same(t, "suggestion", got.Outcome.Suggestion, "Nothing new came; 1 earlier messages are not acked yet, get_messages shows them.")
		same(t, "unacked", got.Unacked, 1)
	})
}

func TestAWaitOfAnImpossibleLengthIsRefused(t *testing.T) {
	t.Parallel()
	h := build(t)
	below := int64(-1)
	for _, in := range []c3po.WaitInput{{Timeout: -1}, {Timeout: 3601}, {Kind: "outgoing"}, {After: &below}} {
		_, err := h.as("bob").WaitForMessage(t.Context(), in)
		refused(t, err, c3po.InvalidRequest)
	}
	_, err := h.as("bob").Pending(t.Context(), c3po.PendingInput{Timeout: 3601})
	refused(t, err, c3po.InvalidRequest)
}

func TestAWaitGivesEachMessageOnceASession(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		for _, text := range []string{"one", "two", "three"} {
			h.send("alice", "bob", text)
		}
		next := func(run string) string {
			return must(h.asRun("bob", run).WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1}))(t).Text()
		}
		var got []string
		for i := range 4 {
			got = append(got, next("r1"))
			if i == 1 {
				pass(3 * time.Second) // what was given is in the store by now
			}
		}
		same(t, "in one session", got, []string{"one", "two", "three", ""})
		pass(3 * time.Second)
		next("r1")
		same(t, "what the store is told again of what it knows", h.calls.given, 0)
		// Another session of the same run was given nothing yet.
		fresh := h.As(c3po.Caller{ID: "bob", Run: "r1", Session: "after /clear"})
		again := must(fresh.WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1}))(t)
		if again.Text() != "one" || !again.Redelivered || again.Deliveries != 2 {
			t.Errorf("a new session is given %+v", again)
		}
		// Nothing of it was consumed.
		same(t, "inbox", len(h.inbox("bob")), 3)
	})
}

func TestMailUpToAfterIsSkipped(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		first := h.send("alice", "bob", "one")
		h.send("alice", "bob", "two")
		got := must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{After: &first.Seq, Timeout: 1}))(t)
		same(t, "after the first", got.Text(), "two")
		end := must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{After: &got.Cursor, Timeout: 1}))(t)
		same(t, "after the second", end.Outcome.Status, c3po.WaitTimeout)
		if end.Cursor < got.Cursor {
			t.Errorf("the cursor went back from %d to %d", got.Cursor, end.Cursor)
		}
	})
}

func TestAWaitCanLeaveAnswersOut(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		sent := h.send("alice", "bob", "question")
		wait := h.waitFor("alice", c3po.WaitInput{Kind: c3po.KindIncoming, Timeout: 30})
		h.reply("bob", sent.ID, "answer")
		if wait.isDone() {
			t.Fatalf("an answer ended a wait for incoming mail: %+v", wait.got)
		}
		h.send("bob", "alice", "by the way")
		same(t, "incoming", wait.atOnce(t).Text(), "by the way")
		same(t, "any", must(h.as("alice").WaitForMessage(t.Context(), c3po.WaitInput{}))(t).Text(), "answer")
	})
}

func TestAWaitForAnAnswerIsForTheSenderOnly(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob", "carol")
		sent := h.send("alice", "bob", "question")
		_, err := h.as("carol").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: sent.ID})
		refused(t, err, c3po.Forbidden)
		_, err = h.as("alice").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: "alice::bob::00000000"})
		refused(t, err, c3po.InvalidRequest)

		wait := h.waitFor("alice", c3po.WaitInput{MessageID: sent.ID})
		h.send("carol", "alice", "something else")
		if wait.isDone() {
			t.Fatal("other mail ended the wait for an answer")
		}
		h.reply("bob", sent.ID, "first")
		h.reply("bob", sent.ID, "second")
		got := wait.atOnce(t)
		if got.Response != "first" || got.MessageID != sent.ID || got.FromAgent != "bob" || got.Status != "success" || got.Unacked != 3 {
			t.Errorf("got %+v", got)
		}
		// Asked again it is still the first, although it was acked.
		must(h.as("alice").AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{got.ID}}))(t)
		again := must(h.as("alice").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: sent.ID}))(t)
		same(t, "again", again.Response, "first")
	})
}

func TestASendCanWaitForItsAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		ask := func() *later[c3po.Receipt] {
			return start(func() (c3po.Receipt, error) {
				return h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "well?", WaitSeconds: 30})
			})
		}
		asked := ask()
		question := must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{}))(t)
		pass(5 * time.Second)
		h.reply("bob", question.ID, "yes")
		receipt := asked.atOnce(t)
		if receipt.Reply == nil || receipt.Reply.Response != "yes" || receipt.Wait != nil || receipt.Status != "pending" {
			t.Errorf("receipt = %+v", receipt)
		}
		receipt = ask().result(t)
		if receipt.Reply != nil || receipt.Wait == nil || receipt.Wait.Status != c3po.WaitTimeout || receipt.Wait.MessageID != receipt.ID {
			t.Errorf("receipt without an answer = %+v", receipt)
		}
	})
}

func TestAFailureWhileWaitingDoesNotHideThatTheMessageWasSent(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		h.calls.failWith("Message", c3po.Errorf(c3po.RedisUnavailable, "away"))
		receipt := must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "well?", WaitSeconds: 30}))(t)
		if receipt.ID == "" || receipt.Wait == nil || receipt.Wait.Status != c3po.WaitRetry {
			t.Errorf("receipt = %+v", receipt)
		}
	})
}

func TestACancelledWaitEndsAtOnceAndLosesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		ctx, cancel := context.WithCancel(t.Context())
		wait := start(func() (c3po.WaitResult, error) { return h.as("bob").WaitForMessage(ctx, c3po.WaitInput{}) })
		began := time.Now()
		cancel()
		<-wait.done
		if !errors.Is(wait.err, context.Canceled) || time.Since(began) != 0 {
			t.Errorf("the wait ended after %v with %v", time.Since(began), wait.err)
		}
		h.send("alice", "bob", "hi")
		same(t, "next", must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{}))(t).Text(), "hi")
	})
}

func TestDrainingSendsEveryWaitAwayWithTheWordToCallAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob", "alice")
		sent := h.send("alice", "bob", "question")
		must(h.as("bob").AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{sent.ID}}))(t)
		any := h.waitFor("bob", c3po.WaitInput{})
		answer := h.waitFor("alice", c3po.WaitInput{MessageID: sent.ID})
		pending := start(func() (c3po.PendingResult, error) {
			return h.as("bob").Pending(t.Context(), c3po.PendingInput{Timeout: 60})
		})
		began := time.Now()
		h.Drain()
		outcomes := []*c3po.WaitOutcome{
			any.result(t).Outcome, answer.result(t).Outcome, pending.result(t).Outcome,
			h.waitFor("bob", c3po.WaitInput{}).result(t).Outcome,
		}
		for i, o := range outcomes {
			if o == nil || o.Status != c3po.WaitRetry || o.Code != c3po.Timeout || o.RetryAfterMS < 200 || o.RetryAfterMS > 2000 {
				t.Errorf("wait %d ended with %+v", i, o)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("draining took %v", took)
		}
		same(t, "message_id", outcomes[1].MessageID, sent.ID)
		// Everything else goes on.
		h.send("alice", "bob", "still here")
	})
}

func TestPendingWaitsForMailWithoutTakingIt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		wait := start(func() (c3po.PendingResult, error) {
			return h.as("bob").Pending(t.Context(), c3po.PendingInput{Timeout: 60})
		})
		h.send("alice", "bob", "one")
		first := wait.atOnce(t)
		same(t, "woken", texts(first.Messages), []string{"one"})

		began := time.Now()
		must(h.as("bob").Pending(t.Context(), c3po.PendingInput{Timeout: 60}))(t)
		same(t, "with unacked mail it answers after", time.Since(began), time.Duration(0))

		none := must(h.as("bob").Pending(t.Context(), c3po.PendingInput{Timeout: 5, After: &first.Seq}))(t)
		same(t, "after what was seen", wire(t, none), map[string]any{"count": 1.0, "messages": []any{}, "seq": float64(first.Seq)})

		wait = start(func() (c3po.PendingResult, error) {
			return h.as("bob").Pending(t.Context(), c3po.PendingInput{Timeout: 60, After: &first.Seq})
		})
		h.send("alice", "bob", "two")
		same(t, "woken by new mail", texts(wait.atOnce(t).Messages), []string{"two"})
	})
}

func TestARunnerSeesThatThereIsMailAndNoWordOfIt(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("alice", "bob", "carol")
	const secret = "SECRET"
	said := json.RawMessage(`{"files":[{"path":"SECRET"}]}`)
	asked := must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{
		Target: "bob", Message: secret, Context: secret, Thread: secret, ContentType: "text/" + secret, Metadata: said,
		Attach: []c3po.FileID{uploaded(t, h.as("alice"), secret+".txt", []byte(secret)).ID},
	}))(t)
	must(h.as("bob").Reply(t.Context(), c3po.ReplyInput{
		MessageID: asked.ID, Response: secret, Status: c3po.ReplyHandedOver, HandedTo: "carol", Metadata: said,
	}))(t)
	for id, from := range map[c3po.AgentID][]c3po.AgentID{"alice": {"bob"}, "carol": {"alice"}} {
		runner := h.As(c3po.Caller{ID: id, Role: c3po.RoleRunner, Route: "rest"})
		for _, timeout := range []int{0, 5} {
			got := must(runner.Pending(t.Context(), c3po.PendingInput{Timeout: timeout}))(t)
			var writers []c3po.AgentID
			for _, m := range got.Messages {
				writers = append(writers, m.FromAgent)
			}
			same(t, "from whom", writers, from)
			if text := string(must(json.Marshal(got))(t)); strings.Contains(text, secret) {
				t.Errorf("a runner of %s reads %s", id, text)
			}
		}
		if text := string(must(json.Marshal(h.inbox(id)))(t)); !strings.Contains(text, secret) {
			t.Errorf("%s itself reads %s", id, text)
		}
	}
}

func TestAStoreThatFailsAtTheLastLookIsAnErrorAndNoTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		wait := h.waitFor("bob", c3po.WaitInput{Timeout: 5})
		h.calls.failWith("Next", c3po.Errorf(c3po.RedisUnavailable, "away").Suggest("Try again."))
		<-wait.done
		refused(t, wait.err, c3po.RedisUnavailable)
	})
}

func TestAnAnswerThatWasNotWrittenIsGivenAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		h.send("alice", "bob", "one")
		cut := h.Hub.As(c3po.Caller{ID: "bob", Session: "s", Route: "rest"})
		if got := must(cut.WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1}))(t); got.Text() != "one" {
			t.Fatalf("the first wait = %+v", got)
		}
		// Nobody calls Delivered: the connection was gone before the answer.
		pass(3 * time.Second)
		again := must(h.As(c3po.Caller{ID: "bob", Session: "s"}).WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1}))(t)
		if again.Text() != "one" || again.Redelivered {
			t.Errorf("the next wait = %+v, want the same message as if for the first time", again)
		}
	})
}

func TestAReaderThatSaysWhereItIsGetsAgainWhatNeverReachedIt(t *testing.T) {
	for name, later := range map[string]time.Duration{"from this node's memory": 0, "from the store": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := build(t)
				h.enter("bob")
				h.send("alice", "bob", "one")
				start := int64(0)
				wait := func(after int64) c3po.WaitResult {
					return must(h.asRun("bob", "r1").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1, After: &after}))(t)
				}
				// The answer was written, and lost on its way.
				lost := wait(start)
				pass(later)
				again := wait(start)
				if lost.Text() != "one" || again.Text() != "one" || !again.Redelivered {
					t.Errorf("answers = %+v and %+v, want the message twice, the second marked", lost, again)
				}
				pass(later)
				if done := wait(again.Cursor); done.Outcome == nil {
					t.Errorf("after its position was moved on the reader was given %+v again", done)
				}
			})
		})
	}
}

func TestUrgentMailThatOvertakesLosesNothingForAReaderThatSaysWhereItIs(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		h.send("alice", "bob", "normal")
		must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "urgent", Priority: c3po.Urgent}))(t)
		var got []string
		after := int64(0)
		for range 3 {
			next := must(h.asRun("bob", "r1").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1, After: &after}))(t)
			got, after = append(got, next.Text()), next.Cursor
		}
		same(t, "order", got, []string{"urgent", "normal", ""})
	})
}

func TestAWaitDoesNotLookAtAllItWasGivenEachTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { *l = l.Unbudgeted() })
		h.enter("bob")
		const unacked = 300
		for n := range unacked {
			h.send("alice", "bob", fmt.Sprint("mail ", n))
		}
		must(h.as("bob").GetMessages(t.Context(), c3po.GetMessagesInput{Limit: unacked}))(t)
		looked := func() int {
			t.Helper()
			return must(h.model.Next(t.Context(), c3po.DefaultSpace, "bob", store.NextQuery{Reader: "anonymous"}))(t).Looked
		}
		same(t, "looked at before the wait", looked(), unacked)
		nothing := must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 5}))(t)
		same(t, "outcome", nothing.Outcome.Status, c3po.WaitTimeout)
		same(t, "looked at after it", looked(), 0)
		wait := h.waitFor("bob", c3po.WaitInput{})
		pass(time.Second)
		same(t, "what comes then", h.send("alice", "bob", "new").ID, wait.result(t).ID)
	})
}
