package console

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// reserved are the commands for people: whoever can run one of them is an admin
// of the coordinator in all but name, or acts for the person. A group's name
// stands for every command in it. TestEveryCommandSaysWhoMayRunIt wants each
// command of the program either here or among those that agents may run.
var reserved = []string{
	"answer", "login", "leave", "claude", "codex", "opencode", "gemini", "copilot", "kimi", "search", "hooks",
	"up", "down", "serve", "demo",
	"backup", "restore", "export", "import",
	"token", "passkey", "invite", "join", "audit", "sweep", "dead-letter",
	"human", "stuck", "open", "notify", "pause", "resume", "on", "off",
	"install", "uninstall",
	"agent up", "agent run", "agent prompt", "agent shell", "agent stop", "agent setup", "agent setup-c3po",
	"agents forget", "attend", "leases on", "leases off", "leases release",
}

// IsReserved says whether a command is for people only.
func IsReserved(cmd *cobra.Command) bool {
	path := strings.TrimPrefix(cmd.CommandPath(), "c3po ")
	for _, name := range reserved {
		if path == name || strings.HasPrefix(path, name+" ") {
			return true
		}
	}
	return false
}

// RefuseAgents refuses a command that is a person's where an agent runs. It is
// the first thing a reserved command does.
func (a *Console) RefuseAgents() error {
	why := "a process above it is one"
	if variable := a.AgentHere(); variable != "" {
		why = variable + " is set"
	} else if _, below := a.SessionAbove(); !below {
		if why = a.agentAbove(); why == "" {
			return nil
		}
	}
	return c3po.Errorf(c3po.Forbidden, "this is reserved for people, and an agent runs here (%s)", why).
		Suggest("%s Are you a person? %s", c3po.AskPerson, auth.OwnTerminal)
}
