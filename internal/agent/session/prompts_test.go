package session_test

import (
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
)

// prompts has Claude Code call the tool in the place of a dialog, and gives what that says.
func (r *testSession) prompts(file string) <-chan string {
	said := make(chan string, 1)
	go func() {
		text, _ := r.call("", hook.PromptTool, map[string]any{"tool_name": "Bash", "tool_use_id": "u1", "input": map[string]any{"command": "touch " + file}})
		said <- text
	}()
	return said
}

func resumed(t *testing.T, approves bool) *testSession {
	t.Helper()
	r := startAs(t, coordinator(t).URL(), "box:1:1", func(cfg *session.Config) {
		cfg.Unattended, cfg.Answers, cfg.Resumed, cfg.Approves = true, true, true, func() bool { return approves }
	})
	r.prompt()
	eventually(t, "it is there", func() bool { return len(r.agents()) > 0 })
	return r
}

func TestADialogOfAResumedSessionIsDecidedByThePersonElsewhere(t *testing.T) {
	t.Parallel()
	r := resumed(t, true)
	said := r.prompts("a")
	if err := r.allow(r.asked("a")); err != nil {
		t.Fatal(err)
	}
	if got, want := <-said, `{"behavior":"allow","updatedInput":{"command":"touch a"}}`; got != want {
		t.Errorf("it says %s", got)
	}
	said = r.prompts("b")
	if _, err := r.as("").HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: r.asked("b"), Response: "Use make."}); err != nil {
		t.Fatal(err)
	}
	if got, want := <-said, `{"behavior":"deny","message":"The user denied this call and says: Use make."}`; got != want {
		t.Errorf("it says %s", got)
	}
	eventually(t, "no verdict is left in the mail", func() bool {
		mail, err := r.as("api").GetMessages(t.Context(), c3po.GetMessagesInput{})
		return err == nil && mail.Count == 0
	})
}

func TestADialogThatNobodyIsAskedAboutIsDenied(t *testing.T) {
	t.Parallel()
	r := resumed(t, false)
	if got, want := <-r.prompts("a"), `{"behavior":"deny","message":"`+hook.NobodyDecided+`"}`; got != want {
		t.Errorf("it says %s", got)
	}
	if n := r.questions(); n != 0 {
		t.Errorf("the person is asked %d times", n)
	}
}

func TestOnlyAResumedSessionHasTheToolThatAsksThePerson(t *testing.T) {
	t.Parallel()
	for _, is := range []bool{true, false} {
		r := startAs(t, "http://127.0.0.1:1", "box:1:1", func(cfg *session.Config) { cfg.Resumed = is })
		list, err := r.session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		has := false
		for _, tool := range list.Tools {
			has = has || tool.Name == hook.PromptTool
		}
		if has != is {
			t.Errorf("resumed %v, and it has the tool: %v", is, has)
		}
	}
}
