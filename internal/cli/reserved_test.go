package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

// openToAgents are the commands an agent may run, and why that gives it nothing
// that is a person's.
var openToAgents = map[string]string{
	"save": "acts as itself, and writes new files only", "apply": "acts as itself, and asks git",
	"files": "shows an agent its own", "files drop": "an agent drops its own",
	"send": "acts as itself", "inbox": "acts as itself", "reply": "acts as itself", "wait": "acts as itself", "ack": "acts as itself",
	"claim": "acts as itself", "thread": "acts as itself", "tickets": "acts as itself", "cancel": "acts as itself", "broadcast": "acts as itself",
	"ask-human": "acts as itself", "register": "acts as itself", "unregister": "acts as itself", "status set": "acts as itself",
	"room set": "acts as itself: the coordinator asks who made the room", "room end": "acts as itself: the coordinator asks who made the room", "room prune": "ends rooms that are empty and silent", "thread resume": "asks the coordinator, which asks for a person",
	"rename": "acts as itself", "whoami": "acts as itself", "run": "acts as itself", "mcp": "acts as itself",
	"bridge-register": "acts as itself", "bridge-reply": "acts as itself",
	"bridgectl list agents": "looks", "bridgectl list tickets": "looks", "bridgectl tail logs": "looks",
	"room create": "acts as itself", "room join": "acts as itself", "room leave": "acts as itself", "room post": "acts as itself",
	"room invite": "acts as itself", "room history": "looks", "room list": "looks",
	"agents": "looks", "instances": "looks", "trace": "looks", "tail": "looks", "top": "looks; acts for the person only where no agent runs",
	"status": "looks", "health": "looks", "logs": "looks", "doctor": "looks", "fsck": "looks", "config": "looks", "version": "looks",
	"verify":  "sends a probe to itself",
	"upgrade": "looks with --check; the upgrade itself refuses agents", "completion": "prints what is built in", "man": "prints what is built in", "exit-codes": "prints what is built in",
	"format-stream": "rewrites its input", "acp": "is what a container runs; it asks no coordinator by itself", "hook session-start": "is what a client runs", "hook permission": "is what a client runs", "leases check": "is what git runs before a commit", "leases accept": "changes a note in the working tree that the agent may change anyway", "monitor": "is what a client runs",
	"agent list": "looks", "agent check": "looks", "agent unit": "prints text", "agent logs": "looks", "agent status": "looks", "agent ps": "looks",
}

func TestEveryCommandSaysWhoMayRunIt(t *testing.T) {
	t.Parallel()
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		if !cmd.Runnable() || cmd.HasSubCommands() {
			return
		}
		name := cmd.CommandPath()[len("c3po "):]
		switch _, open := openToAgents[name]; {
		case open && console.IsReserved(cmd):
			t.Errorf("c3po %s is reserved for people and open to agents", name)
		case !open && !console.IsReserved(cmd):
			t.Errorf("c3po %s is neither reserved for people nor said to be open to agents, with the reason", name)
		}
	}
	walk(root((&console.Console{})))
}

func TestNoReservedCommandBeginsWhereAnAgentRuns(t *testing.T) {
	t.Parallel()
	for _, name := range leaves(root((&console.Console{})), "") {
		a := &console.Console{Process: console.Process{Getenv: func(name string) string {
			return map[string]string{"CLAUDECODE": "1", "HOME": t.TempDir()}[name]
		}}}
		root := root(a)
		cmd, _, err := root.Find(strings.Fields(name))
		if err != nil {
			t.Fatal(err)
		}
		if !console.IsReserved(cmd) {
			continue
		}
		cmd.Args = nil
		cmd.DisableFlagParsing = true
		cmd.RunE = func(*cobra.Command, []string) error {
			t.Errorf("c3po %s begins", name)
			return nil
		}
		root.SetArgs(strings.Fields(name))
		if err := root.Execute(); c3po.AsError(err).Code != c3po.Forbidden {
			t.Errorf("c3po %s is answered %v", name, err)
		}
	}
}
