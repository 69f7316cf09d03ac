package clients_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// With the daemon that Codex starts by itself, which serves all terminals.
//
// Claims: C10
func TestTwoTerminalsOnOneCodexDaemonAreTwoAgents(t *testing.T) {
	t.Parallel()
	r := newRig(t, "codex", func(*rig) brain {
		return func(asked request) step {
			// Each answers with the name it was greeted by.
			answer := "I am api"
			if strings.Contains(asked.all, "c3po: you are docs.") {
				answer = "I am docs"
			}
			return reading(answer, done)(asked)
		}
	})
	docs := filepath.Join(r.dir, "docs")
	if err := os.MkdirAll(docs, 0o700); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(".codex", "config.toml")
	text := strings.Replace(r.text(filepath.Join(r.home(), config)), "daemon_auto_start = false", "daemon_auto_start = true", 1)
	r.write(config, text+"\n[projects.\""+docs+"\"]\ntrust_level = \"trusted\"\n")
	t.Cleanup(r.endAll)
	for folder, name := range map[string]string{r.project(): "api", docs: "docs"} {
		term := r.openIn(folder, "codex")
		term.see("Ask Codex")
		term.enter("hello")
		term.see("ALL-DONE")
		term.rest()
		if !faultrig.Within(20*time.Second, func() bool { return r.here(name) }) {
			t.Fatalf("%s is not online:\n%s", name, r.c3po("agents"))
		}
	}
	if _, err := os.Stat(filepath.Join(r.home(), ".codex", "app-server-control", "app-server-control.sock")); err != nil {
		t.Fatalf("there is no daemon: %v", err)
	}
	began := time.Now()
	for _, name := range []string{"api", "docs"} {
		receipt := r.ask("Who are you?", func(in *c3po.SendInput) { in.Target = name })
		r.answered(receipt, "I am "+name, 90)
	}
	faultrig.Hold(t, "both have answered", time.Since(began), 10*time.Second)
}

// endAll ends what runs from the home: the daemon of Codex, and the updater that
// stays when the daemon is told to stop.
func (r *rig) endAll() {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		text, _ := os.ReadFile(name) // it may have ended by itself
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || !strings.HasPrefix(string(text), r.home()+"/") {
			continue
		}
		if process, err := os.FindProcess(pid); err == nil {
			_ = process.Kill()
		}
	}
}
