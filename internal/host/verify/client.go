package verify

import (
	"fmt"
	"os/exec"
)

// A Client is a coding agent of this host as its configuration says it is
// started: what is tried is what is written there.
type Client struct {
	Name    string   // the paths are called after it; just "tools" if empty
	Trouble string   // why its configuration names nothing to try
	Fix     string   // the command that makes it whole
	Server  *Command // nil if it names none
	Hooks   []Hook
	Monitor *Command // nil if it names none
	Wakes   bool     // it should have a monitor
}

// A Hook is what a client does at an event of its life: it runs a command with
// the event on stdin, or calls a tool of the session process.
type Hook struct {
	Event   string
	Command *Command
	Tool    string
	Input   map[string]string // of the tool; "${name}" stands for a field of the event
	Trouble string            // why there is nothing to try
}

// A Command is a program and its environment: that of this process if nil.
type Command struct {
	Args []string
	Env  []string
}

func (c Command) cmd() *exec.Cmd {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env = c.Env
	return cmd
}

func (c Client) path(part string) string {
	if c.Name == "" {
		return part
	}
	return c.Name + " " + part
}

func (c Client) hookPath(h Hook) string { return c.path(fmt.Sprintf("hook %s", h.Event)) }

const pathMonitor = "monitor"

// paths are all that can be tried of the client.
func (c Client) paths() []string {
	all := []string{c.path(PathTools)}
	for _, h := range c.Hooks {
		all = append(all, c.hookPath(h))
	}
	if c.Wakes {
		all = append(all, c.path(pathMonitor))
	}
	return all
}
