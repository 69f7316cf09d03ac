package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/host/settings"
)

// app is one run of the program: what it was started with, and the flags that
// every command has.
type app struct {
	Process
	folders paths.Folders

	url   string
	as    string
	space string
	json  bool

	file    *settings.File    // c3po.yaml, once a command has begun
	origins map[string]origin // of the flags of the command that runs, by name

	again func(context.Context, Process) int // runs another command of this program, and returns its exit code
}

func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := cmd.CommandPath() + " --help lists the commands."
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(append(names, sub.Name()), sub.Aliases...)
		}
	}
	if near := nearest(args[0], names); near != "" {
		hint = "Did you mean " + cmd.CommandPath() + " " + near + "?"
	}
	return &usageError{fmt.Sprintf("there is no command %q", args[0]), hint}
}

// nearest is the name that was probably meant; empty if none is close.
func nearest(word string, names []string) string {
	best, distance := "", 3
	for _, name := range names {
		if d := c3po.EditDistance(word, name); d < distance && d <= len(word)/2 {
			best, distance = name, d
		}
	}
	return best
}

// arguments checks how many there are; use says what they stand for.
func arguments(least, most int, use string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (len(args) <= most || most < 0) {
			return nil
		}
		name := cmd.CommandPath()
		hint := "Usage: " + strings.TrimSpace(name+" "+use) + ". " + name + " --help shows an example."
		switch {
		case len(args) < least:
			return &usageError{fmt.Sprintf("%s needs %s", name, use), hint}
		case most == 0:
			return &usageError{fmt.Sprintf("%s takes no arguments, and got %q", name, args[0]), hint}
		default:
			return &usageError{fmt.Sprintf("%s takes at most %d arguments, and got %d", name, most, len(args)), "Put a text of several words in quotes. " + hint}
		}
	}
}

// acting is the client of a command that acts as an agent.
func (a *app) acting() (*client.Client, error) {
	if a.as != "" {
		return a.looking()
	}
	if own := a.ownSession(); own != "" {
		return a.clientAs(own)
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, &usageError{"the current folder has no name", "Say who you are with --as."}
	}
	return a.clientAs(c3po.AgentIDFromFolder(filepath.Base(folder)))
}

// ownSession is the agent whose session has started this command, as its session process
// says; empty if there is none. A daemon of Codex has several, and none is known.
func (a *app) ownSession() c3po.AgentID {
	socket, ok := a.sessionAbove()
	if !ok {
		return ""
	}
	about, ok := session.About(context.Background(), socket, a.trust(socket))
	if !ok || !about.Connected || about.Client == codexName {
		return ""
	}
	return about.Agent
}

// looking is the client of a command that only looks. It has an identity only
// if one was given: looking around in a folder must not make an agent of it.
// Without one it looks with the eyes of the person, if that is who runs it.
func (a *app) looking() (*client.Client, error) {
	if a.as == "" && a.agentHere() == "" && !a.belowAgent() {
		return a.personal(humanToken)
	}
	if a.as == "" {
		return a.clientAs("")
	}
	id, err := c3po.ParseAgentID(a.as)
	if err != nil {
		return nil, err
	}
	return a.clientAs(id)
}

func (a *app) clientAs(id c3po.AgentID) (*client.Client, error) {
	cfg, err := a.clientConfig(id)
	if err != nil {
		return nil, err
	}
	return client.New(cfg), nil
}

// clientConfig is what all clients of a command have in common.
func (a *app) clientConfig(id c3po.AgentID) (client.Config, error) {
	space, err := a.inSpace()
	if err != nil {
		return client.Config{}, err
	}
	cfg, err := a.reach()
	if cfg.Socket != "" {
		cfg.Prove = func(conn net.Conn) error { return a.checkListener(conn, cfg.Socket) }
	}
	cfg.AgentID, cfg.Space, cfg.ClientName, cfg.Version = id, space, "cli", a.Version
	return cfg, err
}

// maxInputBytes is what is read from a pipe: more than any message may have.
const maxInputBytes = 2 << 20

// body is a text given as an argument, or on stdin if there is none or it is
// "-". The newline that ends a pipe's last line is not part of the text.
func (a *app) body(args []string) (string, error) {
	text := "-"
	if len(args) > 0 {
		text = args[0]
	}
	if text == "-" {
		data, err := readLimited(a.Stdin, maxInputBytes)
		if err != nil {
			return "", err
		}
		text = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	}
	if !utf8.ValidString(text) {
		return "", c3po.Errorf(c3po.InvalidRequest, "the text is not UTF-8").Suggest("Convert it first, for example with iconv.")
	}
	return text, nil
}
