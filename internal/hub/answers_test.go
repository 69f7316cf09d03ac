package hub_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// asking is a send that waits for its answer.
func (h *testHub) asking(from, to c3po.AgentID) *later[c3po.Receipt] {
	return start(func() (c3po.Receipt, error) {
		return h.as(from).SendMessage(h.t.Context(), c3po.SendInput{Target: string(to), Message: "why?", WaitSeconds: 600})
	})
}

func TestAWaitEndsWhenSomethingHappensToWhoWasAsked(t *testing.T) {
	const run = "box:7:8"
	for name, c := range map[string]struct {
		happens func(*testing.T, *testHub)
		want    string
		words   string
	}{
		"it ends its session": {func(t *testing.T, h *testHub) { must(h.asRun("bob", run).Unregister(t.Context(), c3po.None{}))(t) }, c3po.WaitOffline, "'bob' went offline before it answered"},
		"its process ends":    {func(t *testing.T, h *testHub) { must(h.ProcessEnded(t.Context(), "main", "bob", run))(t) }, c3po.WaitDied, "'bob' has died: its process ended before it answered"},
		"it is paused": {func(t *testing.T, h *testHub) {
			must(h.asPerson().Pause(t.Context(), c3po.PauseInput{AgentID: "bob", Reason: "lunch"}))(t)
		}, c3po.WaitPaused, "'bob' was paused before it answered: lunch"},
		"everybody is paused": {func(t *testing.T, h *testHub) {
			must(h.asPerson().Pause(t.Context(), c3po.PauseInput{All: true, Reason: "lunch"}))(t)
		}, c3po.WaitPaused, "'bob' was paused before it answered: lunch"},
		"it asks its person": {func(t *testing.T, h *testHub) {
			must(h.asRun("bob", run).EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "may I?"}))(t)
		}, c3po.WaitForHuman, "'bob' has asked its person before it answered, and waits"},
		"it reads the message and ends its turn": {func(t *testing.T, h *testHub) {
			read := must(h.asRun("bob", run).GetMessages(t.Context(), c3po.GetMessagesInput{}))(t).Messages
			must(h.asRun("bob", run).Received(t.Context(), c3po.ReceivedInput{MessageIDs: []c3po.MessageID{read[0].ID}}))(t)
			must(h.asRun("bob", run).Received(t.Context(), c3po.ReceivedInput{Silent: []c3po.MessageID{read[0].ID}}))(t)
			synctest.Wait()
			same(t, "notices", len(must(h.as("alice").GetMessages(t.Context(), c3po.GetMessagesInput{}))(t).Messages), 0)
		}, c3po.WaitUnanswered, "'bob' has read it and ended its turn without an answer"},
		"it does not read the message": {func(t *testing.T, h *testHub) {
			waits := must(h.as("bob").Peek(t.Context(), c3po.GetMessagesInput{}))(t).Messages
			must(h.asRun("bob", run).Received(t.Context(), c3po.ReceivedInput{Silent: []c3po.MessageID{waits[0].ID}}))(t)
		}, c3po.WaitUnanswered, "'bob' was told of it several times and has not read it"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := build(t)
				must(h.asRun("bob", run).Ping(t.Context(), c3po.None{}))(t)
				asked := h.asking("alice", "bob")
				pass(time.Second)
				if asked.isDone() {
					t.Fatal("the wait ended before anything happened")
				}
				c.happens(t, h)
				receipt := asked.atOnce(t)
				if receipt.Wait == nil || receipt.Wait.Status != c.want || receipt.Wait.Suggestion == "" || receipt.Wait.MessageID != receipt.ID {
					t.Fatalf("wait = %+v, want %s with a suggestion", receipt.Wait, c.want)
				}
				if c.words != "" {
					same(t, "words", receipt.Wait.Message, c.words)
				}
				// What was so before a wait began does not end it, and the answer still comes.
				again := start(func() (c3po.WaitResult, error) {
					return h.as("alice").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: receipt.ID, Timeout: 600})
				})
				pass(time.Second)
				if again.isDone() {
					t.Fatalf("a second wait ended at once with %+v", again.atOnce(t).Outcome)
				}
				must(h.asPerson().Resume(t.Context(), c3po.PauseInput{All: true}))(t)
				h.reply("bob", receipt.ID, "because")
				same(t, "answer", again.atOnce(t).Response, "because")
			})
		})
	}
}

