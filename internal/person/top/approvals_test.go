package top_test

import (
	"encoding/json"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestAPersonDecidesFromTheScreenWhatAnAgentMayDo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	ctx := t.Context()
	must(s.as("api").RegisterAgent(ctx, c3po.RegisterInput{}))(s)
	term := s.open(100, 30)
	term.see("nobody waits for you")
	for _, one := range []struct {
		name, keys, words string
		allow             bool
	}{
		{"r1", "1", c3po.AllowOnce, true},
		{"r2", "2", c3po.Deny, false},
		{"r3", "Use make instead.", "Use make instead.", false},
	} {
		asked := must(s.as("api").RequestApproval(ctx, c3po.ApprovalInput{
			Tool: "Edit", Session: "s", Request: one.name, Folder: "/src",
			Input: json.RawMessage(`{"file_path":"/src/` + one.name + `","old_string":"keep\n**old**","new_string":"keep\n\u202e**new**"}`),
		}))(s)
		term.see("1 needs you")
		term.see("permission: Allow Edit")
		term.press("1")
		term.press("Enter")
		for _, line := range []string{"Permission for api", "Allow Edit in /src", "/src/" + one.name, " keep", "-**old**", `+⟨U+202E⟩**new**`, "1 Allow once", "2 Deny", "Your words deny it"} {
			term.see(line)
		}
		for _, oddly := range []string{"+1", "01", "3"} {
			term.press("-l", oddly)
			term.press("Enter")
			term.see("There is no choice " + oddly)
			for range oddly {
				term.press("BSpace")
			}
		}
		term.press("-l", one.keys)
		term.press("Enter")
		term.see("nobody waits for you")
		got := must(s.as("api").WaitForMessage(ctx, c3po.WaitInput{MessageID: asked.MessageID, Timeout: 20}))(s)
		verdict, ok := got.Message.Verdict()
		if !ok || verdict.Allow != one.allow || verdict.Hash != asked.Hash || verdict.Request != one.name || got.Message.Response != one.words {
			t.Errorf("%s: the session is given %+v", one.name, got.Message)
		}
	}
}

// Attack: an agent dresses a question as a request for permission
func TestAQuestionThatIsDressedAsARequestIsCalledAQuestion(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	must(s.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "Permission: Allow Edit in /src?", Choices: []string{"Allow it", "Refuse"}}))(s)
	term := s.open(100, 30)
	term.see("question: Permission: Allow Edit")
	term.press("1")
	term.press("Enter")
	term.see("Question of api")
}
