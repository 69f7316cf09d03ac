package agentside

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/engine"
)

// hookTimeout is how long the start of a session waits for us.
const hookTimeout = 250 * time.Millisecond

// editTimeout is how long an edit waits for its session process, which itself waits less for
// the coordinator.
const editTimeout = 2 * time.Second

func Hook(a *console.Console) *cobra.Command {
	var client string
	var wait bool
	cmd := &cobra.Command{
		Use:   "hook",
		Short: "Answer a hook of a coding agent",
		Long: `Answer a hook of a coding agent: the event is read from stdin as the agent writes it,
and the answer is printed as the agent takes it. It never fails and never takes
long; where no session of c3po runs it says nothing.`,
		Example: `  c3po hook --client gemini AfterAgent`,
		Args: func(cmd *cobra.Command, args []string) error {
			if client == "" {
				return console.UnknownCommand(cmd, args)
			}
			return console.Arguments(1, 1, "--client CLIENT EVENT")(cmd, args)
		},
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if client == "" {
				return cmd.Help()
			}
			answerHook(cmd.Context(), a, hook.Dialect(client), args[0], wait)
			return nil
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "if there is no mail at the end of a turn, wait for some")
	cmd.Flags().StringVar(&client, "client", "", "the program whose hook it is: codex, opencode, gemini, copilot or kimi")
	cmd.AddCommand(&cobra.Command{
		Use:   "session-start",
		Short: "Begin a session, and print what it should know",
		Long: `Begin a session of Claude Code: the event is read from stdin, what the session
should know is printed. It never fails and never takes long: what the session
does not know yet comes with the first prompt.`,
		Example: `  c3po hook session-start`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), hookTimeout)
			defer cancel()
			sessionStart(ctx, a)
			return nil
		},
	})
	cmd.AddCommand(&cobra.Command{
		Use:   "permission",
		Short: "Ask the person elsewhere about a dialog of Claude Code",
		Long: `Ask the person, wherever they are, about a dialog that Claude Code has just opened:
the event is read from stdin, and the verdict is printed once there is one. The dialog
stays usable meanwhile; if it is decided there, this says nothing.`,
		Example: `  c3po hook permission`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			askPermission(cmd.Context(), a)
			return nil
		},
	})
	return console.WithoutSettings(cmd)
}

// askPermission waits for the person's verdict on a dialog of Claude Code, which ends this
// process or ignores what it says if the dialog is decided first.
func askPermission(ctx context.Context, a *console.Console) {
	data, err := console.ReadLimited(a.Stdin, console.MaxInputBytes)
	var event hook.Event
	if err != nil || json.Unmarshal(data, &event) != nil {
		return
	}
	event.Name = hook.Approve
	r, err := claudeRun(a)
	if err != nil {
		return
	}
	answer, ok := session.AskHere(ctx, r.Socket, a.Trust(r.Socket), event)
	if answer = strings.TrimSpace(answer); ok && answer != "{}" {
		fmt.Fprintln(a.Stdout, answer)
	}
}

// answerHook asks the session process of the nearest process above this one that has one.
func answerHook(ctx context.Context, a *console.Console, by hook.Dialect, name string, wait bool) {
	data, err := console.ReadLimited(a.Stdin, console.MaxInputBytes)
	if err != nil {
		return
	}
	event, ok := by.Read(name, data)
	if !ok {
		return
	}
	socket, ok := a.SessionAbove()
	if !ok {
		return
	}
	limited := ctx
	if event.Name != hook.Approve { // which waits for the person
		var cancel context.CancelFunc
		limit := hookTimeout
		if event.Name == hook.PreToolUse && event.Changes() {
			limit = editTimeout
		}
		limited, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	answer, ok := session.AskHere(limited, socket, a.Trust(socket), event)
	if !ok {
		return
	}
	if answer = strings.TrimSpace(answer); answer != "" && answer != "{}" {
		fmt.Fprintln(a.Stdout, answer)
		return
	}
	if wait && event.Name == hook.StopEvent {
		if line, ok := nextNotice(ctx, a, socket, session.Rest); ok {
			fmt.Fprintln(a.Stdout, by.Write(hook.Decision{Context: line}, event.Name))
		}
	}
}

// Stranger says that a process does not belong to the session with that socket: the
// nearest session process above it is another or none, or nobody can tell.
func Stranger(a *console.Console, pid int, socket string) bool {
	runs, whole := console.Ancestors(pid)
	nearest, ok := a.SessionOf(runs)
	return !whole || !ok || nearest != socket
}

// A listener is one of the ways to hear of mail that wakes a session.
type listener func(ctx context.Context, socket string, by session.Trust, tell func(line string)) error

// nextNotice waits for mail that wakes the session, and gives the line that says
// so. It ends without one when the session process does, or who has started this command.
func nextNotice(ctx context.Context, a *console.Console, socket string, listen listener) (line string, ok bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	starter, err := RunOf(a, os.Getppid())
	if err != nil {
		return "", false
	}
	go func() {
		defer cancel()
		outlive(ctx, starter)
	}()
	_ = listen(ctx, socket, a.Trust(socket), func(told string) { // how it ends says nothing more
		if !ok {
			line, ok = told, true
		}
		cancel()
	})
	return line, ok
}

func sessionStart(ctx context.Context, a *console.Console) {
	data, err := console.ReadLimited(a.Stdin, console.MaxInputBytes)
	var event hook.Event
	if err != nil || json.Unmarshal(data, &event) != nil {
		return
	}
	event.Name, event.Attended = hook.SessionStart, a.Getenv("CLAUDE_CODE_SESSION_ATTENDED")
	r, err := claudeRun(a)
	if err != nil {
		return
	}
	if answer, ok := session.Ask(ctx, r.Socket, a.Trust(r.Socket), event); ok {
		fmt.Fprint(a.Stdout, answer)
	}
}

// claudeRun is the run of the Claude Code that has started this process, by the
// word it gives to its hooks and monitors. Another session's process is refused:
// what is left there would be taken for that session's own. The first process of a
// container stands above every other.
func claudeRun(a *console.Console) (ClientRun, error) {
	pid, err := strconv.Atoi(a.Getenv("CLAUDE_PID"))
	if err != nil || pid <= 0 {
		return ClientRun{}, console.BadUsage("CLAUDE_PID is not set", "This command is for the hooks and monitors of Claude Code.")
	}
	r, err := RunOf(a, pid)
	if err != nil || pid == 1 || r.Started == 0 || !engine.KnowsProcesses {
		return r, err
	}
	if above, _ := console.Ancestors(os.Getppid()); !slices.Contains(above, r.Name) {
		return ClientRun{}, console.BadUsage("CLAUDE_PID names a process that has not started this one", "This command is for the hooks and monitors of Claude Code.")
	}
	return r, nil
}