func TestAnAgentWhoseProcessEndsAfterItHasLeftIsWaitedFor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		bob := h.asRun("bob", "box:7:8")
		must(bob.RegisterAgent(t.Context(), c3po.RegisterInput{Host: "box", PID: 7, PIDStart: 8}))(t)
		must(bob.Unregister(t.Context(), c3po.None{}))(t)
		asked := h.asking("alice", "bob")
		pass(time.Second)
		if died := must(h.DeclaredEnded(t.Context(), "main", "bob", store.Declared{PID: 7, Start: 8, Seen: true}))(t); !died {
			t.Fatal("its end is no news")
		}
		pass(time.Second)
		if asked.isDone() {
			t.Fatalf("the wait ended with %+v", asked.atOnce(t).Wait)
		}
	})
}

func TestAnAgentThatOnlyFallsSilentIsWaitedFor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		asked := h.asking("alice", "bob")
		pass(5 * time.Minute)
		if asked.isDone() {
			t.Fatalf("the wait ended with %+v", asked.atOnce(t).Wait)
		}
		same(t, "status", h.agent("bob").Status, c3po.Offline)
	})
}

func TestAWaitLearnsThatWhoWasAskedHungUp(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		must(h.asRun("bob", "r1").Ping(t.Context(), c3po.None{}))(t)
		sent := must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "why?"}))(t)
		ctx, hangUp := context.WithCancel(t.Context())
		go func() {
			_, _ = h.asRun("bob", "r1").WaitForMessage(ctx, c3po.WaitInput{Timeout: 600, After: &sent.Seq})
		}()
		waiting := start(func() (c3po.WaitResult, error) {
			return h.as("alice").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: sent.ID, Timeout: 600})
		})
		pass(5 * time.Second)
		if waiting.isDone() {
			t.Fatal("the wait ended before anything happened")
		}
		hangUp()
		pass(5 * time.Second)
		same(t, "status", waiting.atOnce(t).Outcome.Status, c3po.WaitOffline)
	})
}

func TestAnAgentThatIsNotThereYetIsWaitedFor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		must(h.asRun("bob", "r1").Ping(t.Context(), c3po.None{}))(t)
		must(h.asRun("bob", "r1").Unregister(t.Context(), c3po.None{}))(t)
		asked := h.asking("alice", "bob")
		pass(5 * time.Second)
		// Somebody starts it: a new run, which has not read the message before.
		question := must(h.asRun("bob", "r2").WaitForMessage(t.Context(), c3po.WaitInput{}))(t)
		must(h.asRun("bob", "r2").Reply(t.Context(), c3po.ReplyInput{MessageID: question.ID, Response: "because"}))(t)
		receipt := asked.atOnce(t)
		if receipt.Reply == nil || receipt.Reply.Response != "because" {
			t.Errorf("receipt = %+v", receipt)
		}
	})
}

func TestAnAgentThatIsStartedAnewAfterItReadTheMessageIsSaidToBe(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		must(h.asRun("bob", "r1").Ping(t.Context(), c3po.None{}))(t)
		first := h.asking("alice", "bob")
		must(h.asRun("bob", "r1").GetMessages(t.Context(), c3po.GetMessagesInput{}))(t)
		must(h.asRun("bob", "r1").Unregister(t.Context(), c3po.None{}))(t)
		id := first.atOnce(t).ID
		pass(2 * time.Second)
		again := start(func() (c3po.WaitResult, error) {
			return h.as("alice").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: id, Timeout: 600})
		})
		must(h.asRun("bob", "r2").Ping(t.Context(), c3po.None{}))(t)
		same(t, "status", again.atOnce(t).Outcome.Status, c3po.WaitSuperseded)
	})
}

