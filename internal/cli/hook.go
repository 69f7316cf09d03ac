package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/internal/bridge"
	"github.com/c3po-dev/c3po/internal/hook"
)

// hookMost is how long the start of a session waits for us.
const hookMost = 250 * time.Millisecond

func (a *app) hook() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "hook",
		Short:   "Answer a hook of a coding agent",
		Example: `  c3po hook session-start`,
		Args:    unknownCommand,
		Hidden:  true,
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "session-start",
		Short: "Begin a session, and print what it should know",
		Long: `Begin a session of Claude Code: the event is read from stdin, what the session
should know is printed. It never fails and never takes long: what the bridge of the
session does not know yet it says with the first prompt.`,
		Example: `  c3po hook session-start`,
		Args:    arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), hookMost)
			defer cancel()
			a.sessionStart(ctx)
			return nil
		},
	})
	return withoutSettings(cmd)
}

func (a *app) sessionStart(ctx context.Context) {
	data, err := readAtMost(a.Stdin, mostInput)
	var event hook.Event
	if err != nil || json.Unmarshal(data, &event) != nil {
		return
	}
	event.Name = hook.SessionStart
	r, err := a.claudeRun()
	if err != nil {
		return
	}
	if answer, ok := bridge.Ask(ctx, r.socket, event); ok {
		fmt.Fprint(a.Stdout, answer)
	}
}

// claudeRun is the run of the Claude Code that has started this process, by the
// word it gives to its hooks and monitors.
func (a *app) claudeRun() (run, error) {
	pid, err := strconv.Atoi(a.Getenv("CLAUDE_PID"))
	if err != nil || pid <= 0 {
		return run{}, &usageError{"CLAUDE_PID is not set", "This command is for the hooks and monitors of Claude Code."}
	}
	return a.runOf(pid)
}
