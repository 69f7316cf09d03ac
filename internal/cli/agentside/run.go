package agentside

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/ptyrun"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/engine"
)

func Run(a *console.Console) *cobra.Command {
	var prompt string
	var bodies bool
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARGUMENT…]",
		Short: "Run an interactive program as an agent",
		Long: `Run an interactive program unchanged, in its own terminal, as an agent.
When mail arrives, a line that says so is typed into it, but only while it shows
its prompt, has been quiet for a second, and you have typed nothing. What the
program prints between <<c3po:MESSAGE-ID and c3po>> is posted as the answer to
that message; what you type never is.

The exit code is the program's, 128+n if signal n has ended it. Without a
coordinator the program runs all the same.

c3po knows the prompts of claude, python and the usual shells; --prompt describes
the prompt of another program. See docs/guides/run.md.`,
		Example: `  c3po run --as reviewer -- claude
  c3po run --as db --prompt '^mydb> $' -- mydb
  c3po run --as chat --paste-bodies --prompt '^you: $' -- ./chat`,
		Args: console.Arguments(1, -1, "-- COMMAND [ARGUMENT…]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := ptyConfig(a, args, prompt, bodies)
			if err != nil {
				return err
			}
			// Signals are the program's: it decides when it ends.
			code, err := ptyrun.Run(context.WithoutCancel(cmd.Context()), cfg)
			if cfg.TicketFile != "" {
				if err := os.Remove(cfg.TicketFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
					cfg.Log.Warn("cannot remove a file", "err", err)
				}
			}
			if err == nil && code == 0 {
				return nil
			}
			return &console.EndedError{Code: code, Cause: err}
		},
	}
	cmd.Flags().StringVar(&prompt, "prompt", "", "regular expression for what stands left of the cursor while the program waits for a line")
	cmd.Flags().BoolVar(&bodies, "paste-bodies", false, "type the messages themselves, for a program that cannot run c3po; never for one that runs what is typed")
	return cmd
}

func ptyConfig(a *console.Console, args []string, prompt string, bodies bool) (ptyrun.Config, error) {
	looks, known := ptyrun.PromptOf(args[0])
	if prompt != "" {
		line, err := regexp.Compile(prompt)
		if err != nil {
			return ptyrun.Config{}, console.BadUsage(fmt.Sprintf("--prompt %s is not a regular expression", prompt), "Escape what has a meaning in one, for example '^\\[db\\]> $'.")
		}
		looks.Line = line
	} else if !known {
		a.Warn(fmt.Sprintf("how the prompt of %s looks is not known, so nothing will be typed into it", filepath.Base(args[0])),
			"Say it with --prompt, for example --prompt '^> $'.")
	}
	if bodies && looks.Shell {
		return ptyrun.Config{}, c3po.Errorf(c3po.Forbidden, "%s would run what other agents write", filepath.Base(args[0])).
			Suggest("Leave --paste-bodies out: then only a line is typed that says there is mail.")
	}
	folder, err := Project(a)
	if err != nil {
		return ptyrun.Config{}, err
	}
	id := c3po.AgentIDFromFolder(filepath.Base(folder))
	if a.As != "" {
		if id, err = a.Named(); err != nil {
			return ptyrun.Config{}, err
		}
	}
	// The run is ours and not the program's, whose number is not known before it
	// has its variables. It ends when the program does.
	r, err := RunOf(a, os.Getpid())
	if err != nil {
		return ptyrun.Config{}, err
	}
	kind := filepath.Base(args[0])
	cfg := ptyrun.Config{
		Command: args, Env: programVariables(a), Stdin: a.Stdin, Stdout: a.OutputForProgram(),
		Agent: id, Run: r.Name, Profile: c3po.RegisterInput{Type: kind, Cwd: folder, Host: r.Host},
		Prompt: looks, PasteBodies: bodies, Started: engine.Started,
		TicketFile: strings.TrimSuffix(r.Socket, ".sock") + ".ticket",
		Warn:       func(err error) { a.Warn(c3po.AsError(err).Message, kind+" runs without it until it is there.") },
		Log:        slog.New(slog.NewTextHandler(asideFromTerminal(a), &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	if !a.Folders.Off(folder) {
		cfg.Reach = func() (*client.Client, error) {
			c, err := a.ClientConfig(id)
			c.Run, c.ClientName = r.Name, cmp.Or(kind, "run")
			return client.New(c), err
		}
	}
	return cfg, nil
}

// programVariables are ours, with what was given as flags: the program's own
// c3po commands must mean the same coordinator.
func programVariables(a *console.Console) []string {
	all := os.Environ()
	if a.URL != "" {
		all = append(all, "C3PO_COORDINATOR_URL="+a.URL)
	}
	if a.Space != "" {
		all = append(all, "C3PO_SPACE="+a.Space)
	}
	return all
}

// asideFromTerminal is stderr, unless that is the screen of the program.
func asideFromTerminal(a *console.Console) io.Writer {
	file, ok := a.Stderr.(*os.File)
	if !ok {
		return a.Stderr
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return io.Discard
	}
	return file
}
