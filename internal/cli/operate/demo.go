package operate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/cli/people"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/ops/demo"
)

func Demo(a *console.Console) *cobra.Command {
	return console.WithoutSettings(&cobra.Command{
		Use:   "demo",
		Short: "Watch two agents work together, in half a minute",
		Long: `Start a coordinator in a temporary folder and watch two scripted agents use it: one
asks the other, and one asks you. It needs Redis, and no coding agent and no key.
Your own coordinator, agents and settings are not touched, and nothing is left behind.`,
		Example: `  c3po demo`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.Narrate(func(out io.Writer) error { return playDemo(cmd.Context(), a, out) })
		},
	})
}

// playDemo runs the story, and removes everything it made however it ends.
func playDemo(ctx context.Context, a *console.Console, out io.Writer) (err error) {
	if err := engine.Hostable(); err != nil {
		return err
	}
	if _, err := engine.Program(); err != nil {
		return c3po.Because(err, c3po.RedisUnavailable, c3po.AsError(err).Message+", and the demo needs one").Suggest("%s", engine.HowToInstallFor("c3po demo"))
	}
	folder, err := os.MkdirTemp("", "c3po-demo-")
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	p := &demoPlay{console: a, out: out, ink: a.Ink(), program: program, folder: folder, watched: a.AtTerminal()}
	if a.JSON {
		p.ink = false
	}
	ctx, stop := untilLeft(ctx)
	defer stop()
	defer func() {
		_, stopped := p.call(context.WithoutCancel(ctx), "down")
		err = errors.Join(err, stopped, os.RemoveAll(folder))
	}()
	return p.play(ctx)
}

// untilLeft is for what has something to remove at its end: a closed terminal and a
// reader that leaves end it as Ctrl-C does.
func untilLeft(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
}

// A demoPlay is one run of the demo.
type demoPlay struct {
	console *console.Console
	out     io.Writer
	ink     console.Ink
	program string
	folder  string
	watched bool // by a person, who can answer
	lines   <-chan string
}

func (p *demoPlay) play(ctx context.Context) error {
	began := time.Now()
	var started start
	// It runs to its end even if it is no longer wanted: what it has started is stopped then.
	out, err := p.call(context.WithoutCancel(ctx), "up", "--listen", "127.0.0.1:0")
	if err := errors.Join(ctx.Err(), err); err != nil {
		return err
	}
	if err := json.Unmarshal(out, &started); err != nil {
		return err
	}
	fmt.Fprintln(p.out, console.Hang(p.out, 0, fmt.Sprintf("A coordinator runs at %s, with its own Redis. Two scripted agents share a small shop:", started.URL)))
	fmt.Fprintf(p.out, "%s keeps api/prices.json, %s keeps web/cart.js.\n\n", p.ink.Bold("api"), p.ink.Bold("web"))
	if p.watched {
		p.openDashboard(ctx)
		p.lines = console.Lines(p.console.Stdin)
	}
	repository := filepath.Join(p.folder, "shop")
	seen, err := demo.Stage{Folder: repository, Call: p.call, Say: p.say, Ran: p.ran, Ask: p.ask}.Play(ctx)
	if err != nil {
		return err
	}
	trace, err := p.trace(ctx, seen.Question)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "\nThe life of web's question, each fact recorded when it happened:\n\n")
	for line := range strings.Lines(string(trace)) {
		// The facts, which begin with their time; the rest is for who looks for a message.
		if _, fact, dated := strings.Cut(strings.TrimRight(line, "\n"), " "); dated && line[0] >= '0' && line[0] <= '9' && strings.Contains(fact, ":") {
			fmt.Fprintf(p.out, "  %s\n", strings.TrimSuffix(fact, " (over rest)"))
		}
	}
	fmt.Fprintf(p.out, `
That took %.0f s. Next, with your own agents:

  c3po claude    start Claude Code here, and a coordinator; again in a second
                 folder, then type: "ask the other agent what it is working on"
  c3po open      while it runs: the dashboard, and what needs you
  c3po help      the everyday commands
`, time.Since(began).Seconds())
	if p.watched {
		p.untilQuit(ctx)
	}
	return nil
}

// untilQuit waits for a q: an answer that comes late, or Enter pressed once too often, must
// not take the dashboard away.
func (p *demoPlay) untilQuit(ctx context.Context) {
	fmt.Fprintln(p.out)
	for {
		fmt.Fprint(p.out, "Type q and Enter to stop the coordinator and remove everything: ")
		line, err := console.NextLine(ctx, p.lines)
		if err != nil || strings.EqualFold(strings.TrimSpace(line), "q") {
			return
		}
	}
}

