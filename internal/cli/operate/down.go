package operate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// downTime is how long a coordinator may take to end: longer than its drain.
const downTime = 30 * time.Second

// An end is what down has stopped.
type end struct {
	Coordinator bool `json:"coordinator_stopped"`
	Redis       bool `json:"redis_stopped"`
	// Service is the file that starts the coordinator at the next login; removed says
	// that it is gone.
	Service string `json:"service,omitempty"`
	Removed bool   `json:"service_removed,omitempty"`
	// NoService says that one was to be removed, and there was none.
	NoService bool   `json:"no_service,omitempty"`
	Elsewhere string `json:"elsewhere,omitempty"` // the coordinator of another host that commands go to
}

func (e end) print(w io.Writer) {
	switch {
	case e.Coordinator && e.Redis:
		fmt.Fprintln(w, "c3po and its Redis have stopped; nothing that was sent is lost")
	case e.Coordinator:
		fmt.Fprintln(w, "c3po has stopped")
	case e.Redis:
		fmt.Fprintln(w, "c3po was not running; its Redis has stopped")
	default:
		fmt.Fprintln(w, "c3po is not running")
	}
	if e.Elsewhere != "" {
		fmt.Fprintf(w, "the coordinator at %s runs on another host; stop it there\n", console.Inline(e.Elsewhere))
	}
	switch {
	case e.NoService:
		fmt.Fprintln(w, "it was no service, so none was removed")
	case e.Removed:
		fmt.Fprintf(w, "removed %s\n", console.Inline(e.Service))
	case e.Service != "":
		fmt.Fprintln(w, "it is a service, and starts again when you log in; to end that: c3po down --service")
	}
}

func Down(a *console.Console) *cobra.Command {
	var service bool
	cmd := console.WithoutSettings(&cobra.Command{
		Use:   "down",
		Short: "Stop the coordinator that runs here, and its Redis",
		Long: `Stop the coordinator that c3po up started, then its Redis. What was sent is kept.

A coordinator that c3po up --service made a service starts again when you log in; with
--service it no longer does.`,
		Example: `  c3po down`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			done, err := stopAll(cmd.Context(), a, service)
			if err != nil {
				return err
			}
			done.NoService = service && done.Service == ""
			if agents, person, err := a.Elsewhere(); err == nil {
				done.Elsewhere = cmp.Or(agents, person)
			}
			return a.Show(done, done.print)
		},
	})
	cmd.Flags().BoolVar(&service, "service", false, "also remove the service, so that it doesn't start when you log in")
	return cmd
}

// stopAll stops the coordinator, its service and its Redis, and takes the service away
// if that is wanted.
func stopAll(ctx context.Context, a *console.Console, removeService bool) (done end, err error) {
	state, err := a.Folders.State()
	if err != nil {
		return done, err
	}
	if err := endService(ctx, a, removeService, &done); err != nil {
		return done, err
	}
	lock, stopped, err := stopCoordinator(ctx, a, state)
	if err != nil {
		return done, err
	}
	// Held until Redis has ended, so that nobody starts a coordinator on it.
	defer lock.Release()
	done.Coordinator = done.Coordinator || stopped
	cfg, err := engineConfig(a, state, slog.New(slog.DiscardHandler))
	if err != nil {
		return done, err
	}
	done.Redis, err = engine.Stop(ctx, cfg)
	a.Folders.RemoveEmptySocketFolder()
	return done, err
}

// stopCoordinator asks the coordinator of a state folder to end, and returns
// the lock it held. A process is only ever asked once it is proved to be the
// one that wrote the note, and while the lock says that a coordinator lives.
func stopCoordinator(ctx context.Context, a *console.Console, state string) (*paths.Lock, bool, error) {
	limited, cancel := context.WithTimeout(ctx, downTime)
	defer cancel()
	asked := 0
	for {
		lock, err := paths.TryLock(lockName(state))
		if lock != nil || err != nil {
			return lock, asked != 0, err
		}
		note, err := paths.ReadCoordinator(state)
		if err != nil {
			return nil, false, err
		}
		if note != nil && note.PID != asked && engine.Started(note.PID) == note.Started && note.Started != 0 {
			if err := engine.Terminate(note.PID); err != nil {
				return nil, false, c3po.Errorf(c3po.Forbidden, "cannot stop the coordinator (process %d): %w", note.PID, err).
					Suggest("Stop it as the user who started it.")
			}
			asked = note.PID
		}
		select {
		case <-limited.Done():
			if ctx.Err() != nil {
				return nil, false, ctx.Err()
			}
			return nil, false, c3po.Errorf(c3po.Internal, "the coordinator has not ended after %s", downTime).
				Suggest("Its log is %s.", logName(state))
		case <-time.After(pollEvery):
		}
	}
}
