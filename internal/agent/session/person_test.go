package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// types is a prompt with its text, as the client hands it to the hook.
func (r *testSession) types(text string) string {
	return r.hook(hook.Event{Name: hook.UserPromptSubmit, SessionID: "s1", Prompt: text})
}

// escalates asks the person, and gives what the client shows them of it.
func (r *testSession) escalates(use, question string) (shown string) {
	r.t.Helper()
	if text, failed := r.call(use, "escalate_to_human", map[string]any{"reason": question}); failed {
		r.t.Fatal(text)
	}
	return r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: use})
}

// questions is how many of the agent's questions the person has still to answer.
func (r *testSession) questions() int {
	r.t.Helper()
	list, err := r.as("api").Tickets(r.t.Context(), c3po.TicketsInput{Which: c3po.TicketsAsked, State: c3po.TicketsOpen})
	if err != nil {
		r.t.Fatal(err)
	}
	return len(list.Tickets)
}

// The person answers where they are: in the session. Nobody has to look for the
// question elsewhere.
func TestAQuestionToThePersonIsSettledWhenTheyWriteInTheSession(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	r.types("clean up")
	r.escalates("u1", "Drop the table?")
	r.escalates("u2", "And its backup?")
	if n := r.questions(); n != 2 {
		t.Fatalf("%d questions are open", n)
	}
	r.stop()
	if text := r.types("yes, drop both"); !strings.Contains(text, "withdrawn") {
		t.Errorf("the model does not hear that its questions are settled: %s", text)
	}
	eventually(t, "the questions are settled", func() bool { return r.questions() == 0 })
	r.knows("", 0)
	if paused := r.agents()["api"].Paused; paused != nil {
		t.Errorf("others see that it is paused: %s", *paused)
	}
	if text := r.types("go on"); text != "{}" {
		t.Errorf("the next prompt says it again: %s", text)
	}
}

func TestAQuestionToThePersonStaysOpenWhenNoPersonHasWritten(t *testing.T) {
	t.Parallel()
	for name, prompt := range map[string]string{
		"a background task wakes the session": "<task-notification>\n<summary>tests passed</summary>",
		"a notice of ours is the prompt":      "c3po: 1 new message from 'web'. get_messages shows it.",
		"the client does not show the prompt": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, coordinator(t).URL(), "box:1:1")
			r.types("clean up")
			r.escalates("u1", "Drop the table?")
			r.stop()
			if text := r.types(prompt); strings.Contains(text, "withdrawn") {
				t.Errorf("the model hears %s", text)
			}
			if faultrig.Within(time.Second, func() bool { return r.questions() == 0 }) {
				t.Error("the question is gone")
			}
		})
	}
}

func TestAScriptsPromptSettlesNoQuestion(t *testing.T) {
	t.Parallel()
	r := startAs(t, coordinator(t).URL(), "box:1:1", func(cfg *session.Config) { cfg.Answers = true })
	r.hook(hook.Event{Name: hook.SessionStart, SessionID: "s1", Source: "startup", Attended: "0"})
	r.types("clean up")
	r.escalates("u1", "Drop the table?")
	r.stop()
	r.types("clean up")
	if faultrig.Within(time.Second, func() bool { return r.questions() == 0 }) {
		t.Error("the question is gone")
	}
}

func TestAnAnswerInTheSessionSettlesTheQuestionOnceTheCoordinatorIsBack(t *testing.T) {
	t.Parallel()
	c := coordinator(t)
	r := start(t, c.URL(), "box:1:1")
	r.types("clean up")
	r.escalates("u1", "Drop the table?")
	r.stop()
	c.Kill()
	r.types("yes, drop it")
	c.Restart()
	eventually(t, "the question is settled", func() bool { return r.questions() == 0 })
}

func TestThePersonSeesThatTheirAgentAsksThem(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	r.types("clean up")
	shown := r.escalates("u1", "Drop the table?")
	if !strings.Contains(shown, `"systemMessage":"c3po: your agent waits for your decision`) || strings.Contains(shown, "additionalContext") {
		t.Errorf("the person sees %s", shown)
	}
	if again := r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1"}); again != "{}" {
		t.Errorf("and again: %s", again)
	}
}

func TestAPromptThatNobodyTypedSettlesNoQuestion(t *testing.T) {
	t.Parallel()
	r := startAs(t, coordinator(t).URL(), "box:1:1", func(cfg *session.Config) {
		long := time.Now().Add(-time.Minute)
		cfg.Sees = func() session.Sight { return session.Sight{Typed: long} }
	})
	r.escalates("u1", "Drop the table?")
	r.stop()
	if text := r.types("another plugin submits this"); strings.Contains(text, "withdrawn") {
		t.Errorf("the model hears %s", text)
	}
	if n := r.questions(); n != 1 {
		t.Errorf("%d questions are open", n)
	}
}
