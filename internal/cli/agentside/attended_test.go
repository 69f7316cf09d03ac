package agentside

import (
	"os"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// A client without a terminal may not end before its background shells do.
func TestAClientWithOnePromptIsNotAttended(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]bool{
		"-p": true, "-sp": true, "--prompt": true, "--prompt=x": true,
		"-s": false, "--plain-diff": false, "-": false, "pick": false, "--allow-tool=shell(cp)": false,
	} {
		if got := isPromptFlag(arg); got != want {
			t.Errorf("%s: %v", arg, got)
		}
	}
	for line, want := range map[string]bool{
		"claude-code -p x": true, "claude-code --print x": true, "claude-code --plugin-dir p": false,
		"codex exec x": true, "codex e x": true, "codex": false, "codex resume": false,
		"opencode run x": true, "opencode": false, "gemini -m m -p x": true, "gemini": false, "copilot -sp x": true, "copilot": false,
	} {
		words := strings.Fields(line)
		if got := runsOnePrompt(hook.Dialect(words[0]), words[1:]); got != want {
			t.Errorf("%s runs one prompt: %v", line, got)
		}
	}
	for line, want := range map[string]bool{
		"gemini": true, "gemini -m m": true, "copilot -s": true, "gemini --experimental-acp": false, "gemini --acp": false,
		"copilot --acp --stdio": false, "copilot --server": false, "claude-code": false, "codex": false, "opencode": false, "kimi": false,
	} {
		words := strings.Fields(line)
		if got := readsPrompt(hook.Dialect(words[0]), words[1:]); got != want {
			t.Errorf("%s reads its prompt from stdin: %v", line, got)
		}
	}
	if isAttended("kimi", os.Getpid()) || isAttended("copilot", -1) {
		t.Error("it is attended though nobody can say")
	}
}
