package runner

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

func TestEveryClientIsGivenItsPromptAndModelAndAsksNobody(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"claude":   {"claude", "--print", "go", "--dangerously-skip-permissions", "--model", "m"},
		"codex":    {"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--model", "m", "go"},
		"copilot":  {"copilot", "--allow-all-tools", "--model", "m", "--prompt", "go"},
		"gemini":   {"gemini", "--approval-mode", "yolo", "--model", "m", "--prompt", "go"},
		"kimi":     {"kimi", "--model", "m", "--prompt", "go"},
		"opencode": {"opencode", "run", "--auto", "--model", "m", "go"},
		"shell":    {"/bin/sh", "-c", "go"},
	}
	for _, client := range Clients() {
		got, _ := command(agentfile.Agent{Client: client, Model: "m"}, "go", Buffered, false)
		if diff := cmp.Diff(want[client], got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", client, diff)
		}
		delete(want, client)
	}
	for client := range want {
		t.Errorf("nobody can be %s", client)
	}
	got, _ := command(agentfile.Agent{Client: "gemini", Via: agentfile.ViaACP, Model: "m"}, "go", Formatted, false)
	if diff := cmp.Diff([]string{"c3po", "acp", "gemini", "--model", "m", "--steps", "--", "go"}, got); diff != "" {
		t.Errorf("by the Agent Client Protocol (-want +got):\n%s", diff)
	}
	if !slices.Contains(Clients(), agentfile.DefaultClient) {
		t.Error("the client that is meant if none is named is missing")
	}
}
