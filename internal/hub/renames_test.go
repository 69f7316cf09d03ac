package hub_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store"
)

// openWaits are the waits an agent can have open, each with what ends it and
// what it then brings.
func openWaits() map[string]func(h *testHub, bob actor, asked c3po.MessageID) *later[string] {
	return map[string]func(*testHub, actor, c3po.MessageID) *later[string]{
		"for mail": func(h *testHub, bob actor, _ c3po.MessageID) *later[string] {
			return start(func() (string, error) {
				got, err := bob.WaitForMessage(h.t.Context(), c3po.WaitInput{Timeout: 600})
				return got.Text() + said(got.Outcome), err
			})
		},
		"for an answer": func(h *testHub, bob actor, asked c3po.MessageID) *later[string] {
			return start(func() (string, error) {
				got, err := bob.WaitForMessage(h.t.Context(), c3po.WaitInput{MessageID: asked, Timeout: 600})
				return got.Text() + said(got.Outcome), err
			})
		},
		"for pending mail": func(h *testHub, bob actor, _ c3po.MessageID) *later[string] {
			return start(func() (string, error) {
				got, err := bob.Pending(h.t.Context(), c3po.PendingInput{Timeout: 600})
				return fmt.Sprint(texts(got.Messages)) + said(got.Outcome), err
			})
		},
		"for pending mail or a pause": func(h *testHub, bob actor, _ c3po.MessageID) *later[string] {
			return start(func() (string, error) {
				got, err := bob.Pending(h.t.Context(), c3po.PendingInput{Timeout: 600, Paused: new("")})
				return fmt.Sprint(texts(got.Messages)) + said(got.Outcome), err
			})
		},
	}
}

func said(outcome *c3po.WaitOutcome) string {
	if outcome == nil {
		return ""
	}
	return outcome.Message
}

func TestAWaitGoesOnUnderTheNewNameOfItsAgent(t *testing.T) {
	t.Parallel()
	for kind, open := range openWaits() {
		for _, run := range []string{"", "r1"} {
			for _, where := range []string{"here", "elsewhere"} {
				t.Run(fmt.Sprintf("%s of run %q, renamed %s", kind, run, where), func(t *testing.T) {
					inBubble(t, func(t *testing.T) {
						h := build(t)
						by := h
						if where == "elsewhere" {
							by = h.neighbour()
						}
						bob := func(h *testHub) actor {
							if run == "" {
								return h.as("bob")
							}
							return h.asRun("bob", run)
						}
						h.enter("alice")
						asked := must(bob(h).SendMessage(t.Context(), c3po.SendInput{Target: "alice", Message: "question"}))(t)
						wait := open(h, bob(h), asked.ID)
						for _, name := range []string{"robert", "bert"} {
							pass(time.Second)
							must(bob(by).Rename(t.Context(), c3po.RenameInput{NewID: name}))(t)
							pass(time.Second)
							if wait.isDone() {
								t.Fatalf("the renaming ended the wait with %q, %v", wait.got, wait.err)
							}
							same(t, "status of "+name, h.agent(c3po.AgentID(name)).Status, c3po.Online)
						}
						must(by.as("alice").Reply(t.Context(), c3po.ReplyInput{MessageID: asked.ID, Response: "answer"}))(t)
						if got := wait.atOnce(t); got != "answer" && got != "[answer]" {
							t.Errorf("the wait ended with %q", got)
						}
					})
				})
			}
		}
	}
}

func TestASendThatWaitsIsAnsweredUnderTheNewNameOfItsSender(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice")
		wait := start(func() (c3po.Receipt, error) {
			return h.asRun("bob", "r1").SendMessage(t.Context(), c3po.SendInput{Target: "alice", Message: "question", WaitSeconds: 600})
		})
		must(h.asRun("bob", "r1").Rename(t.Context(), c3po.RenameInput{NewID: "robert"}))(t)
		pass(time.Second)
		h.reply("alice", h.inbox("alice")[0].ID, "answer")
		got := wait.atOnce(t)
		if got.Reply == nil || got.Reply.Text() != "answer" {
			t.Errorf("the send was answered with %+v", got)
		}
	})
}

