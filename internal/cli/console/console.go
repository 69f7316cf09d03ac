// Package console is what every command of c3po has in common: what the program was
// started with, the flags that all take, who runs it, how the coordinator is reached, and
// how answers and errors are printed. Nothing of what others wrote reaches the terminal
// without being made harmless here. It knows no command.
package console

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/host/settings"
)

// Console is one run of the program: what it was started with, and the flags that
// every command has.
type Console struct {
	Process
	Folders paths.Folders

	URL   string
	As    string
	Space string
	JSON  bool

	File    *settings.File    // c3po.yaml, once a command has begun
	Origins map[string]Origin // of the flags of the command that runs, by name

	done string // the key of what was done, for who cannot read that it was
	// noteFolder keeps that the current folder has named an agent, unless the command has
	// only looked and there is no such agent.
	noteFolder func()
	onlyLooked bool

	named bool            // the current folder has named the agent that the command acts as
	typed *bufio.Reader   // what is typed, once a line was asked for
	ended <-chan struct{} // closed when the person interrupts; nil before a command has begun

	Again func(context.Context, Process) int // runs another command of this program, and returns its exit code
}

func UnknownCommand(cmd *cobra.Command, args []string) error {
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
	if !cmd.HasParent() {
		names = append(names, "help")
	}
	if near := Nearest(args[0], names); near != "" {
		hint = "Did you mean " + cmd.CommandPath() + " " + near + "?"
	}
	return BadUsage(fmt.Sprintf("there is no command %q", args[0]), hint)
}

// Nearest is the name that was probably meant; empty if none is close.
func Nearest(word string, names []string) string {
	const most = 2
	best, distance, shared := "", most+1, 0
	for _, name := range names {
		d, same := c3po.EditDistance(word, name), sharedLetters(word, name)
		if d <= len(word)/2 && (d < distance || d == distance && d <= most && same > shared) {
			best, distance, shared = name, d, same
		}
	}
	return best
}

// sharedLetters is how many letters of a word come in a name, in their order: clawd has
// more of claude than of claim.
func sharedLetters(word, name string) int {
	row := make([]int, len(name)+1)
	for i := range len(word) {
		before := 0
		for j := range len(name) {
			above := row[j+1]
			if word[i] == name[j] {
				row[j+1] = before + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			before = above
		}
	}
	return row[len(name)]
}

// Arguments checks how many there are; use says what they stand for.
func Arguments(least, most int, use string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (len(args) <= most || most < 0) {
			return nil
		}
		name := cmd.CommandPath()
		hint := "Usage: " + strings.TrimSpace(name+" "+use) + ". " + name + " --help shows an example."
		switch {
		case len(args) < least:
			return BadUsage(fmt.Sprintf("%s needs %s", name, use), hint)
		case most == 0:
			return BadUsage(fmt.Sprintf("%s takes no arguments, and got %q", name, args[0]), hint)
		default:
			return BadUsage(fmt.Sprintf("%s takes %s at most, and got %d", name, CountOf(most, "argument"), len(args)), "Put a text of several words in quotes. "+hint)
		}
	}
}

// Acting is the client of a command that acts as an agent.
func (a *Console) Acting() (*client.Client, error) {
	if err := a.RefuseUnjoined(); err != nil {
		return nil, err
	}
	if a.As != "" {
		id, err := a.Named()
		if err != nil {
			return nil, err
		}
		return a.clientAs(id)
	}
	if own := a.ownSession(); own != "" {
		return a.clientAs(own)
	}
	return a.actingAsFolder()
}

// ownSession is the agent whose session has started this command, as its session process
// says; empty if there is none. A daemon of Codex has several, and none is known.
func (a *Console) ownSession() c3po.AgentID {
	socket, ok := a.SessionAbove()
	if !ok {
		return ""
	}
	about, ok := session.About(context.Background(), socket, a.Trust(socket))
	if !ok || !about.Connected || about.Client == CodexName {
		return ""
	}
	return about.Agent
}

// Looking is the client of a command that only looks. It has an identity only
// if one was given: looking around in a folder must not make an agent of it.
// Without one it looks with the eyes of the person, if that is who runs it.
func (a *Console) Looking() (*client.Client, error) {
	if a.As == "" && a.AgentHere() == "" && !a.BelowAgent() {
		return a.Personal(HumanToken)
	}
	if a.As == "" {
		return a.clientAs("")
	}
	id, err := a.Named()
	if err != nil {
		return nil, err
	}
	svc, err := a.clientAs(id)
	if err != nil {
		return nil, err
	}
	if known, err := a.IsKnown(context.Background(), svc); err == nil && !known && a.AgentHere() == "" && !a.BelowAgent() {
		return a.clientAs("")
	}
	return svc, nil
}

