package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// downTime is how long a coordinator may take to end: longer than its drain.
const downTime = 30 * time.Second

// An end is what down has stopped.
type end struct {
	Coordinator bool `json:"coordinator_stopped"`
	Redis       bool `json:"redis_stopped"`
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
}

func (a *app) down() *cobra.Command {
	return withoutSettings(&cobra.Command{
		Use:     "down",
		Short:   "Stop the coordinator that runs here, and its Redis",
		Long:    `Stop the coordinator that c3po up started, then its Redis. What was sent is kept.`,
		Example: `  c3po down`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			state, err := a.folders.State()
			if err != nil {
				return err
			}
			var done end
			var lock *paths.Lock
			if lock, done.Coordinator, err = a.stopCoordinator(cmd.Context(), state); err != nil {
				return err
			}
			// Held until Redis has ended, so that nobody starts a coordinator on it.
			defer lock.Release()
			cfg, err := a.engineConfig(state, slog.New(slog.DiscardHandler))
			if err != nil {
				return err
			}
			if done.Redis, err = engine.Stop(cmd.Context(), cfg); err != nil {
				return err
			}
			return a.show(done, done.print)
		},
	})
}

// stopCoordinator asks the coordinator of a state folder to end, and returns
// the lock it held. A process is only ever asked once it is proved to be the
// one that wrote the note, and while the lock says that a coordinator lives.
func (a *app) stopCoordinator(ctx context.Context, state string) (*paths.Lock, bool, error) {
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
