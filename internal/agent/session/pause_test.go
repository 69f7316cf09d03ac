package session_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
)

// hears waits for the line of a monitor, and answers it with a hook as a client
// does, so that it is not sent again.
func (r *testSession) hears(lines <-chan string, when, want string) {
	r.t.Helper()
	select {
	case line := <-lines:
		if !strings.HasPrefix(line, want) {
			r.t.Errorf("%s the monitor hears %q, want %q", when, line, want)
		}
	case <-time.After(deadline):
		r.t.Fatalf("%s the monitor hears nothing", when)
	}
	r.hook(hook.Event{Name: "Notification"})
}

// knows waits until the session process knows why its agent is paused, and of so much mail.
func (r *testSession) knows(paused string, unread int) {
	r.t.Helper()
	eventually(r.t, fmt.Sprintf("the session process knows %q and %d messages", paused, unread), func() bool {
		all := session.Instances(r.t.Context(), filepath.Dir(r.socket))
		return len(all) == 1 && all[0].Paused == paused && all[0].Unread == unread
	})
}

// monitor listens as a monitor does, until the test ends.
func (r *testSession) monitor() <-chan string {
	r.t.Helper()
	lines := make(chan string, 8)
	ctx := r.t.Context()
	go func() {
		for ctx.Err() == nil {
			_ = session.Listen(ctx, r.socket, nil, func(line string) { lines <- line })
		}
	}()
	eventually(r.t, "somebody listens", func() bool {
		all := session.Instances(ctx, filepath.Dir(r.socket))
		return len(all) == 1 && all[0].Monitors == 1
	})
	return lines
}

// toldAt is when the session was told of a message, as everybody can see it.
func (r *testSession) toldAt(id c3po.MessageID) time.Time {
	r.t.Helper()
	trace, err := r.as("web").Trace(r.t.Context(), c3po.MessageInput{MessageID: id})
	if err != nil {
		r.t.Fatal(err)
	}
	if len(trace.Notified) == 0 {
		return time.Time{}
	}
	return trace.Notified[0].At
}

func (r *testSession) stop() string { return r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"}) }

// While a question to the person is open, mail of others neither makes a turn go
// on nor wakes an idle session; the answer does, and then the rest is told of.
func TestWhoWaitsForItsPersonIsNotDisturbed(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	lines := r.monitor()
	r.prompt()
	for use, reason := range []string{"May I?", "And then?"} {
		if text, failed := r.call(fmt.Sprint("u", use), "escalate_to_human", map[string]any{"reason": reason, "choices": []string{"<b>yes</b>", "no"}}); failed {
			t.Fatal(text)
		}
	}
	first := r.send("web", "<i>Are you there?</i>")
	if first.Reachability != c3po.ReachWaitingForHuman {
		t.Errorf("web is told %s", first.Reachability)
	}
	r.knows(c3po.PausedForHuman, 1)
	if text := r.stop(); text != "{}" {
		t.Errorf("the end of a turn says %s", text)
	}
	r.send("web", "<i>And now?</i>")
	r.knows(c3po.PausedForHuman, 2)

	person := r.as("")
	questions, err := person.HumanList(t.Context(), c3po.GetMessagesInput{})
	if err != nil || len(questions.Messages) != 2 {
		t.Fatalf("questions = %+v, %v", questions, err)
	}
	answer := func(i int) {
		t.Helper()
		if _, err := person.HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: questions.Messages[i].ID, Choice: "1"}); err != nil {
			t.Fatal(err)
		}
	}
	// The answer to one question comes through; the other still holds the rest back.
	answer(0)
	r.hears(lines, "after the first answer", "c3po: 1 new answer to you from 'human'. ")
	answer(1)
	r.hears(lines, "after the last answer", "c3po: 2 new messages expecting an answer, 1 new answer to you from 'web', 'human'. ")
	r.prompt() // the line has started a turn
	eventually(t, "what it was told of then is known to be", func() bool { return !r.toldAt(first.ID).IsZero() })
}

// A pause by a person does the same until they end it, be it of one or of all.
func TestWhoIsPausedIsNotDisturbed(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	lines := r.monitor()
	person := r.as(c3po.Human)
	r.prompt()
	eventually(t, "it is there", func() bool { return r.agents()["api"].ID != "" })
	for n, in := range []c3po.PauseInput{{AgentID: "api", Reason: "lunch"}, {All: true, Reason: "fire drill"}} {
		r.prompt()
		alone := c3po.PauseInput{AgentID: "api", Reason: "lunch"}
		if _, err := person.Pause(t.Context(), alone); err != nil {
			t.Fatal(err)
		}
		held := r.send("web", fmt.Sprint("<i>Hello?</i> ", n))
		if in.All { // then nobody may send to it any more
			if _, err := person.Pause(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			if _, err := person.Resume(t.Context(), alone); err != nil {
				t.Fatal(err)
			}
		}
		r.knows(in.Reason, 1)
		if text := r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1"}); text != "{}" {
			t.Errorf("in the middle of a turn who is paused (%s) hears %s", in.Reason, text)
		}
		if text := r.stop(); text != "{}" {
			t.Errorf("at its end %s", text)
		}
		// What its person writes comes through.
		written, err := person.SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: fmt.Sprint("<i>Are you well?</i> ", n)})
		if err != nil {
			t.Fatal(err)
		}
		r.hears(lines, "while it is paused", "c3po: 1 new message expecting an answer from 'human'. ")
		resumed := time.Now()
		if _, err := person.Resume(t.Context(), c3po.PauseInput{AgentID: in.AgentID, All: in.All}); err != nil {
			t.Fatal(err)
		}
		r.hears(lines, "after the pause", "c3po: 1 new message expecting an answer from 'web'. ")
		r.prompt() // the line has started a turn
		eventually(t, "what was held back is known to be told", func() bool { return !r.toldAt(held.ID).IsZero() })
		if at := r.toldAt(held.ID); at.Before(resumed) {
			t.Errorf("what was held back is said to have been told %s before that", resumed.Sub(at))
		}
		if text, failed := r.call(fmt.Sprint("u", n), "ack_messages", map[string]any{"message_ids": []c3po.MessageID{held.ID, written.ID}}); failed {
			t.Fatal(text)
		}
	}
}
