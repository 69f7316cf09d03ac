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

// geminiSettings is what a person may have in the file.
func geminiSettings(*rig) string {
	return `{
  // mine
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false, "unheardOf": [1,
    2]}
}
`
}

func geminiKind() kind {
	return kind{
		files: map[string]func(*rig) string{
			".gemini/settings.json":       geminiSettings,
			".gemini/trustedFolders.json": func(r *rig) string { return fmt.Sprintf(`{%q: "TRUST_FOLDER"}`, r.project()) },
		},
		env: func(r *rig) []string {
			return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + r.model.url}
		},
	}
}

// once is one turn without a terminal.
func (r *rig) gemini(prompt string) string {
	out, _ := r.run("gemini", "-m", "gemini-2.5-flash", "-p", prompt)
	return out
}

// Claims: C10
func TestGeminiAnswersUrgentMailInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	var receipt c3po.Receipt
	asked := false
	r := newRig(t, "gemini", func(r *rig) brain {
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
			return step{tool: "list_agents", input: map[string]any{"limit": steps}}
		})
	})
	out := r.gemini("do some work")
	if !strings.Contains(out, "ALL-DONE") || strings.Contains(out, "NO-NOTICE") {
		t.Errorf("%s", out)
	}
	r.answered(receipt, "port 8080", 1)
	r.received(receipt)
	if shown := r.model.read(); !strings.Contains(shown, "c3po: you are api.") || !strings.Contains(shown, "c3po/SKILL.md") {
		t.Error("it was not greeted, or the skill was not offered")
	}
}

// Claims: C10
func TestGeminiAnswersMailAtTheEndOfATurn(t *testing.T) {
	t.Parallel()
	var receipt c3po.Receipt
	var once sync.Once
	r := newRig(t, "gemini", func(r *rig) brain {
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
	r.gemini("do some work")
	r.answered(receipt, "port 8080", 1)
	r.cost()
}

// Claims: C10, C13
func TestGeminiThatStaysReachableAnswersMailThatComesWhileItIsIdle(t *testing.T) {
	t.Parallel()
	r := newRig(t, "gemini", func(*rig) brain { return reading("port 8080", done) }, "--stay-reachable")
	term := r.open("gemini", "-m", "gemini-2.5-flash")
	term.see("Type your message")
	term.enter("do some work")
	term.see("ALL-DONE")
	if !faultrig.Within(20*time.Second, r.online) {
		t.Fatal("it is not online")
	}
	term.see("Executing Hook") // its turn is over, and our hook waits for mail
	r.reached(c3po.ReachNow)
	began := time.Now()
	r.answered(r.ask("Which port?"), "port 8080", 60)
	faultrig.Hold(t, "an idle Gemini has answered", time.Since(began), 5*time.Second)
}

// Claims: C10
func TestUninstallingLeavesTheFilesOfGeminiAsTheyWere(t *testing.T) {
	t.Parallel()
	r := newRigAt(t, "gemini", "http://127.0.0.1:1", idly)
	name := filepath.Join(r.home(), ".gemini", "settings.json")
	r.c3po("install", "gemini")
	r.c3po("install", "gemini")
	r.c3po("uninstall", "gemini")
	after, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(geminiSettings(r), string(after)); diff != "" {
		t.Error(diff)
	}
	// With Gemini itself as the one who edits.
	r.c3po("install", "gemini")
	r.run("gemini", "mcp", "add", "-s", "user", "other", "true")
	r.c3po("uninstall", "gemini")
	if after, err = os.ReadFile(name); err != nil {
		t.Fatal(err)
	}
	if text := string(after); strings.Contains(text, "c3po") || !strings.Contains(text, `"other"`) || !strings.Contains(text, "// mine") {
		t.Errorf("%s", text)
	}
}

// Claims: C10
func TestWithoutACoordinatorGeminiWorksAsIfC3POWereNotThere(t *testing.T) {
	t.Parallel()
	r := newRigAt(t, "gemini", "http://127.0.0.1:1", idly)
	r.c3po("install", "gemini")
	if out := r.gemini("do some work"); !strings.Contains(out, "ALL-DONE") {
		t.Errorf("%s", out)
	}
}
