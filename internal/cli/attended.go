package cli

import (
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/internal/engine"
	"github.com/c3po-dev/c3po/internal/hook"
)

// attended says that somebody sits before a client, by the arguments of its
// process. Only of Copilot do they tell: Kimi hides them, others need not be asked.
func attended(clientName string, pid int) bool {
	if clientName != string(hook.Copilot) {
		return false
	}
	args, known := engine.Arguments(pid)
	return known && !slices.ContainsFunc(args[1:], isPromptFlag)
}

// isPromptFlag says that an argument gives a client its one prompt: -p, be it
// among others like -sp, or --prompt.
func isPromptFlag(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	if strings.HasPrefix(name, "--") {
		return name == "--prompt"
	}
	return strings.HasPrefix(name, "-") && strings.Contains(name, "p")
}
