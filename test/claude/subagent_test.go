package claude_test

import (
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

// A subagent has no id of its own. What it sends and answers is its parent's, and
// says through whom it came.
func TestWhatASubagentSendsAndAnswersIsItsParentsAndSaysSo(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	for _, id := range []c3po.AgentID{"web", "api"} {
		if _, err := w.as(id).Ping(t.Context(), c3po.None{}); err != nil {
			t.Fatal(err)
		}
	}
	question := w.send("web", "api", "Which port?")
	a := w.host("pi").agent("api", following(
		on("delegate it", call("Agent", map[string]any{
			"description": "ask web", "prompt": "tell web and see to the mail", "subagent_type": "general-purpose", "run_in_background": false,
		})),
		on("tell web and see to the mail", call("send_message", map[string]any{"target": "web", "message": "from below", "expects_reply": false})),
		on(`c3po: sent `, call("get_messages", nil)),
		rule{toAnswer.String(), func(_ request, match []string) step {
			return call("reply", map[string]any{"message_id": match[1], "response": "8080"})
		}},
	))
	p := a.print("delegate it", "--allowedTools", "Agent")
	mail := w.unacked("web")
	if len(mail) != 2 {
		t.Fatalf("web has %v\n%s", mail, p.text())
	}
	for _, m := range mail {
		if m.FromAgent != "api" || !strings.Contains(string(m.Metadata), `"via_subagent":"general-purpose"`) {
			t.Errorf("%s is from %s and carries %s", m.ID, m.FromAgent, m.Metadata)
		}
	}
	if mail[1].MessageID != question.ID {
		t.Errorf("the second answers %q, want %q", mail[1].MessageID, question.ID)
	}
	w.onlyHas("api", "web")
}
