package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// finds wants doctor to say each of these.
func (h *verifiedHost) finds(words ...string) {
	h.t.Helper()
	out, _ := h.run("doctor")
	for _, line := range words {
		if !strings.Contains(out, line) {
			h.t.Errorf("doctor does not say %q:\n%s", line, out)
		}
	}
}

func TestDoctorKnowsWhetherTheHooksOfACodingAgentRun(t *testing.T) {
	t.Parallel()
	h := newVerifiedHost(t)
	h.finds("green   claude: c3po is installed into it, current", "green   claude hooks: none has run here yet")
	h.must("verify", "--timeout", "60")
	h.finds("green   claude hooks: the last was ", " of verify-")

	// That sessions join rooms is not another version.
	h.must("install", "claude", "--room", "build")
	h.finds("green   claude: c3po is installed into it, current")
	h.write(filepath.Join(h.plugin, "hooks", "hooks.json"), "{}", 0o600)
	h.finds("yellow  claude: what is installed is not of this version: hooks/hooks.json", "fix: c3po install claude")
}

func TestDoctorLooksAtTheFilesOfACodingAgent(t *testing.T) {
	t.Parallel()
	h := newVerifiedHost(t)
	h.must("down") // what is installed is then not tried out, which takes its time
	h.write(filepath.Join(h.home, "bin", "codex"), "#!/bin/sh\n", 0o700)
	h.finds("green   codex: it is on this host, without c3po; to add it: c3po install codex")
	h.must("install", "codex", "--room", "build")
	h.finds("green   codex: c3po is installed into it, current", "green   codex hooks: ")

	config := filepath.Join(h.home, ".codex", "config.toml")
	whole, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	h.write(config, strings.ReplaceAll(string(whole), "[hooks.Stop]", "[hooks.Never]"), 0o600)
	h.finds("red     codex: its files do not name the hooks Stop any more")
	h.write(config, strings.ReplaceAll(string(whole), "command = \"", "command = \"/nowhere"), 0o600)
	h.finds("red     codex: it starts a program that is not there")
}
