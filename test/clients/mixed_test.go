package clients_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func claudeKind() kind {
	return kind{env: func(r *rig) []string {
		return []string{
			"ANTHROPIC_BASE_URL=" + r.model.url, "ANTHROPIC_API_KEY=none-needed-on-loopback", "C3PO_BINARY=" + faultrig.Binary(r.t),
			"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		}
	}}
}

// said is what other agents wrote, as a model is shown it.
var said = regexp.MustCompile(`(?m)^\| (.*)$`)

// asking is a model that asks an agent whatever it was asked itself, waits, and
// hands the answer on: to who asked it, or to its person.
func asking(whom string) brain {
	return func(r request) step {
		question := toAnswer.FindStringSubmatch(r.all)
		answers := said.FindAllStringSubmatch(r.fresh, -1)
		switch {
		case strings.Contains(r.fresh, "to answer: reply("), strings.Contains(r.fresh, "Ask which port"):
			return step{tool: "send_message", input: map[string]any{"target": whom, "message": "Which port?", "wait_seconds": 240}}
		case notice.MatchString(r.fresh):
			return step{tool: "get_messages", input: map[string]any{}}
		case len(answers) == 0:
			return step{text: "ALL-DONE"}
		case question == nil:
			return step{text: "It is " + answers[0][1]}
		}
		return step{tool: "reply", input: map[string]any{"message_id": question[1], "response": answers[0][1]}}
	}
}

// The models know only what they are shown: an answer that arrives has come the
// whole way.
//
// Claims: C10, C13
func TestClaudeCodeAsksCodexWhoAsksOpenCode(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude", "codex", "opencode"} {
		programs(t, name)
	}
	at := faultrig.Start(t, redistest.New(t).URL()).URL()
	docs := newRigAt(t, "opencode", at, func(*rig) brain { return reading("port 8080", done) })
	api := newRigAt(t, "codex", at, func(*rig) brain { return asking("docs") })
	web := newRigAt(t, "claude", at, func(*rig) brain { return asking("api") })
	docs.extra, web.extra = []string{"C3PO_AGENT_ID=docs"}, []string{"C3PO_AGENT_ID=web"}
	docs.c3po("install", "opencode")
	api.c3po("install", "codex")

	codex, opencode := api.open("codex"), docs.open("opencode")
	codex.see("Ask Codex")
	codex.enter("hello")
	opencode.see("Ask anything")
	opencode.enter("hello")
	codex.see("ALL-DONE")
	opencode.see("ALL-DONE")
	codex.rest()
	opencode.rest()
	for _, name := range []string{"api", "docs"} {
		if !faultrig.Within(30*time.Second, func() bool { return api.here(name) }) {
			t.Fatalf("%s is not online", name)
		}
	}
	plugin, err := filepath.Abs("../../plugin")
	if err != nil {
		t.Fatal(err)
	}
	out, took := web.run("claude", "-p", "Ask which port the service has", "--plugin-dir", plugin)
	faultrig.Hold(t, "from a prompt in Claude Code over Codex to OpenCode and back", took, 20*time.Second)
	if !strings.Contains(out, "It is port 8080") {
		t.Fatalf("Claude Code says %q", out)
	}

	// One trace, that of the answer which travels back, names the whole chain.
	first, second := toAnswer.FindStringSubmatch(api.model.read()), toAnswer.FindStringSubmatch(docs.model.read())
	if first == nil || second == nil {
		t.Fatal("the questions were not seen")
	}
	asked, err := api.as("api").Trace(t.Context(), c3po.MessageInput{MessageID: c3po.MessageID(second[1])})
	if err != nil || len(asked.Answered) != 1 {
		t.Fatalf("%+v, %v", asked, err)
	}
	trace := web.c3po("trace", string(asked.Answered[0].ID))
	t.Logf("c3po trace:\n%s", trace)
	for _, want := range []string{"docs::api::", "answers " + second[1], "follows from thread " + first[1]} {
		if !strings.Contains(trace, want) {
			t.Errorf("the trace does not name %q", want)
		}
	}
}
