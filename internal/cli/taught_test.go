package cli

import (
	"os"
	"testing"

	"github.com/c3po-dev/c3po/internal/cli/console"
)

// taughtWith are commands that are shown together with another.
var taughtWith = map[string]string{
	"cancel": "tickets", "down": "up", "on": "off", "resume": "pause", "invite": "join", "login": "join", "leave": "join", "install": "clients", "uninstall": "clients",
	"claim": "roles", "restore": "backup", "import": "export", "sweep": "dead-letter", "broadcast": "room", "unregister": "register",
	"codex": "launch", "gemini": "launch", "copilot": "launch", "kimi": "launch",
}

// A script is also what a reader learns a command from.
func TestEveryCommandHasAScriptThatShowsIt(t *testing.T) {
	t.Parallel()
	for _, cmd := range root((&console.Console{})).Commands() {
		if !isForPeople(cmd) || cmd.IsAdditionalHelpTopicCommand() {
			continue
		}
		name := cmd.Name()
		if with := taughtWith[name]; with != "" {
			name = with
		}
		if _, err := os.Stat("testdata/script/" + name + ".txtar"); err != nil {
			t.Errorf("c3po %s has no script: %v", cmd.Name(), err)
		}
	}
}
