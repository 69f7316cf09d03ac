package agentside

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/engine"
)

// aliveEvery is how often the monitor looks whether its agent is still there.
const aliveEvery = time.Second

func Monitor(a *console.Console) *cobra.Command {
	var client string
	cmd := &cobra.Command{
		Use:   "monitor",
		Short: "Print a line whenever mail arrives for an idle session",
		Long: `Print a line whenever mail arrives for the Claude Code, or other --client, that has
started this command, which wakes it. It ends when that is gone, and not before:
its end would start a turn.`,
		Example: `  c3po monitor`,
		Hidden:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := MonitoredRun(a, client)
			if err != nil {
				return err
			}
			// Who does not read us may still live, and must not see us end.
			signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP)
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			go func() {
				defer cancel()
				outlive(ctx, r)
			}()
			for ctx.Err() == nil {
				// The session process may not have begun yet, or have been started again.
				_ = session.Listen(ctx, r.Socket, a.Trust(r.Socket), func(line string) { fmt.Fprintln(a.Stdout, line) })
				select {
				case <-ctx.Done():
				case <-time.After(aliveEvery / 4):
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&client, "client", "", "the program that has started this, if it is not Claude Code")
	return console.WithoutSettings(cmd)
}

// MonitoredRun is the run that is to be woken. Claude Code says which it is; another
// client has started this process itself.
func MonitoredRun(a *console.Console, client string) (ClientRun, error) {
	if client == "" {
		return claudeRun(a)
	}
	return RunOf(a, os.Getppid())
}

// outlive returns when the process of a run is gone, or ctx ends.
func outlive(ctx context.Context, r ClientRun) {
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for r.Started != 0 && engine.Started(r.PID) == r.Started {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
