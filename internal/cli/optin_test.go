package cli_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/plugin"
)

// hooksOf are the hooks of an installed plugin: the event, and what runs.
func (h *verifiedHost) hooksOf() (all []string) {
	h.t.Helper()
	var file struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Type    string            `json:"type"`
				Command string            `json:"command"`
				Input   map[string]string `json:"input"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	text, err := os.ReadFile(filepath.Join(h.plugin, "hooks", "hooks.json"))
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	for event, groups := range file.Hooks {
		for _, g := range groups {
			for _, one := range g.Hooks {
				_, command, _ := strings.Cut(one.Command, "/bin/launch\" ")
				given := ""
				if one.Input["tool_input"] != "" {
					given = " with what the tool was given"
				}
				all = append(all, strings.TrimSpace(event+" "+one.Type+" "+command)+given)
			}
		}
	}
	slices.Sort(all)
	return all
}

// differences are the files of an installed plugin that are not as they are published.
func (h *verifiedHost) differences() (all []string) {
	h.t.Helper()
	err := fs.WalkDir(plugin.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		want, err := plugin.Files.ReadFile(name)
		if err != nil {
			return err
		}
		if got, _ := os.ReadFile(filepath.Join(h.plugin, name)); string(got) != string(want) {
			all = append(all, name)
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

// The hooks that Claude Code runs without --approvals are those that it ran before there were
// approvals, and those for leases. None of them waits for a person, and none is given what a tool was given.
func TestWhoDoesNotWantApprovalsHasTheSameHooksAsBefore(t *testing.T) {
	t.Parallel()
	h := newVerifiedHost(t)
	before := []string{
		"Notification mcp_tool", "PermissionDenied mcp_tool", "PermissionRequest mcp_tool", "PostToolUse mcp_tool", "PostToolUseFailure mcp_tool", "PreToolUse mcp_tool", "PreToolUse mcp_tool",
		"SessionStart command hook session-start", "Stop mcp_tool", "StopFailure mcp_tool", "UserPromptSubmit mcp_tool",
	}
	same := func(when string) {
		if diff := cmp.Diff(before, h.hooksOf()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
		if files := h.differences(); len(files) > 0 {
			t.Errorf("%s, these differ from what is published: %v", when, files)
		}
	}
	same("without approvals")
	h.must("install", "claude", "--approvals")
	with := append(slices.Clone(before), "PermissionRequest command hook permission")
	with[slices.Index(with, "PostToolUse mcp_tool")] += " with what the tool was given"
	slices.Sort(with)
	if diff := cmp.Diff(with, h.hooksOf()); diff != "" {
		t.Errorf("with approvals (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"hooks/hooks.json"}, h.differences()); diff != "" {
		t.Errorf("with approvals, these differ (-want +got):\n%s", diff)
	}
	h.must("install", "claude")
	same("once they are taken back")
}
