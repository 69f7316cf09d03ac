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

// codexConfig is what a person may have in the file, with our model in it.
func codexConfig(r *rig) string {
	return fmt.Sprintf(`# my settings
model = "of-the-test"   # the big one
model_provider = "test"
sandbox_mode = "read-only"
approval_policy = "never"

[model_providers.test]
name = "test"
base_url = "%s/v1"
env_key = "NO_KEY"
wire_api = "responses"

[analytics]
enabled = false

[features]
plugins = false
daemon_auto_start = false

[projects."%s"]
trust_level = "trusted"
`, r.model.url, r.project())
}

func codexKind() kind {
	return kind{files: map[string]func(*rig) string{".codex/config.toml": codexConfig}}
}

func done(request) step { return step{text: "ALL-DONE"} }

// idly is a model that says it is done, whatever it is asked.
func idly(*rig) brain { return done }

func urgent(in *c3po.SendInput) { in.Priority = c3po.Urgent }

// Claims: C10
func TestCodexAnswersUrgentMailInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	var receipt c3po.Receipt
	asked := false
	r := newRig(t, "codex", func(r *rig) brain {
		steps := 0
		return reading("port 8080", func(request) step {
			// The turn goes on until the notice comes: the end of it would bring it too.
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
	out, _ := r.run("codex", "exec", "--skip-git-repo-check", "do some work")
	if !strings.Contains(out, "ALL-DONE") || strings.Contains(out, "NO-NOTICE") {
		t.Errorf("%s", out)
	}
	r.answered(receipt, "port 8080", 1)
	if shown := r.model.read(); !strings.Contains(shown, "c3po: you are api.") || !strings.Contains(shown, "c3po/SKILL.md") {
		t.Error("it was not greeted, or the skill was not offered")
	}
	trace, err := r.as("web").Trace(t.Context(), c3po.MessageInput{MessageID: receipt.ID})
	if err != nil || trace.Received == nil {
		t.Errorf("that Codex has the message is not proved: %v, %+v", err, trace)
	}
}

// Claims: C10
func TestCodexAnswersMailAtTheEndOfATurn(t *testing.T) {
	t.Parallel()
	var receipt c3po.Receipt
	var once sync.Once
	r := newRig(t, "codex", func(r *rig) brain {
		return reading("port 8080", func(request) step {
			once.Do(func() {
				if !faultrig.Within(20*time.Second, r.listens) {
					r.t.Error("it is not online")
				}
				receipt = r.ask("Which port?")
			})
			return step{text: "ALL-DONE"}
		})
	})
	r.run("codex", "exec", "--skip-git-repo-check", "do some work")
	r.answered(receipt, "port 8080", 1)
	r.cost()
	if !strings.Contains(r.model.read(), "<hook_prompt") {
		t.Error("the notice did not come at the end of the turn")
	}
}

// Claims: C10, C13
func TestCodexAnswersMailThatComesWhileItIsIdle(t *testing.T) {
	t.Parallel()
	r := newRig(t, "codex", func(*rig) brain { return reading("port 8080", done) })
	term := r.open("codex")
	term.see("Ask Codex")
	term.enter("do some work")
	term.see("ALL-DONE")
	term.rest()
	if !faultrig.Within(20*time.Second, r.online) {
		t.Fatal("it is not online")
	}
	began := time.Now()
	r.answered(r.ask("Which port?"), "port 8080", 60)
	faultrig.Hold(t, "an idle Codex has answered", time.Since(began), 12*time.Second)
	if strings.Contains(r.model.read(), "<hook_prompt") {
		t.Error("it was not idle: a hook has told it")
	}
}

// Claims: C10
func TestCodexTrustsTheHooksThatWereInstalled(t *testing.T) {
	t.Parallel()
	r := newRig(t, "codex", idly)
	// Installing again tells what mail takes which way.
	if said := r.c3po("install", "codex"); !strings.Contains(said, "codex hook Stop: ") || strings.Contains(said, "FAILED") {
		t.Errorf("%s", said)
	}
	out, _ := r.run("codex", "exec", "--skip-git-repo-check", "do some work")
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "Stop"} {
		if !strings.Contains(out, "hook: "+event+" Completed") {
			t.Errorf("%s did not run:\n%s", event, out)
		}
	}
}

// Claims: C10
func TestUninstallingLeavesTheFilesOfCodexAsTheyWere(t *testing.T) {
	t.Parallel()
	r := newRigAt(t, "codex", "http://127.0.0.1:1", idly)
	before := codexConfig(r)
	r.c3po("install", "codex")
	r.c3po("install", "codex")
	r.c3po("uninstall", "codex")
	name := filepath.Join(r.home(), ".codex", "config.toml")
	after, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, string(after)); diff != "" {
		t.Error(diff)
	}
	// With Codex itself as the one who edits: it starts with what is left.
	r.c3po("install", "codex")
	r.run("codex", "mcp", "add", "other", "--", "true")
	r.c3po("uninstall", "codex")
	after, err = os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(after); strings.Contains(text, "c3po") || !strings.Contains(text, "[mcp_servers.other]") || !strings.Contains(text, "# my settings") {
		t.Errorf("%s", text)
	}
	if out, _ := r.run("codex", "mcp", "list"); !strings.Contains(out, "other") || strings.Contains(out, "c3po") {
		t.Errorf("%s", out)
	}
}

// Claims: C10
func TestWithoutACoordinatorCodexWorksAsIfC3POWereNotThere(t *testing.T) {
	t.Parallel()
	r := newRigAt(t, "codex", "http://127.0.0.1:1", idly)
	exec := func() time.Duration {
		var best time.Duration
		for range 3 {
			out, took := r.run("codex", "exec", "--skip-git-repo-check", "do some work")
			if !strings.Contains(out, "ALL-DONE") || strings.Contains(out, "Failed") {
				t.Errorf("%s", out)
			}
			if best == 0 || took < best {
				best = took
			}
		}
		return best
	}
	without := exec()
	r.c3po("install", "codex")
	with := exec()
	t.Logf("without c3po %v, with it and no coordinator %v", without, with)
	faultrig.Hold(t, "a turn takes longer by", with-without, 300*time.Millisecond)
}
