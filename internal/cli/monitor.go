package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/host/engine"
)

// aliveEvery is how often the monitor looks whether its agent is still there.
const aliveEvery = time.Second

func (a *app) monitor() *cobra.Command {
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
			r, err := a.monitoredRun(client)
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
				_ = session.Listen(ctx, r.socket, a.trust(r.socket), func(line string) { fmt.Fprintln(a.Stdout, line) })
				select {
				case <-ctx.Done():
				case <-time.After(aliveEvery / 4):
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&client, "client", "", "the program that has started this, if it is not Claude Code")
	return withoutSettings(cmd)
}

// monitoredRun is the run that is to be woken. Claude Code says which it is; another
// client has started this process itself.
func (a *app) monitoredRun(client string) (run, error) {
	if client == "" {
		return a.claudeRun()
	}
	return a.runOf(os.Getppid())
}

// outlive returns when the process of a run is gone, or ctx ends. Where nobody
// can say whether it is, it waits to be ended.
func outlive(ctx context.Context, r run) {
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for r.started != 0 && engine.Started(r.pid) == r.started || runtime.GOOS == "windows" {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
