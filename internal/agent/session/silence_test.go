package session_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// hints is what c3po itself has written to an agent.
func (r *testSession) hints(id c3po.AgentID) []c3po.Message {
	r.t.Helper()
	page, err := r.as(id).Pending(r.t.Context(), c3po.PendingInput{})
	if err != nil {
		r.t.Fatal(err)
	}
	var all []c3po.Message
	for _, m := range page.Messages {
		if m.FromAgent == c3po.System {
			all = append(all, m)
		}
	}
	return all
}

// reads is a turn in which the model reads its mail.
func (r *testSession) reads() {
	r.t.Helper()
	r.prompt()
	if text, failed := r.call("u1", "get_messages", nil); failed || !strings.Contains(text, "Which port?") {
		r.t.Fatalf("it reads %s", text)
	}
	r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "u1"})
}

func TestTheAskerHearsOnceThatItsQuestionWasReadAndNotAnswered(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(*testSession){
		"the turn ends":    func(r *testSession) { r.stop() },
		"the turn fails":   func(r *testSession) { r.hook(hook.Event{Name: hook.StopFailure, SessionID: "s1"}) },
		"the session ends": func(r *testSession) { r.stop(); r.hangUp() },
		"it acks, no answer": func(r *testSession) {
			list, _ := r.as("api").Pending(r.t.Context(), c3po.PendingInput{})
			r.call("u2", "ack_messages", map[string]any{"message_ids": []c3po.MessageID{list.Messages[0].ID}})
			r.stop()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, coordinator(t).URL(), "box:1:1")
			r.idles()
			sent := r.send("web", "Which port?")
			r.reads()
			if faultrig.Within(3*time.Second, func() bool { return len(r.hints("web")) > 0 }) {
				t.Fatal("it is told in the middle of the turn")
			}
			ends(r)
			eventually(t, "the asker hears of it", func() bool { return len(r.hints("web")) == 1 })
			hint := r.hints("web")[0]
			if hint.Kind != c3po.KindNotice || hint.MessageID != sent.ID || !strings.Contains(hint.Message, "without an answer") {
				t.Errorf("it hears %+v", hint)
			}
			trace, err := r.as("web").Trace(t.Context(), c3po.MessageInput{MessageID: sent.ID})
			if err != nil || trace.Silent == nil {
				t.Errorf("the trace does not say so: %+v, %v", trace, err)
			}
			list, err := r.as("web").Tickets(t.Context(), c3po.TicketsInput{MessageID: sent.ID})
			if err != nil || len(list.Tickets) != 1 || list.Tickets[0].SilentAt.IsZero() {
				t.Errorf("the ticket does not say so: %+v, %v", list, err)
			}
			if name == "the session ends" {
				return
			}
			// Another turn without an answer is no news, and an answer still comes.
			r.prompt()
			r.stop()
			if faultrig.Within(3*time.Second, func() bool { return len(r.hints("web")) > 1 }) {
				t.Error("the asker is told twice")
			}
			if text, failed := r.call("u3", "reply", map[string]any{"message_id": sent.ID, "response": "8080"}); failed {
				t.Fatal(text)
			}
			got, err := r.as("web").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: sent.ID, Timeout: 20})
			if err != nil || got.Response != "8080" {
				t.Errorf("the answer is %q, %v", got.Response, err)
			}
		})
	}
}

func TestTheAskerHearsNothingWhereNoAnswerIsMissing(t *testing.T) {
	t.Parallel()
	no := false
	for name, one := range map[string]struct {
		expects *bool
		then    func(*testSession, c3po.MessageID)
	}{
		"it is answered": {nil, func(r *testSession, id c3po.MessageID) {
			r.call("u2", "reply", map[string]any{"message_id": id, "response": "8080"})
			r.stop()
		}},
		"none is expected": {&no, func(r *testSession, _ c3po.MessageID) { r.stop() }},
		"it was cancelled": {nil, func(r *testSession, id c3po.MessageID) {
			if _, err := r.as("web").Cancel(r.t.Context(), c3po.MessageInput{MessageID: id}); err != nil {
				r.t.Fatal(err)
			}
			r.stop()
		}},
		"the turn goes on": {nil, func(*testSession, c3po.MessageID) {}},
		"it waits for its person": {nil, func(r *testSession, _ c3po.MessageID) {
			r.escalates("u2", "Which one may I tell?")
			r.stop()
		}},
		"it waits for another agent": {nil, func(r *testSession, _ c3po.MessageID) {
			if _, err := r.as("db").Ping(r.t.Context(), c3po.None{}); err != nil {
				r.t.Fatal(err)
			}
			if text, failed := r.call("u2", "send_message", map[string]any{"target": "db", "message": "Which port is it?"}); failed {
				r.t.Fatal(text)
			}
			r.stop()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, coordinator(t).URL(), "box:1:1")
			r.idles()
			sent, err := r.as("web").SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "Which port?", ExpectsReply: one.expects})
			if err != nil {
				t.Fatal(err)
			}
			r.reads()
			one.then(r, sent.ID)
			if faultrig.Within(5*time.Second, func() bool { return len(r.hints("web")) > 0 }) {
				t.Errorf("it hears %q", r.hints("web")[0].Message)
			}
		})
	}
}

// Claude Code counts our monitor as a shell in the background, as long as it runs.
func TestTheAskerHearsOfASilenceAlsoWhileAMonitorRuns(t *testing.T) {
	t.Parallel()
	var ended atomic.Pointer[time.Time]
	r := startAs(t, coordinator(t).URL(), "box:1:1", func(cfg *session.Config) {
		cfg.Sees = func() session.Sight {
			if at := ended.Load(); at != nil {
				return session.Sight{Says: "shell", Since: *at}
			}
			return session.Sight{}
		}
	})
	r.idles()
	r.send("web", "Which port?")
	r.reads()
	r.stop()
	now := time.Now()
	ended.Store(&now)
	eventually(t, "the asker hears of it", func() bool { return len(r.hints("web")) == 1 })
}