func TestAWaitThatGoesOnKnowsWhatHappenedInBetween(t *testing.T) {
	const run = "box:7:8"
	for name, c := range map[string]struct {
		happens func(*testing.T, *testHub)
		want    string // empty if the wait goes on
	}{
		"nothing":             {func(*testing.T, *testHub) {}, ""},
		"it calls":            {func(t *testing.T, h *testHub) { must(h.asRun("bob", run).Ping(t.Context(), c3po.None{}))(t) }, ""},
		"it ends its session": {func(t *testing.T, h *testHub) { must(h.asRun("bob", run).Unregister(t.Context(), c3po.None{}))(t) }, c3po.WaitOffline},
		"its process ends":    {func(t *testing.T, h *testHub) { must(h.ProcessEnded(t.Context(), "main", "bob", run))(t) }, c3po.WaitDied},
		"it is started anew": {func(t *testing.T, h *testHub) {
			must(h.asRun("bob", run).Unregister(t.Context(), c3po.None{}))(t)
			must(h.asRun("bob", "box:9:9").Ping(t.Context(), c3po.None{}))(t)
		}, c3po.WaitSuperseded},
		"it is paused": {func(t *testing.T, h *testHub) {
			must(h.asPerson().Pause(t.Context(), c3po.PauseInput{AgentID: "bob", Reason: "lunch"}))(t)
		}, c3po.WaitPaused},
		"it ends its turn without an answer": {func(t *testing.T, h *testHub) {
			waits := must(h.as("bob").Peek(t.Context(), c3po.GetMessagesInput{}))(t).Messages
			must(h.asRun("bob", run).Received(t.Context(), c3po.ReceivedInput{Silent: []c3po.MessageID{waits[0].ID}}))(t)
		}, c3po.WaitUnanswered},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := build(t)
				must(h.asRun("bob", run).Ping(t.Context(), c3po.None{}))(t)
				sent := h.send("alice", "bob", "why?")
				must(h.asRun("bob", run).GetMessages(t.Context(), c3po.GetMessagesInput{}))(t)
				wait := func(asked *c3po.Asked) *later[c3po.WaitResult] {
					return h.waitFor("alice", c3po.WaitInput{MessageID: sent.ID, Timeout: 10, Asked: asked})
				}
				first := wait(&c3po.Asked{}).result(t).Outcome
				if first.Status != c3po.WaitTimeout || first.Asked == nil || first.Asked.ID != "bob" || !first.Asked.Online {
					t.Fatalf("the first wait ended with %+v", first)
				}
				pass(2 * time.Second) // what was served is in the store by now
				c.happens(t, h)
				if c.want != "" {
					same(t, "status", wait(first.Asked).atOnce(t).Outcome.Status, c.want)
				}
				// Who does not say what it knows waits as if for the first time, and is told nothing more.
				fresh := wait(nil).result(t).Outcome
				if fresh.Status != c3po.WaitTimeout || fresh.Asked != nil {
					t.Errorf("a wait of its own ended with %+v", fresh)
				}
				if c.want == "" {
					same(t, "status", wait(first.Asked).result(t).Outcome.Status, c3po.WaitTimeout)
				}
			})
		})
	}
}

func TestACancelEndsTheWaitForTheAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		asked := h.asking("alice", "bob")
		pass(time.Second)
		read := must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{}))(t)
		pass(2 * time.Second)
		done := must(h.as("alice").Cancel(t.Context(), c3po.MessageInput{MessageID: read.ID}))(t)
		same(t, "cancel", done, c3po.CancelResult{MessageID: read.ID, Outcome: c3po.CancelDone, Told: true, Message: "Cancelled. 'bob' had read it and gets a notice."})
		same(t, "wait", asked.atOnce(t).Wait.Status, c3po.WaitCancelled)
		notice := h.inbox("bob")
		same(t, "mail", len(notice), 1)
		same(t, "notice", notice[0].Message, "'alice' has cancelled its message "+string(read.ID)+": no answer is needed any more.")
		_, err := h.as("bob").Reply(t.Context(), c3po.ReplyInput{MessageID: read.ID, Response: "late"})
		refused(t, err, c3po.InvalidRequest, "has cancelled message")
	})
}