// trace is the life of a message, once it is known that its agent was served.
func (p *demoPlay) trace(ctx context.Context, id string) ([]byte, error) {
	for {
		out, err := p.run(ctx, "trace", id)
		if err != nil || bytes.Contains(out, []byte("served")) {
			return out, err
		}
		if err := p.pause(ctx, pollEvery); err != nil {
			return nil, err
		}
	}
}

// maxThinking is how long the demo waits for the person's answer since the last key: long
// enough to read the dashboard.
const maxThinking = 2 * time.Minute

// demoIndent is how far what somebody does is from the edge: below its beginning.
const demoIndent = 6

// pace is how long a person who watches gets to read a line.
const pace = 900 * time.Millisecond

func (p *demoPlay) pause(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}

func (p *demoPlay) openDashboard(ctx context.Context) {
	var l people.Link
	out, err := p.call(ctx, "open")
	if err != nil || json.Unmarshal(out, &l) != nil {
		return // the story goes on without it
	}
	if l.Opened {
		fmt.Fprint(p.out, "The dashboard opens in your browser.\n\n")
		return
	}
	fmt.Fprintf(p.out, "Open the dashboard; this link works for a minute:\n%s\n\n", console.Inline(l.URL))
}

func (p *demoPlay) say(who, what string) {
	fmt.Fprintf(p.out, "%s  %s\n", p.ink.Bold(fmt.Sprintf("%4s", who)), console.Hang(p.out, demoIndent, console.Inline(what)))
	if p.watched {
		<-time.After(pace)
	}
}

// ran shows a command as it is typed.
func (p *demoPlay) ran(args ...string) {
	words := []string{"c3po"}
	for _, arg := range args {
		if strings.ContainsAny(arg, " ?") {
			arg = `"` + arg + `"`
		}
		words = append(words, arg)
	}
	fmt.Fprintf(p.out, "      %s\n", p.ink.Faint(console.Hang(p.out, demoIndent+2, "$ "+console.Inline(strings.Join(words, " ")))))
}

// ask lets the person choose, here or in the dashboard. Where nobody can answer the
// demo says that it does so itself.
func (p *demoPlay) ask(done context.Context, question string, choices []string) (string, error) {
	fmt.Fprintf(p.out, "\n%s  %s\n", p.ink.Bold(" you"), p.ink.Warn(question))
	for i, choice := range choices {
		fmt.Fprintf(p.out, "      %d. %s\n", i+1, choice)
	}
	if !p.watched {
		fmt.Fprintln(p.out, "      (nobody is at a terminal, so the demo answers 1)")
		return choices[0], nil
	}
	patience := time.After(maxThinking)
	for {
		fmt.Fprint(p.out, "      Type 1 or 2, or answer in the dashboard: ")
		select {
		case line, open := <-p.lines:
			if !open {
				fmt.Fprintln(p.out, "\n      (nobody can type any more, so the demo answers 1)")
				return choices[0], nil
			}
			if at := slices.Index([]string{"1", "2"}, strings.TrimSpace(line)); at >= 0 {
				return choices[at], nil
			}
			if at := slices.IndexFunc(choices, func(c string) bool { return strings.EqualFold(c, strings.TrimSpace(line)) }); at >= 0 {
				return choices[at], nil
			}
			fmt.Fprintf(p.out, "      That is neither 1 nor 2.\n")
			patience = time.After(maxThinking)
		case <-patience:
			fmt.Fprintf(p.out, "\n      (no answer for %.0f s, so the demo answers 1)\n", maxThinking.Seconds())
			return choices[0], nil
		case <-done.Done():
			fmt.Fprintln(p.out)
			return "", nil
		}
	}
}

// call runs a command of this program in the demo's folder; it prints JSON.
func (p *demoPlay) call(ctx context.Context, args ...string) ([]byte, error) {
	return p.run(ctx, append(args, "--json")...)
}

func (p *demoPlay) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, p.program, args...) // #nosec G204 -- this program, with words of ours
	cmd.Dir, cmd.Env = p.folder, p.environment()
	engine.Detach(cmd) // Ctrl-C is for the demo, which ends its commands itself
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = downTime
	out, err := runOwn(cmd)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return out, err
}

// environment is this one with a home of the demo's own, and without what is set for
// the coordinator of the person who runs it.
func (p *demoPlay) environment() []string {
	home := filepath.Join(p.folder, "home")
	var env []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if name == "REDIS_URL" || name == "HOME" || strings.HasPrefix(name, "C3PO_") || strings.HasPrefix(name, "XDG_") {
			continue
		}
		env = append(env, pair)
	}
	return append(env, "HOME="+home)
}