// LookingAtOwn is Looking for a command that shows what an agent has a part in: a name that
// no agent has is refused.
func (a *Console) LookingAtOwn() (*client.Client, error) {
	svc, err := a.Looking()
	if err == nil && a.As != "" && svc.ID() == "" {
		err = c3po.Errorf(c3po.AgentNotFound, "no agent is called %s", a.As).Suggest("`c3po agents` lists the agents.")
	}
	return svc, err
}

// Named is the agent that --as names.
func (a *Console) Named() (c3po.AgentID, error) {
	id, err := c3po.ParseAgentID(a.As)
	if err != nil {
		hint := c3po.AsError(err).Suggestion
		if near := c3po.AgentIDFromFolder(a.As); strings.TrimSpace(a.As) != "" {
			hint += fmt.Sprintf(" Try %s.", near)
		}
		return "", BadUsage(err.Error(), hint+" It comes from "+cmp.Or(a.Origins["as"].Where, "--as")+".")
	}
	return id, nil
}

func (a *Console) clientAs(id c3po.AgentID) (*client.Client, error) {
	cfg, err := a.ClientConfig(id)
	if err != nil {
		return nil, err
	}
	return client.New(cfg), nil
}

// ClientConfig is what all clients of a command have in common.
func (a *Console) ClientConfig(id c3po.AgentID) (client.Config, error) {
	space, err := a.InSpace()
	if err != nil {
		return client.Config{}, err
	}
	cfg, err := a.Reach()
	if cfg.Socket != "" {
		cfg.Prove = func(conn net.Conn) error { return a.checkListener(conn, cfg.Socket) }
	}
	cfg.AgentID, cfg.Space, cfg.ClientName, cfg.Version = id, space, "cli", a.Version
	return cfg, err
}

// MaxInputBytes is what is read from a pipe: more than any message may have.
const MaxInputBytes = 2 << 20

// Body is a text given as an argument, or on stdin if there is none or it is
// "-". The newline that ends a pipe's last line is not part of the text.
func (a *Console) Body(args []string) (string, error) {
	text := "-"
	if len(args) > 0 {
		text = args[0]
	}
	if text == "-" {
		if IsTerminal(a.Stdin) {
			fmt.Fprintln(a.Stderr, "Type the text, then press Ctrl-D on an empty line.")
		}
		data, err := untilEnded(a.ended, func() ([]byte, error) { return ReadLimited(a.Stdin, MaxInputBytes) })
		if err != nil {
			return "", err
		}
		text = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	}
	if !utf8.ValidString(text) {
		return "", c3po.Errorf(c3po.InvalidRequest, "the text is not UTF-8").Suggest("Convert it first, for example with iconv.")
	}
	if strings.TrimSpace(text) == "" {
		return "", BadUsage("the text is empty", "Give it in quotes after the command, or on stdin.")
	}
	return text, nil
}

// ReadLine is the next line that is typed, without its end. Ctrl-C ends it.
func (a *Console) ReadLine() (string, error) {
	if a.typed == nil {
		a.typed = bufio.NewReader(a.Stdin)
	}
	line, err := untilEnded(a.ended, func() (string, error) {
		line, err := a.typed.ReadString('\n')
		if line != "" {
			err = nil
		}
		return line, err
	})
	return strings.TrimRight(line, "\r\n"), err
}

// AtTerminal says that somebody can be asked.
func (a *Console) AtTerminal() bool {
	return !a.JSON && IsTerminal(a.Stdin) && IsTerminal(a.Stdout)
}

// Confirm asks a person at a terminal. Enter alone is the answer that yes names; the end
// of input is a no.
func (a *Console) Confirm(question string, yes bool) (bool, error) {
	choice := "[y/N]"
	if yes {
		choice = "[Y/n]"
	}
	fmt.Fprintf(a.Stdout, "%s %s ", question, choice)
	answer, err := a.ReadLine()
	if errors.Is(err, io.EOF) {
		fmt.Fprintln(a.Stdout)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "" {
		return yes, nil
	}
	return strings.HasPrefix(answer, "y"), nil
}

// IsInterrupted says that the person has pressed Ctrl-C.
func (a *Console) IsInterrupted() bool {
	select {
	case <-a.ended:
		return true
	default:
		return false
	}
}

// untilEnded reads, unless the person interrupts: a read of a terminal cannot be ended,
// so it is left behind.
func untilEnded[T any](ended <-chan struct{}, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := read()
		done <- result{value, err}
	}()
	select {
	case got := <-done:
		return got.value, got.err
	case <-ended:
		var none T
		return none, context.Canceled
	}
}
