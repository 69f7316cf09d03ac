package clients_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// copilotServers is what a person may have in the file.
func copilotServers(*rig) string {
	return "{\n\t\"mcpServers\": {},\n\t\"unheardOf\": [1,\n\t\t2]\n}\n"
}

func copilotKind() kind {
	return kind{
		files: map[string]func(*rig) string{
			".copilot/mcp-config.json": copilotServers,
			".copilot/config.json":     func(r *rig) string { return fmt.Sprintf(`{"trustedFolders": [%q]}`, r.project()) },
		},
		env: func(r *rig) []string {
			return []string{
				"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL=" + r.model.url + "/v1",
				"COPILOT_PROVIDER_API_KEY=none", "COPILOT_MODEL=of-the-test",
				// It unpacks itself there, 235 MB: once for all tests.
				"XDG_CACHE_HOME=" + filepath.Join(os.Getenv("C3PO_CLIENTS"), "copilot", "cache"),
			}
		},
	}
}

// copilotWaits is a model that does what it is told of the background shell.
func copilotWaits(then brain) brain {
	return func(r request) step {
		if strings.Contains(r.fresh, "c3po wait --notice runs in a background shell") {
			return step{tool: "bash", input: map[string]any{"command": "c3po wait --notice", "description": "wait for mail", "mode": "async"}}
		}
		return then(r)
	}
}

// Claims: C10
func TestCopilotAnswersUrgentMailInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	var receipt c3po.Receipt
	asked := false
	r := newRig(t, "copilot", func(r *rig) brain {
		steps := 0
		return reading("port 8080", func(request) step {
			if steps++; !asked && r.online() {
				receipt, asked = r.ask("Which port?", urgent), true
			}
			if steps > 40 {
				return step{text: "NO-NOTICE"}
			}
			if strings.Contains(r.model.read(), "urgent message") {
				return done(request{})
			}
			return step{tool: "list_agents", input: map[string]any{}}
		})
	})
	out, _ := r.run("copilot", "-s", "-p", "do some work")
	if !strings.Contains(out, "ALL-DONE") || strings.Contains(out, "NO-NOTICE") {
		t.Errorf("%s", out)
	}
	r.answered(receipt, "port 8080", 1)
	r.received(receipt)
	if shown := r.model.read(); !strings.Contains(shown, "c3po: you are api.") || !strings.Contains(shown, "Ask another coding agent, answer one") {
		t.Error("it was not greeted, or the skill was not offered")
	}
}

// Claims: C10
func TestCopilotAnswersMailAtTheEndOfATurn(t *testing.T) {
	t.Parallel()
	var receipt c3po.Receipt
	var once sync.Once
	r := newRig(t, "copilot", func(r *rig) brain {
		return copilotWaits(reading("port 8080", func(request) step {
			once.Do(func() {
				if !faultrig.Within(20*time.Second, r.listens) {
					r.t.Error("it is not online")
				}
				receipt = r.ask("Which port?")
			})
			return step{text: "ALL-DONE"}
		}))
	})
	r.run("copilot", "-s", "-p", "do some work")
	r.answered(receipt, "port 8080", 1)
	r.cost()
}

// Claims: C10, C13
func TestCopilotAnswersMailThatComesWhileItIsIdleAndWaitsInTheBackground(t *testing.T) {
	t.Parallel()
	r := newRig(t, "copilot", func(*rig) brain { return copilotWaits(reading("port 8080", done)) })
	term := r.open("copilot")
	term.see("❯")
	term.rest() // it draws its prompt before it reads keys
	term.enter("do some work")
	term.see("ALL-DONE")
	if !faultrig.Within(20*time.Second, r.online) {
		t.Fatal("it is not online")
	}
	term.rest()
	r.reached(c3po.ReachNow)
	began := time.Now()
	r.answered(r.ask("Which port?"), "port 8080", 60)
	faultrig.Hold(t, "an idle Copilot has answered", time.Since(began), 5*time.Second)
}

// Claims: C10
func TestUninstallingLeavesTheFilesOfCopilotAsTheyWere(t *testing.T) {
	t.Parallel()
	r := newRigAt(t, "copilot", "http://127.0.0.1:1", idly)
	name := filepath.Join(r.home(), ".copilot", "mcp-config.json")
	r.c3po("install", "copilot")
	r.c3po("install", "copilot")
	r.c3po("uninstall", "copilot")
	after, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(copilotServers(r), string(after)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(r.home(), ".copilot", "hooks")); !os.IsNotExist(err) {
		t.Errorf("the folder of hooks is left: %v", err)
	}
	// With Copilot itself as the one who edits.
	r.c3po("install", "copilot")
	r.run("copilot", "mcp", "add", "other", "--", "true")
	r.c3po("uninstall", "copilot")
	if after, err = os.ReadFile(name); err != nil {
		t.Fatal(err)
	}
	if text := string(after); strings.Contains(text, "c3po") || !strings.Contains(text, `"other"`) {
		t.Errorf("%s", text)
	}
}

// Claims: C10
func TestWithoutACoordinatorCopilotWorksAsIfC3POWereNotThere(t *testing.T) {
	t.Parallel()
	r := newRigAt(t, "copilot", "http://127.0.0.1:1", idly)
	r.c3po("install", "copilot")
	if out, _ := r.run("copilot", "-s", "-p", "do some work"); !strings.Contains(out, "ALL-DONE") {
		t.Errorf("%s", out)
	}
}
