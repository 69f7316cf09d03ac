package runner

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/host/group"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

// A firing is why a container is started.
type firing struct {
	why  string
	mail []c3po.MessageID // that was there; nil if mail is not the reason
}

const (
	minScriptInterval = 5 * time.Second
	maxScriptInterval = 60 * time.Second
	lookEvery         = 2 * time.Second
)

// A watch is one trigger that is waited for. It returns when it fires or when
// its context ends.
type watch func(ctx context.Context) (firing, bool)

// first waits until one of the watches fires, ends the others, and returns when
// they have ended.
func first(ctx context.Context, watches []watch) (firing, bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		firing
		fired bool
	}
	done := make(chan outcome)
	for _, w := range watches {
		go func() {
			f, fired := w(ctx)
			done <- outcome{f, fired}
		}()
	}
	var chosen outcome
	for range watches {
		// What fires while it is ended is not lost: mail stays, and so does the rest.
		if o := <-done; o.fired && !chosen.fired {
			chosen = o
			cancel()
		}
	}
	return chosen.firing, chosen.fired
}

// scriptWatch fires when the command ends well.
func (r *Runner) scriptWatch(t agentfile.Trigger, agent agentfile.Agent) watch {
	return func(ctx context.Context) (firing, bool) {
		rest := attempt.Backoff{Min: minScriptInterval, Max: maxScriptInterval}
		last := ""
		for {
			err := r.shell(ctx, t.Command, agent)
			if ctx.Err() != nil {
				return firing{}, false
			}
			if err != nil && err.Error() != last {
				last = err.Error()
				r.cfg.Log.InfoContext(ctx, "the script trigger does not fire", "agent", agent.Name, "err", err)
			}
			if err == nil {
				return firing{why: "script"}, true
			}
			if !attempt.Sleep(ctx, rest.Step()) {
				return firing{}, false
			}
		}
	}
}

// WorkspaceVariable tells commands of agents.yaml where the workspace is.
const WorkspaceVariable = "C3PO_WORKSPACE"

// shell runs a command of agents.yaml on this host, in a folder of its own: in
// the workspace a git, a make or a plain name would run what a container has
// left there.
func (r *Runner) shell(ctx context.Context, command string, agent agentfile.Agent) error {
	folder, err := r.folder(agent.Name)
	if err != nil {
		return err
	}
	folder = filepath.Join(folder, "commands")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return cannotMake(folder, err)
	}
	environ := r.cfg.Environ
	if environ == nil {
		environ = os.Environ()
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	// A git looks for a repository in the folders above.
	cmd.Env = append(slices.Clone(environ), WorkspaceVariable+"="+agent.Workspace, "GIT_CEILING_DIRECTORIES="+filepath.Dir(folder), "PWD="+folder)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, r.cfg.Stderr, r.cfg.Stderr
	cmd.WaitDelay = pauseTimeout
	group.Own(cmd)
	cmd.Cancel = func() error { return group.End(cmd) } // with what it has started
	return cmd.Run()
}

// cronWatch fires when it is time, and at once if it was while the agent ran.
func cronWatch(t agentfile.Trigger, since time.Time) watch {
	return func(ctx context.Context) (firing, bool) {
		next := t.Schedule.Next(since)
		if next.IsZero() {
			<-ctx.Done()
			return firing{}, false
		}
		return firing{why: "cron"}, attempt.Sleep(ctx, time.Until(next))
	}
}
