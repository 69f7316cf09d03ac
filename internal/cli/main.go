// Package cli is the c3po command: a verb for everything a person or a script
// does, over the same client that agents use. The commands are in the packages
// below it; here they are put together, with help, completion and manual pages.
package cli

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/internal/cli/agentside"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// A Process is what the program was started with.
type Process = console.Process

// Main runs one command and returns its exit code.
func Main(ctx context.Context, p Process) int {
	if p.Version == "" {
		p.Version = "dev"
	}
	p.Args, p.Getenv = calledAs(p.Name, p.Args), bridgeVariables(p.Getenv)
	p.WatchOutput()
	a := &console.Console{Process: p, Folders: paths.Folders{Getenv: p.Getenv}, Again: Main}
	root := root(a)
	root.SetArgs(p.Args)
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	return a.End(root.ExecuteContext(ctx))
}

// c2cCommands are the commands of c2c that have another name here.
var c2cCommands = map[string]string{"list": "agents", "poll-inbox": "inbox", "monitor": "tail"}

// calledAs gives the arguments of a program that was started by one of its
// other names.
func calledAs(name string, args []string) []string {
	name = strings.TrimSuffix(filepath.Base(name), ".exe")
	if slices.Contains(append(agentside.BridgeNames(), agentside.FormatStreamName), name) {
		return append([]string{name}, args...)
	}
	if name == "c2c" && len(args) > 0 {
		return append([]string{cmp.Or(c2cCommands[args[0]], args[0])}, args[1:]...)
	}
	if name == agentside.ClaudeDocker {
		return agentside.DockerArguments(args)
	}
	return args
}

// bridgeVariables lets the variables of the bridge stand for ours, where ours
// are not set.
func bridgeVariables(getenv func(string) string) func(string) string {
	return func(name string) string {
		switch name {
		case "C3PO_COORDINATOR_URL":
			return cmp.Or(getenv(name), getenv("BRIDGE_BROKER_URL"))
		case "C3PO_AGENT_ID":
			return cmp.Or(getenv(name), getenv("BRIDGE_AGENT_ID"))
		default:
			return getenv(name)
		}
	}
}
