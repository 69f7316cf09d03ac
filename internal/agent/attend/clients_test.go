package attend_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/agent/attend"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

func TestAClientRunsInTheChosenModeOrTheNextMoreRestrictive(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ client, chosen, want string }{
		{"claude-code", "auto", "auto"},
		{"codex", "manual", "manual"},
		{"codex", "auto", "acceptEdits"},
		{"copilot", "bypassPermissions", "bypassPermissions"},
		{"kimi", "manual", ""},
		{"kimi", "auto", ""},
		{"kimi", "bypassPermissions", "bypassPermissions"},
		{"codex", "nosuch", ""},
		{"nosuch", "manual", ""},
	} {
		mode, ok := attend.Permitted(paths.Session{Client: c.client, Agent: "api"}, paths.Consents{"api": {Mode: c.chosen}})
		if mode != c.want || ok != (c.want != "") {
			t.Errorf("%s, of which %s is chosen, runs in mode %q", c.client, c.chosen, mode)
		}
	}
}

func TestOnlyTheWidestModeTakesAwayAllChecks(t *testing.T) {
	t.Parallel()
	all := []string{"--permission-mode bypassPermissions", "--dangerously-bypass-approvals-and-sandbox", "--auto", "yolo", "--allow-all"}
	for name, client := range attend.Clients() {
		for mode, rights := range client.Rights {
			line := strings.Join(rights.Args, " ")
			wide := slices.ContainsFunc(all, func(flag string) bool { return strings.Contains(line, flag) }) || len(rights.Args)+len(rights.Env) == 0
			if wide != (mode == attend.Bypass) {
				t.Errorf("%s in mode %s is started with %q %q", name, mode, rights.Args, rights.Env)
			}
		}
	}
}
