package runner

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

// Up looks after all agents of a file until ctx ends. One that fails is started
// again after a rest, and keeps no other from running.
func (r *Runner) Up(ctx context.Context, file *agentfile.File, how Streaming) error {
	if len(file.Agents) == 0 {
		return c3po.Errorf(c3po.InvalidRequest, "%s names no agents", file.Path).Suggest("`c3po agent check --help` shows what one looks like.")
	}
	var all sync.WaitGroup
	for _, agent := range file.Agents {
		all.Go(func() { r.supervise(ctx, agent, how) })
	}
	all.Wait()
	return nil
}

// steady is how long an agent must have run for its failures to be forgotten.
const steady = 10 * time.Minute

func (r *Runner) supervise(ctx context.Context, agent agentfile.Agent, how Streaming) {
	rest := attempt.Backoff{Min: minRest, Max: maxRest}
	for ctx.Err() == nil {
		began := time.Now()
		exit, err := r.Agent(ctx, agent, AgentOptions{How: how})
		if ctx.Err() != nil || errors.Is(err, ErrStopped) {
			return
		}
		if time.Since(began) >= steady {
			rest.Reset()
		}
		pause := rest.Step()
		r.cfg.Log.WarnContext(ctx, "an agent has ended, and is started again", "agent", agent.Name, "exit", exit, "err", err, "in", pause)
		if !attempt.Sleep(ctx, pause) {
			return
		}
	}
}
