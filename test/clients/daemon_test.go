package clients_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// With the daemon that Codex starts by itself, which serves all terminals.
func TestTwoTerminalsOnOneCodexDaemonAreTwoAgents(t *testing.T) {
	t.Parallel()
	r := newTestAgent(t, "codex", func(q llm.Request) llm.Step {
		// Each answers with the name it was greeted by.
		answer := "I am api"
		if strings.Contains(q.All(), "c3po: you are docs.") {
			answer = "I am docs"
		}
		return llm.Following(llm.Answers(answer), llm.Else(done))(q)
	})
	docs := filepath.Join(r.Dir, "docs")
	if err := os.MkdirAll(docs, 0o700); err != nil {
		t.Fatal(err)
	}
	const config = ".codex/config.toml"
	text := strings.Replace(r.Text(config), "daemon_auto_start = false", "daemon_auto_start = true", 1)
	r.Write(config, text+"\n[projects.\""+docs+"\"]\ntrust_level = \"trusted\"\n")
	t.Cleanup(func() {
		// The daemon, and the updater that stays when the daemon is told to stop.
		for _, pid := range r.Processes(r.Home() + "/") {
			clientrig.Kill(t, pid)
		}
	})
	for folder, name := range map[string]c3po.AgentID{r.Folder: "api", docs: "docs"} {
		term := r.OpenIn(folder)
		term.Enter("hello")
		term.See("ALL-DONE")
		term.Rest()
		r.c.Online(name)
	}
	if _, err := os.Stat(filepath.Join(r.Home(), ".codex", "app-server-control", "app-server-control.sock")); err != nil {
		t.Fatalf("there is no daemon: %v", err)
	}
	began := time.Now()
	for _, name := range []c3po.AgentID{"api", "docs"} {
		r.c.Answered("web", r.c.Send("web", name, "Who are you?"), "I am "+string(name), 90)
	}
	faultrig.Hold(t, "both have answered", time.Since(began), 10*time.Second)
}
