package session

import (
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/agent/hook"
)

func TestOnlyClaudeCodesModelIsToldWhichAgentsAreNotOurs(t *testing.T) {
	t.Parallel()
	for dialect, told := range map[hook.Dialect]bool{"": true, hook.ClaudeCode: true, hook.Codex: false, hook.Gemini: false, hook.Kimi: false, hook.OpenCode: false, hook.Copilot: false} {
		words := New(Config{Dialect: dialect}).instructions()
		if strings.Contains(words, "c3po agents are not in ListAgents/SendMessage") != told || len(words) > 300 {
			t.Errorf("a model of %q is told, in %d bytes: %s", dialect, len(words), words)
		}
	}
}