// A renamedAgain store lets an agent be renamed right after its new name was read.
type renamedAgain struct {
	store.Store
	then func()
}

func (r *renamedAgain) Renamed(ctx context.Context, space c3po.Space, id c3po.AgentID) (c3po.AgentID, bool, error) {
	to, answers, err := r.Store.Renamed(ctx, space, id)
	if then := r.then; to != "" && then != nil {
		r.then = nil
		then()
	}
	return to, answers, err
}

func TestAnAnswerReachesAnAskerThatIsRenamedTwice(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		between := &renamedAgain{}
		h := configured(t, func(c *hub.Config) { between.Store, c.Store = c.Store, between })
		h.enter("bob")
		asked := h.send("alice", "bob", "question")
		rename := func(id c3po.AgentID, name string) {
			must(h.as(id).Rename(t.Context(), c3po.RenameInput{NewID: name}))(t)
		}
		rename("alice", "anna")
		between.then = func() { rename("anna", "ann") }
		h.reply("bob", asked.ID, "answer")
		same(t, "the mail of the asker", texts(h.inbox("ann")), []string{"answer"})
	})
}

// A renaming gives a wait no more time than it was given.
func TestAWaitWhoseAgentIsRenamedEndsInItsTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		began := time.Now()
		wait := start(func() (c3po.WaitResult, error) {
			return h.asRun("bob", "r1").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 60})
		})
		pass(50 * time.Second)
		must(h.asRun("bob", "r1").Rename(t.Context(), c3po.RenameInput{NewID: "robert"}))(t)
		same(t, "the end", wait.result(t).Outcome.Status, c3po.WaitTimeout)
		same(t, "its time", time.Since(began), time.Minute)
	})
}

// Who was taken over is told so, and no agent is made of it on the way.
func TestAWaitOfARunThatWasTakenOverDoesNotFollowTheNewName(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice")
		asked := must(h.asRun("bob", "r1").SendMessage(t.Context(), c3po.SendInput{Target: "alice", Message: "question"}))(t)
		wait := start(func() (c3po.WaitResult, error) {
			return h.asRun("bob", "r1").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: asked.ID, Timeout: 600})
		})
		must(h.asRun("bob", "r1").Unregister(t.Context(), c3po.None{}))(t)
		must(h.asRun("bob", "r2").Rename(t.Context(), c3po.RenameInput{NewID: "robert"}))(t)
		if !wait.isDone() {
			t.Fatal("the run that was taken over waits on")
		}
		refused(t, wait.err, c3po.Superseded)
		same(t, "agents", len(must(h.asPerson().ListAgents(t.Context(), c3po.ListAgentsInput{}))(t).Agents), 2)
	})
}

// The store refuses a run that goes by a name it has lost. Who has no run is not
// refused, and must not be shown an inbox from which everything has moved.
func TestACallerThatWasRenamedElsewhereReadsItsMailHere(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		there := h.neighbour()
		for i, read := range []func() []c3po.Message{
			func() []c3po.Message { return h.inbox("bob") },
			func() []c3po.Message {
				return must(h.as("bob").Pending(t.Context(), c3po.PendingInput{}))(t).Messages
			},
		} {
			same(t, "inbox before", len(read()), i)
			name := fmt.Sprint("robert-", i)
			must(there.as("bob").Rename(t.Context(), c3po.RenameInput{NewID: name}))(t)
			there.send("alice", c3po.AgentID(name), "hello")
			same(t, "inbox after", len(read()), i+1)
		}
		mail := h.inbox("bob")
		if len(mail) == 0 {
			t.Fatal("the mail is gone")
		}
		acked := must(h.as("bob").AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{mail[0].ID}}))(t)
		same(t, "acked", acked.Acked, []c3po.MessageID{mail[0].ID})
	})
}
