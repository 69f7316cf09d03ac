package runner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// noting stands for Claude Code and writes down how it is called. An update of a
// plugin fails, and lasts until it is allowed to.
const noting = `#!/bin/sh
echo "$*" >> /workspace/calls
if [ "$1" = plugin ]; then
  while [ -e /workspace/hold ]; do sleep 0.05; done
  exit 1
fi
`

// The table of what is done before a launch: plugins are updated, and that it
// fails does not matter; credentials are checked, and that it fails does.
func TestTheChecksBeforeALaunchAreThoseOfItsMode(t *testing.T) {
	stage(t, "checks")
	h := newHostOf(t)
	withClaudeThatNotes(t, h)
	plugins := filepath.Join(h.home, ".config", "c3po", "claude", "plugins")
	if err := os.MkdirAll(plugins, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(plugins, "installed_plugins.json"), []byte(`{"plugins":{"one@market":[],"two@market":[]}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		mode    string
		updates bool // plugins are brought up to date
		checks  bool // without a coordinator it does not start
		runs    bool // Claude Code, if nothing is in the way
	}{
		{"prompt", true, false, true},
		{"agent", true, true, true},
		{"shell", false, false, false},
		{"setup-c3po", false, false, false},
	} {
		for _, down := range []bool{false, true} {
			workspace := h.workspace(fmt.Sprintf("%s-%v", row.mode, down))
			h.agents("coder:\n  workspace: " + workspace + "\n  prompt: work\n")
			code, calls := h.launch(row.mode, workspace, down, row.checks)
			updated := slices.Contains(calls, "plugin update one@market") && slices.Contains(calls, "plugin update two@market")
			ran := slices.ContainsFunc(calls, func(call string) bool { return strings.Contains(call, "--print") })
			if updated != row.updates {
				t.Errorf("%s: plugins are updated: %v, want %v", row.mode, updated, row.updates)
			}
			want, runs := 0, row.runs
			if down && row.checks {
				want, runs = 78, false
			}
			if code != want || ran != runs {
				t.Errorf("%s, coordinator down %v: it ended with %d, Claude Code ran %v; want %d, %v", row.mode, down, code, ran, want, runs)
			}
		}
	}
}

// launch runs a mode, with a coordinator or without. One that is needed to begin
// with goes away while plugins are updated.
func (h *host) launch(mode, workspace string, down, needed bool) (code int, calls []string) {
	h.t.Helper()
	hold := filepath.Join(workspace, "hold")
	if down && needed {
		if err := writeFile(hold); err != nil {
			h.t.Fatal(err)
		}
	} else if down && mode != "setup-c3po" { // which speaks to it itself, without a container
		h.coordinator.Kill()
	}
	args := map[string][]string{
		"prompt": {"agent", "prompt", "work"}, "agent": {"agent", "coder"}, "shell": {"agent", "shell"},
		"setup-c3po": {"agent", "setup-c3po", h.coordinator.URL(), "-"},
	}[mode]
	if down && needed {
		run := h.start(args...)
		eventually(h.t, time.Minute, "a plugin is updated", func() bool { return len(lines(filepath.Join(workspace, "calls"))) > 0 })
		h.coordinator.Kill()
		if err := os.Remove(hold); err != nil {
			h.t.Fatal(err)
		}
		code = run.ended(2 * time.Minute)
	} else {
		stdin := "true\n"
		if mode == "setup-c3po" {
			stdin = h.adminToken()
		}
		got := h.c3po(workspace, stdin, args...)
		if code = got.code; code != 0 {
			h.t.Logf("%s: %s%s", mode, got.stdout, got.stderr)
		}
	}
	if down && mode != "setup-c3po" {
		h.coordinator.Restart()
	}
	data, _ := os.ReadFile(filepath.Join(workspace, "calls"))
	for line := range strings.Lines(string(data)) {
		calls = append(calls, strings.TrimSpace(line))
	}
	return code, calls
}

// withClaudeThatNotes puts another program in the place of Claude Code, in the
// image that is there, for the time of the test.
func withClaudeThatNotes(t *testing.T, h *host) {
	t.Helper()
	const current, kept = "localhost/c3po-agent", "localhost/c3po-agent-kept"
	folder := t.TempDir()
	for name, text := range map[string]string{
		"claude":     noting,
		"Dockerfile": "FROM " + kept + "\nUSER root\nRUN rm /usr/local/bin/claude\nCOPY --chmod=755 claude /usr/local/bin/claude\nUSER agent\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.podman("tag", current, kept); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.podman("tag", kept, current); err != nil {
			t.Error(err)
		}
	})
	if err := h.podman("build", "-q", "-t", current, folder); err != nil {
		t.Fatal(h.inspect("build", "-t", current, folder))
	}
}
