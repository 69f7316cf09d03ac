package runner

import (
	"context"
	"os"
	"path/filepath"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

// PromptOptions are how a prompt is run.
type PromptOptions struct {
	How   Streaming
	Build bool
	Model string
	// Network is one of agentfile.Networks; agentfile.NetworkOwn if empty.
	Network string
}

// Prompt runs a prompt in a folder. Where this host may start agents it has the
// plugin and is one of that folder's name, else it is nobody's agent.
func (r *Runner) Prompt(ctx context.Context, workspace, prompt string, options PromptOptions) (exit int, err error) {
	agent := nameless(workspace)
	agent.Model, agent.Network = options.Model, options.Network
	return r.runOneOff(ctx, launch{mode: modePrompt, agent: agent, prompt: prompt, how: options.How, again: options.Build, as: r.inFolder(ctx, workspace)})
}

// Shell is a shell with everything an agent would have, past all checks.
func (r *Runner) Shell(ctx context.Context, workspace string, build bool, network string) (exit int, err error) {
	agent := nameless(workspace)
	agent.Network = network
	return r.runOneOff(ctx, launch{
		mode: modeShell, agent: agent, again: build, stdin: r.cfg.Stdin, tty: r.cfg.Terminal, how: Raw, as: r.inFolder(ctx, workspace),
	})
}

// inFolder is the identity of what runs in a folder, or nil: a prompt needs no
// coordinator, so why there is none is only said.
func (r *Runner) inFolder(ctx context.Context, workspace string) *identity {
	if r.cfg.Coordinator.Client.URL == "" {
		return nil
	}
	name := string(c3po.AgentIDFromFolder(filepath.Base(workspace)))
	folder := filepath.Join(r.cfg.Places.State, "alone", name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		r.cfg.Log.WarnContext(ctx, "runs without c3po", "err", err)
		return nil
	}
	as, err := r.identify(ctx, agentfile.Agent{Name: name}, folder)
	if err != nil {
		r.cfg.Log.WarnContext(ctx, "runs without c3po", "err", err)
		return nil
	}
	return &as
}

func nameless(workspace string) agentfile.Agent {
	return agentfile.Agent{Workspace: workspace, Client: agentfile.DefaultClient, Limits: agentfile.DefaultLimits()}
}

// runOneOff runs a container that is nobody's agent.
func (r *Runner) runOneOff(ctx context.Context, l launch) (int, error) {
	l.folder = filepath.Join(r.cfg.Places.State, "alone")
	if err := os.MkdirAll(l.folder, 0o700); err != nil {
		return 0, cannotMake(l.folder, err)
	}
	if err := r.clear(ctx, l.agent.Limits.StopGrace); err != nil {
		return 0, err
	}
	// Nobody else uses the folder now: what is in it was left behind.
	if lock, err := paths.TryLock(filepath.Join(l.folder, lockName)); err == nil && lock != nil {
		if err := sweep(l.folder); err != nil {
			return 0, err
		}
		defer lock.Release()
	}
	return r.launch(ctx, l)
}

// SetupToken lets a person make a token for Claude Code, in a container.
func (r *Runner) SetupToken(ctx context.Context, workspace string) (exit int, err error) {
	if err := os.RemoveAll(filepath.Join(r.cfg.Places.Homes, setupHome)); err != nil {
		return 0, cannotMake(r.cfg.Places.Homes, err)
	}
	return r.runOneOff(ctx, launch{
		mode: modeShell, agent: nameless(workspace), stdin: r.cfg.Stdin, tty: r.cfg.Terminal, how: Raw, instead: []string{"claude", "setup-token"},
	})
}
