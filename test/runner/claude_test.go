package runner_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// withClaude is agents.yaml with one agent that is the real Claude Code before a
// model of ours.
func withClaude(name, workspace string, m *llm.Model, more string) string {
	return fmt.Sprintf(`%s:
  workspace: %s
%s  env:
    ANTHROPIC_BASE_URL: %s
    ANTHROPIC_API_KEY: %s
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1"
    DISABLE_TELEMETRY: "1"
    CLAUDE_CODE_MAX_RETRIES: "1"
`, name, workspace, more, m.URL, key)
}

func TestAPromptIsAnsweredFromAContainer(t *testing.T) {
	t.Parallel()
	stage(t, "agents")
	h := bareHost(t)
	m := llm.Start(t, llm.Always("HELLO-FROM-THE-MODEL"))
	h.extra = append(h.extra, "ANTHROPIC_BASE_URL="+m.URL)
	workspace := h.workspace("work")
	got := h.c3po(workspace, "", "agent", "prompt", "say hello")
	if got.code != 0 || strings.TrimSpace(got.stdout) != "HELLO-FROM-THE-MODEL" {
		t.Errorf("exit code %d: %q %s", got.code, got.stdout, got.stderr)
	}
	got = h.c3po(workspace, "", "agent", "prompt", "-s", "-j", "say hello")
	records := 0
	for line := range strings.Lines(got.stdout) {
		var record struct{ Type string }
		if json.Unmarshal([]byte(line), &record) == nil && record.Type != "" {
			records++
		}
	}
	if got.code != 0 || records < 3 || !strings.Contains(got.stdout, `"type":"result"`) {
		t.Errorf("-sj: exit code %d, %d records: %q %s", got.code, records, got.stdout, got.stderr)
	}
	got = h.c3po(workspace, "", "agent", "prompt", "-s", "say hello")
	if got.code != 0 || !strings.Contains(got.stdout, "HELLO-FROM-THE-MODEL") || strings.Contains(got.stdout, `"type"`) {
		t.Errorf("-s: exit code %d: %q %s", got.code, got.stdout, got.stderr)
	}
}

func TestMailStartsClaudeCodeWhichAnswersItInOrderAndEnds(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	m := llm.Start(t, answerAll)
	workspace := h.workspace("work")
	h.agents(withClaude("coder", workspace, m, "  triggers: [{type: c3po}]\n  limits: {runs_per_hour: 1000}\n"))
	loop := h.start("agent", "run", "coder")
	eventually(t, time.Minute, "the first run has ended", func() bool { return strings.Contains(loop.out.String(), "the run has ended") })

	asker := h.as("asker")
	eventually(t, time.Minute, "the runner waits for mail", func() bool {
		agent, err := asker.GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "docker/coder"})
		return err == nil && agent.Reachability == c3po.ReachNow
	})
	receipt, err := asker.SendMessage(t.Context(), c3po.SendInput{Target: "docker/coder", Message: "are you there?"})
	if err != nil {
		t.Fatal(err)
	}
	if receipt.Reachability != c3po.ReachNow {
		t.Errorf("who sends is told %q", receipt.Reachability)
	}
	reply, err := asker.WaitForMessage(t.Context(), c3po.WaitInput{MessageID: receipt.ID, Timeout: 60})
	woken := time.Now()
	if err != nil || reply.Outcome != nil || reply.Text() != "answered" {
		t.Fatalf("%+v, %v", reply, err)
	}
	fired := firedAt(t, loop.out.String())
	accepted, posted := traceOf(t, h, receipt.ID).Accepted.At, traceOf(t, h, reply.ID).Accepted.At
	t.Logf("accepted to fired %v, reply posted to asker woken %v, in all %v",
		fired.Sub(accepted).Round(time.Millisecond), woken.Sub(posted).Round(time.Millisecond), woken.Sub(accepted).Round(time.Millisecond))
	faultrig.Hold(t, "what c3po adds to a container's own time", fired.Sub(accepted)+woken.Sub(posted), 300*time.Millisecond)

	// Ten mails, one a second.
	var sent []c3po.MessageID
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for i := range 10 {
		receipt, err := asker.SendMessage(t.Context(), c3po.SendInput{Target: "docker/coder", Message: fmt.Sprintf("number %d", i)})
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, receipt.ID)
		<-tick.C
	}
	last := time.Time{}
	for i, id := range sent {
		var answers []c3po.Answered
		eventually(t, 2*time.Minute, fmt.Sprintf("number %d is answered", i), func() bool {
			answers = traceOf(t, h, id).Answered
			return len(answers) > 0
		})
		if len(answers) != 1 {
			t.Errorf("number %d was answered %d times", i, len(answers))
		}
		if answers[0].At.Before(last) {
			t.Errorf("number %d was answered before the one before it", i)
		}
		last = answers[0].At
	}
	runs := strings.Count(loop.out.String(), "trigger fired")
	t.Logf("11 messages took %d runs", runs)
	loop.signal(syscall.SIGTERM)
	if code := loop.ended(20 * time.Second); code != 0 {
		t.Errorf("the loop ended with %d", code)
	}
}

// firedAt is when the runner said last that a trigger has fired.
func firedAt(t *testing.T, said string) time.Time {
	t.Helper()
	at := time.Time{}
	for line := range strings.Lines(said) {
		if strings.Contains(line, "trigger fired") {
			word, _, _ := strings.Cut(strings.TrimPrefix(line, "time="), " ")
			var err error
			if at, err = time.Parse(time.RFC3339Nano, word); err != nil {
				t.Fatal(err)
			}
		}
	}
	return at
}

func traceOf(t *testing.T, h *host, id c3po.MessageID) c3po.Trace {
	t.Helper()
	trace, err := h.admin().Trace(t.Context(), c3po.MessageInput{MessageID: id})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func TestASignalDuringAModelsCallLetsTheSessionEndInOrder(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	asked := make(chan struct{}, 100)
	m := llm.Start(t, func(llm.Request) llm.Step { asked <- struct{}{}; return llm.Step{Hangs: true} })
	workspace := h.workspace("work")
	hook := `{"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"echo ended >> /workspace/hook"}]}]}}`
	folder := filepath.Join(workspace, ".claude")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "settings.json"), []byte(hook), 0o644); err != nil {
		t.Fatal(err)
	}
	h.agents(withClaude("coder", workspace, m, "  prompt: work\n"))
	run := h.start("agent", "coder")
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Fatalf("the model was not asked:\n%s", run.out)
	}
	began := time.Now()
	run.signal(syscall.SIGTERM)
	code := run.ended(30 * time.Second)
	faultrig.Hold(t, "from the signal to the end", time.Since(began), 5*time.Second)
	if code != 143 {
		t.Errorf("it ended with %d, want 143", code)
	}
	if ends := lines(filepath.Join(workspace, "hook")); len(ends) != 1 {
		t.Errorf("the hook of the session's end ran %d times", len(ends))
	}
	if left := h.containers(); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
}
