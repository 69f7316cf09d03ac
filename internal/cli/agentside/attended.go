package agentside

import (
	"os"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/engine"
)

// answersVariable opts a run without a person into mail: "answer" makes hooks tell
// it of mail, as they tell a session with a person.
const answersVariable = "C3PO_UNATTENDED"

// answers says that who started the client wants its mail answered even if nobody
// attends it. A runner says so of the run it has named; an agent that this run
// starts inherits the variables, but is another run.
func answers(a *console.Console, r ClientRun) bool {
	return a.Getenv(answersVariable) == "answer" && (a.Getenv("C3PO_RUN") == "" || r.lock != nil)
}

// isAttended says that somebody sits before a client, by the arguments of its
// process. Only of Copilot do they tell: Kimi hides them, others need not be asked.
func isAttended(clientName string, pid int) bool {
	if clientName != string(hook.Copilot) {
		return false
	}
	args, known := engine.Arguments(pid)
	return known && !slices.ContainsFunc(args[1:], isPromptFlag)
}

// isUnattended says that the client which has started this process runs one prompt
// for its output: claude -p, codex exec, opencode run, gemini -p, copilot -p, or
// either of the last two with its prompt on stdin.
func isUnattended(a *console.Console, clientName string) bool {
	if clientName == string(hook.ClaudeCode) && strings.HasPrefix(a.Getenv("CLAUDE_CODE_ENTRYPOINT"), "sdk") {
		return true
	}
	args, known := engine.Arguments(os.Getppid())
	if !known || len(args) == 0 {
		return false
	}
	by := hook.Dialect(clientName)
	terminal, known := engine.OnTerminal(os.Getppid())
	return runsOnePrompt(by, args[1:]) || known && !terminal && readsPrompt(by, args[1:])
}

// readsPrompt says that a client whose stdin is no terminal takes its one prompt from
// there. An editor also speaks to it that way, and says so by a flag.
func readsPrompt(by hook.Dialect, args []string) bool {
	return (by == hook.Gemini || by == hook.Copilot) && !slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "acp") || arg == "--server" || arg == "--headless"
	})
}

// runsOnePrompt reads the arguments of a client.
func runsOnePrompt(by hook.Dialect, args []string) bool {
	switch by {
	case hook.ClaudeCode:
		return slices.Contains(args, "-p") || slices.Contains(args, "--print")
	case hook.Codex:
		return slices.Contains(args, "exec") || len(args) > 0 && (args[0] == "e" || args[0] == "review")
	case hook.OpenCode:
		return slices.Contains(args, "run")
	case hook.Gemini, hook.Copilot:
		return slices.ContainsFunc(args, isPromptFlag)
	}
	return false
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
