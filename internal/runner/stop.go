package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// ErrStopped is the end of an agent that Stop was called for.
var ErrStopped = errors.New("the agent was stopped")

// stopName is the file that asks the keeper of an agent to end it. A signal to its
// process would end all agents that it looks after.
const stopName = "stop"

const heedEvery = 200 * time.Millisecond

// stopOnRequest ends the agent when it was asked to.
func (k *keeper) stopOnRequest(ctx context.Context, cancel context.CancelCauseFunc) {
	for attempt.Sleep(ctx, heedEvery) {
		if os.Remove(filepath.Join(k.folder, stopName)) == nil {
			cancel(ErrStopped)
			return
		}
	}
}

// Stop ends an agent of this host, whoever looks after it, and returns when its
// container is gone.
func (r *Runner) Stop(ctx context.Context, name string) error {
	record, err := r.Status(name)
	if err != nil {
		return err
	}
	found := record.State != StateEnded
	if found {
		if err := paths.WriteFile(filepath.Join(r.cfg.Places.State, "agents", name, stopName), nil); err != nil {
			return err
		}
	}
	for ; record.State != StateEnded; record, err = r.Status(name) {
		if !attempt.Sleep(ctx, heedEvery) {
			return c3po.Errorf(c3po.Timeout, "%s has not ended", name).Suggest("Look at the output of its runner, process %d.", record.PID)
		}
	}
	if err != nil {
		return err
	}
	left, err := r.Containers(ctx)
	if err != nil {
		return err
	}
	for _, c := range left {
		if AgentOf(c) != name {
			continue
		}
		found = true
		_ = r.cfg.Containers.Stop(ctx, c.Name, orphanGrace) // one that has ended meanwhile is removed all the same
		if err := r.cfg.Containers.Remove(ctx, c.Name); err != nil {
			return err
		}
	}
	if !found {
		return c3po.Errorf(c3po.AgentNotFound, "%s does not run on this host", name).Suggest("`c3po agent status` shows what runs.")
	}
	return nil
}

// orphanGrace is for a container whose own is not known any more.
const orphanGrace = 10 * time.Second