func TestTheWaitGoesOnWhenTheTicketIsHandedOver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob", "carol")
		asked := h.asking("alice", "bob")
		question := must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{}))(t)
		must(h.as("bob").Reply(t.Context(), c3po.ReplyInput{MessageID: question.ID, Response: "ask carol", Status: c3po.ReplyHandedOver, HandedTo: "carol"}))(t)
		pass(time.Second)
		if asked.isDone() {
			t.Fatal("the wait ended with the handover")
		}
		ticket := must(h.as("alice").Ticket(t.Context(), question.ID))(t)
		same(t, "who has it", ticket.ToAgent, c3po.AgentID("carol"))
		moved := h.inbox("carol")[0]
		same(t, "ticket", moved.Ticket, question.ID)
		same(t, "handed from", moved.HandedFrom, c3po.AgentID("bob"))

		// What happens to who had it before is no matter; she may use the id alice knows.
		must(h.as("bob").Unregister(t.Context(), c3po.None{}))(t)
		h.reply("carol", question.ID, "clouds")
		receipt := asked.atOnce(t)
		if receipt.Reply == nil || receipt.Reply.Response != "clouds" || receipt.Reply.MessageID != question.ID || receipt.Reply.FromAgent != "carol" {
			t.Fatalf("receipt = %+v, wait %+v", receipt, receipt.Wait)
		}
		ticket = must(h.as("alice").Ticket(t.Context(), question.ID))(t)
		same(t, "state", ticket.State, c3po.TicketResponded)
		same(t, "replies", len(ticket.Replies), 2)
	})
}

func TestAWaitLearnsOfTheDeathOfWhoTheTicketWasHandedTo(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		must(h.asRun("carol", "box:7:8").Ping(t.Context(), c3po.None{}))(t)
		asked := h.asking("alice", "bob")
		question := must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{}))(t)
		must(h.as("bob").Reply(t.Context(), c3po.ReplyInput{MessageID: question.ID, Response: "ask carol", Status: c3po.ReplyHandedOver, HandedTo: "carol"}))(t)
		pass(time.Second)
		must(h.ProcessEnded(t.Context(), "main", "carol", "box:7:8"))(t)
		same(t, "status", asked.atOnce(t).Wait.Status, c3po.WaitDied)
		// It is withdrawn where it is.
		same(t, "cancel", must(h.as("alice").Cancel(t.Context(), c3po.MessageInput{MessageID: question.ID}))(t).Outcome, c3po.CancelDone)
		same(t, "inbox", len(h.inbox("carol")), 0)
	})
}

func TestAnAnswerToAnEarlierRunGoesToTheAgentMarked(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		asked := must(h.asRun("alice", "r1").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "why?"}))(t)
		h.reply("bob", asked.ID, "because")
		same(t, "for the run that asked", must(h.asRun("alice", "r1").GetMessages(t.Context(), c3po.GetMessagesInput{}))(t).Messages[0].EarlierRun, false)
		must(h.asRun("alice", "r1").Unregister(t.Context(), c3po.None{}))(t)
		mail := must(h.asRun("alice", "r2").GetMessages(t.Context(), c3po.GetMessagesInput{}))(t).Messages
		if len(mail) != 1 || mail[0].Response != "because" || !mail[0].EarlierRun {
			t.Errorf("mail of the next run = %+v", mail)
		}
	})
}

func TestOnlyItsOwnHostSaysThatAnAgentHasDied(t *testing.T) {
	t.Parallel()
	h := build(t)
	must(h.asRun("box/bob", "box:7:8").Ping(t.Context(), c3po.None{}))(t)
	dead := c3po.DeathInput{AgentID: "box/bob", Run: "box:7:8"}
	for _, reporter := range []actor{h.asRun("other/eve", "other:1:2"), h.asRun("other/eve", "box:1:2"), h.asRun("eve", "box:1:2"), h.as("box/eve"), h.asRun("box/eve", "other:1:2")} {
		_, err := reporter.ReportDeath(t.Context(), dead)
		refused(t, err, c3po.Forbidden, "only its own host")
	}
	if alive := h.agent("box/bob").Alive; alive != nil {
		t.Error("a stranger's word was taken")
	}
	if got := must(h.asRun("box/eve", "box:1:2").ReportDeath(t.Context(), c3po.DeathInput{AgentID: "box/bob", Run: "box:7:9"}))(t); got.Died {
		t.Error("another run was taken for the agent's")
	}
	if got := must(h.asRun("box/eve", "box:1:2").ReportDeath(t.Context(), dead))(t); !got.Died {
		t.Error("its own host's word was not taken")
	}
	if got := h.agent("box/bob"); got.Alive == nil || *got.Alive || got.Status != c3po.Offline {
		t.Errorf("agent = %+v", got)
	}
	must(h.asRun("box/bob", "box:9:9").Ping(t.Context(), c3po.None{}))(t)
	if alive := h.agent("box/bob").Alive; alive != nil {
		t.Error("the next run is taken for dead")
	}
}
