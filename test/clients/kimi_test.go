package clients_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// kimiConfig is what a person may have in the file, with our model in it.
func kimiConfig(r *rig) string {
	return fmt.Sprintf(`# mine
default_model = "test"
telemetry = false

[providers.test]
type = "openai"
base_url = "%s/v1"
api_key = "none"

[models.test]
provider = "test"
model = "of-the-test"   # the big one
max_context_size = 100000
`, r.model.url)
}

func kimiServers(*rig) string { return "{\n    \"mcpServers\": {\n    }\n}\n" }

func kimiKind() kind {
	return kind{files: map[string]func(*rig) string{
		".kimi-code/config.toml": kimiConfig,
		".kimi-code/mcp.json":    kimiServers,
	}}
}

// outputFile is how Kimi says what a command in the background has printed.
var outputFile = regexp.MustCompile(`<output-file path="([^"]+)"`)

// kimiWaits is a model that does what it is told of the background shell: at once,
// or when it has nothing else to do.
func kimiWaits(then brain) brain {
	again := false
	wait := step{tool: "Bash", input: map[string]any{
		"command": "c3po wait --notice", "description": "wait for mail", "run_in_background": true, "disable_timeout": true,
	}}
	return func(r request) step {
		if match := outputFile.FindStringSubmatch(r.fresh); match != nil {
			return step{tool: "Read", input: map[string]any{"path": match[1]}}
		}
		again = again || strings.Contains(r.fresh, "Then run c3po wait --notice again")
		if strings.Contains(r.fresh, "c3po wait --notice runs in a background shell") {
			return wait
		}
		next := then(r)
		if again && next.tool == "" {
			again = false
			return wait
		}
		return next
	}
}

// Claims: C10
func TestKimiAnswersMailAtTheEndOfATurn(t *testing.T) {
	t.Parallel()
	var receipt c3po.Receipt
	var once sync.Once
	r := newRig(t, "kimi", func(r *rig) brain {
		return kimiWaits(reading("port 8080", func(request) step {
			once.Do(func() {
				if !faultrig.Within(20*time.Second, r.listens) {
					r.t.Error("it is not online")
				}
				receipt = r.ask("Which port?")
			})
			return step{text: "ALL-DONE"}
		}))
	})
	r.run("kimi", "-p", "do some work")
	r.answered(receipt, "port 8080", 1)
	r.cost()
	if shown := r.model.read(); !strings.Contains(shown, "c3po: you are api.") || !strings.Contains(shown, "Ask another coding agent, answer one") {
		t.Error("it was not greeted, or the skill was not offered")
	}
}

// Claims: C10, C13
func TestKimiThatWaitsInTheBackgroundAnswersMailInTheMiddleOfATurnAndWhileItIsIdle(t *testing.T) {
	t.Parallel()
	receipts := make(chan c3po.Receipt, 1)
	r := newRig(t, "kimi", func(r *rig) brain {
		asked, steps := false, 0
		return kimiWaits(reading("port 8080", func(request) step {
			told := r.model.read()
			if steps++; steps > 60 {
				r.t.Error("it was not told in the middle of the turn")
				return step{text: "NO-NOTICE"}
			}
			if !strings.Contains(told, "do more work") || strings.Contains(told, "urgent message") {
				return step{text: "ALL-DONE"}
			}
			if !asked && strings.Contains(told, "task_id: bash-") {
				asked = true
				receipts <- r.ask("Which port?", urgent)
			}
			return step{tool: "list_agents", input: map[string]any{"limit": steps}}
		}))
	})
	term := r.open("kimi", "--auto")
	term.see("Trust this folder")
	term.tmux("send-keys", "Enter")
	term.see("No session yet")
	term.enter("do some work")
	term.see("ALL-DONE")
	term.rest()
	term.enter("do more work")
	select {
	case receipt := <-receipts:
		r.answered(receipt, "port 8080", 30)
		r.received(receipt)
	case <-time.After(40 * time.Second):
		t.Fatal("no shell was started")
	}
	term.rest()
	r.reached(c3po.ReachNow)
	began := time.Now()
	r.answered(r.ask("Which port is it?"), "port 8080", 30)
	r.cost()
	faultrig.Hold(t, "an idle Kimi has answered", time.Since(began), 5*time.Second)
}

// Claims: C10
func TestUninstallingLeavesTheFilesOfKimiAsTheyWere(t *testing.T) {
	t.Parallel()
	r := newRigAt(t, "kimi", "http://127.0.0.1:1", idly)
	before := map[string]string{"config.toml": kimiConfig(r), "mcp.json": kimiServers(r)}
	name := func(file string) string { return filepath.Join(r.home(), ".kimi-code", file) }
	r.c3po("install", "kimi")
	r.c3po("install", "kimi")
	r.run("kimi", "doctor", "config")
	r.c3po("uninstall", "kimi")
	for file, text := range before {
		after, err := os.ReadFile(name(file))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text, string(after)); diff != "" {
			t.Error(diff)
		}
	}
	// Somebody edits in between.
	r.c3po("install", "kimi")
	text, err := os.ReadFile(name("config.toml"))
	if err == nil {
		err = os.WriteFile(name("config.toml"), append([]byte("# mine, and more\n"), text...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.c3po("uninstall", "kimi")
	after, err := os.ReadFile(name("config.toml"))
	if err != nil || string(after) != "# mine, and more\n"+before["config.toml"] {
		t.Errorf("%v\n%s", err, after)
	}
	r.run("kimi", "doctor", "config")
}

// Claims: C10
func TestWithoutACoordinatorKimiWorksAsIfC3POWereNotThere(t *testing.T) {
	t.Parallel()
	r := newRigAt(t, "kimi", "http://127.0.0.1:1", idly)
	r.c3po("install", "kimi")
	if out, _ := r.run("kimi", "-p", "do some work"); !strings.Contains(out, "ALL-DONE") {
		t.Errorf("%s", out)
	}
}
