package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/c3po-dev/c3po/internal/runner/container"
)

// The labels of our containers.
const (
	labelRunner  = "c3po.runner"  // whose it is: the runner's state folder
	labelAgent   = "c3po.agent"   // its name in agents.yaml; empty of a prompt or a shell
	labelMode    = "c3po.mode"    //
	labelProcess = "c3po.process" // the process that has started it
)

// name tells containers of this runner from those of others that use the same
// runtime.
func (r *Runner) name() string {
	host, _ := os.Hostname()
	sum := sha256.Sum256([]byte(host + "\n" + r.cfg.Places.State))
	return hex.EncodeToString(sum[:8])
}

func (r *Runner) labels(l launch) map[string]string {
	return map[string]string{
		labelRunner: r.name(), labelAgent: l.agent.Name, labelMode: l.mode,
		labelProcess: fmt.Sprintf("%d:%d", os.Getpid(), r.cfg.Started(os.Getpid())),
	}
}

// Containers are those of this runner that are there now.
func (r *Runner) Containers(ctx context.Context) ([]container.Container, error) {
	return r.cfg.Containers.List(ctx, map[string]string{labelRunner: r.name()})
}

// AgentOf is the agent whose container it is; empty of a prompt or a shell.
func AgentOf(c container.Container) string { return c.Labels[labelAgent] }

// ModeOf is what it runs: prompt, agent or shell.
func ModeOf(c container.Container) string { return c.Labels[labelMode] }

// clear ends the containers that runners before this one have left behind when
// they were killed: nobody waits for them any more. Once begun it is finished,
// whoever loses patience.
func (r *Runner) clear(ctx context.Context, grace time.Duration) error {
	ctx = context.WithoutCancel(ctx)
	all, err := r.Containers(ctx)
	if err != nil {
		return err
	}
	for _, c := range all {
		var pid int
		var started int64
		if _, err := fmt.Sscanf(c.Labels[labelProcess], "%d:%d", &pid, &started); err == nil && started > 0 && r.cfg.Started(pid) == started {
			continue
		}
		r.cfg.Log.WarnContext(ctx, "ending a container that was left behind", "container", c.Name, "agent", AgentOf(c))
		if c.Status == "running" {
			_ = r.cfg.Containers.Stop(ctx, c.Name, grace) // one that has ended meanwhile is removed all the same
		}
		if err := r.cfg.Containers.Remove(ctx, c.Name); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes what containers of an agent were given and a killed runner has
// not taken back.
func sweep(folder string) error {
	left, err := filepath.Glob(filepath.Join(folder, "launch-*"))
	for _, name := range left {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	return err
}
