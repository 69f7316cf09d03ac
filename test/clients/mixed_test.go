package clients_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// asking is a model that asks an agent whatever it was asked itself, waits, and
// hands the answer on: to who asked it, or to its person.
func asking(whom string) llm.Script {
	return func(r llm.Request) llm.Step {
		question := llm.ToAnswer.FindStringSubmatch(r.All())
		fresh := r.Fresh()
		answer := llm.Written(fresh)
		switch {
		case llm.ToAnswer.MatchString(fresh), strings.Contains(fresh, "Ask which port"):
			return llm.Call("send_message", map[string]any{"target": whom, "message": "Which port?", "wait_seconds": 240})
		case llm.Unread.MatchString(fresh):
			return llm.Call("get_messages", nil)
		case answer == "":
			return done(r)
		case question == nil:
			return llm.Say("It is %s", answer)
		}
		return llm.Call("reply", map[string]any{"message_id": question[1], "response": answer})
	}
}

// The models know only what they are shown: an answer that arrives has come the
// whole way.
func TestClaudeCodeAsksCodexWhoAsksOpenCode(t *testing.T) {
	t.Parallel()
	c := clientrig.Start(t)
	docs := c.Machine("").Agent("opencode", "docs", answering)
	api := c.Machine("").Agent("codex", "api", asking("docs"))
	web := c.Machine("").Agent("claude", "web", asking("api"))
	install(docs)
	install(api)
	codex, opencode := api.Open(), docs.Open()
	for _, term := range []*clientrig.Terminal{codex, opencode} {
		term.Enter("hello")
	}
	for _, term := range []*clientrig.Terminal{codex, opencode} {
		term.See("ALL-DONE")
		term.Rest()
	}
	c.Online("api", "docs")
	plugin, err := filepath.Abs("../../plugin")
	if err != nil {
		t.Fatal(err)
	}
	web.Plugin = plugin
	began := time.Now()
	out := web.Prompt("Ask which port the service has")
	took := time.Since(began)
	faultrig.Hold(t, "from a prompt in Claude Code over Codex to OpenCode and back", took, 20*time.Second)
	if !strings.Contains(out, "It is port 8080") {
		t.Fatalf("Claude Code says %q", out)
	}

	// One trace, that of the answer which travels back, names the whole chain.
	first, second := llm.ToAnswer.FindStringSubmatch(api.Model.Read()), llm.ToAnswer.FindStringSubmatch(docs.Model.Read())
	if first == nil || second == nil {
		t.Fatal("the questions were not seen")
	}
	asked, err := c.As("api").Trace(t.Context(), c3po.MessageInput{MessageID: c3po.MessageID(second[1])})
	if err != nil || len(asked.Answered) != 1 {
		t.Fatalf("%+v, %v", asked, err)
	}
	trace := web.C3PO("trace", string(asked.Answered[0].ID))
	t.Logf("c3po trace:\n%s", trace)
	for _, want := range []string{"docs::api::", "answers " + second[1], "follows from thread " + first[1]} {
		if !strings.Contains(trace, want) {
			t.Errorf("the trace does not name %q", want)
		}
	}
}
