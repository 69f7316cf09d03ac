package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
	"github.com/c3po-dev/c3po/internal/runner/memory"
)

// AgentOptions are how a named agent is run.
type AgentOptions struct {
	How   Streaming
	Build bool // the image anew
	Once  bool // one run, whatever the triggers
}

// A keeper looks after one agent until its context ends.
type keeper struct {
	*Runner
	agent   agentfile.Agent
	options AgentOptions
	folder  string
	as      identity
	polls   c3po.AgentID // whose mail is waited for: its id, or what its image has handed over
	pace    *pace
	journal *journal
	hooks   []*webhook
	since   time.Time // the last run began, or the keeper did
}

// Agent runs an agent: once, or without end if it has triggers. The exit code is
// that of the one run; a loop that was told to end has ended well.
func (r *Runner) Agent(ctx context.Context, agent agentfile.Agent, options AgentOptions) (exit int, err error) {
	if runtime.GOOS == "windows" {
		return 0, c3po.Errorf(c3po.InvalidRequest, "agents in containers are for Linux and macOS").Suggest("Run c3po in WSL.")
	}
	if err := r.CheckWorkspace(agent); err != nil {
		return 0, err
	}
	k, release, err := r.keeper(ctx, agent, options)
	if err != nil {
		return 0, err
	}
	defer release()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go k.stopOnRequest(ctx, cancel)
	defer func() {
		if err == nil && errors.Is(context.Cause(ctx), ErrStopped) {
			err = ErrStopped
		}
	}()
	for _, warning := range r.Misplaced(agent) {
		r.cfg.Log.WarnContext(ctx, warning, "agent", agent.Name)
	}
	if len(agent.Triggers) == 0 || options.Once {
		exit, err := k.once(ctx, firing{why: "started"})
		if err == nil {
			k.afterwards(ctx)
		}
		k.farewell(ctx)
		return exit, err
	}
	return 0, k.loop(ctx)
}

func (r *Runner) keeper(ctx context.Context, agent agentfile.Agent, options AgentOptions) (_ *keeper, release func(), err error) {
	folder, err := r.folder(agent.Name)
	if err != nil {
		return nil, nil, err
	}
	lock, err := paths.TryLock(filepath.Join(folder, lockName))
	if err != nil {
		return nil, nil, err
	}
	if lock == nil {
		return nil, nil, c3po.Errorf(c3po.InvalidRequest, "%s runs already on this host", agent.Name).
			Suggest("`c3po agent status` shows it, `c3po agent stop %s` ends it.", agent.Name)
	}
	defer func() {
		if err != nil {
			_ = lock.Release()
		}
	}()
	if err := r.clear(ctx, agent.Limits.StopGrace); err != nil {
		return nil, nil, err
	}
	if err := sweep(folder); err != nil {
		return nil, nil, err
	}
	_ = os.Remove(filepath.Join(folder, stopName)) // of an agent that had ended by then
	as, err := r.identify(ctx, agent, folder)
	if err != nil {
		return nil, nil, err
	}
	k := &keeper{
		Runner: r, agent: agent, options: options, folder: folder, as: as, polls: as.ID,
		pace: newPace(agent.Limits.RunsPerHour), journal: r.journal(agent.Name, as.ID, folder), since: time.Now(),
	}
	// From now on there is somebody of that name, who can be written to.
	if _, err := k.mailbox().Pending(ctx, c3po.PendingInput{Limit: 1}); err != nil {
		return nil, nil, err
	}
	return k, func() {
		k.journal.enter(StateEnded, "")
		_ = lock.Release()
	}, nil
}

// once is one run of the agent.
func (k *keeper) once(ctx context.Context, why firing) (exit int, err error) {
	l := launch{
		mode: modeAgent, agent: k.agent, as: &k.as, prompt: promptOf(k.agent), how: k.options.How, again: k.options.Build, folder: k.folder,
	}
	k.options.Build = false // the runs after this one have it
	log, err := openLog(k.folder)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	l.log = log
	if k.agent.Memory == agentfile.MemoryThread {
		if err := k.remember(ctx, &l, why.mail); err != nil {
			return 0, err
		}
	}
	if most := k.agent.Limits.RunTimeout; most > 0 {
		limited, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		ctx = limited
	}
	k.since = time.Now()
	k.pace.begin(k.since)
	k.journal.record.Runs++
	k.journal.enter(StateRunning, why.why)
	exit, err = k.launch(ctx, l)
	if err == nil {
		k.journal.record.LastExit = &exit
		if id, ok := k.handedOver(k.agent.Name); ok && k.mayBe(ctx, id) {
			k.polls = id
		}
	}
	return exit, err
}

// mayBe says that a container may be who it says it has become. The runner may
// look into the mail of all its agents and end their sessions; what a container
// writes must not make it do so to another's.
func (k *keeper) mayBe(ctx context.Context, id c3po.AgentID) bool {
	if id == k.as.ID {
		return true
	}
	_, err := k.Runner.cfg.Coordinator.as(id, k.as.Token, "").Pending(ctx, c3po.PendingInput{Limit: 1})
	if err != nil {
		k.Runner.cfg.Log.WarnContext(ctx, "a container says it is another agent, and may not be", "agent", k.agent.Name, "err", err)
	}
	return err == nil
}

// remember gives the container the conversation it was started for, and its
// notes.
func (k *keeper) remember(ctx context.Context, l *launch, mail []c3po.MessageID) error {
	cfg := memory.Config{Folder: k.folder, Service: k.Runner.cfg.Coordinator.as(k.as.ID, k.as.Token, "")}
	if len(mail) > 0 {
		cfg.Message = mail[0]
	}
	files, err := memory.Prepare(ctx, cfg)
	if err != nil {
		return err
	}
	if err := ownerFor(k.agent.Workspace).takeAll(files.Thread, files.Notes); err != nil {
		return err
	}
	l.extra = append(l.extra, mount{Host: files.Thread, Inside: memory.ThreadInside, ReadOnly: true}, mount{Host: files.Notes, Inside: memory.NotesInside})
	if k.agent.Client != shellClient { // whose prompt nobody reads but sh
		l.prompt += "\n\n" + files.Paragraph()
	}
	return nil
}

// mailbox is the runner's own view of the agent's mail.
func (k *keeper) mailbox() *client.Client {
	return k.Runner.cfg.Coordinator.as(k.polls, k.Runner.cfg.Coordinator.Token, "")
}

// loop starts the agent now, and whenever a trigger fires.
func (k *keeper) loop(ctx context.Context) error {
	for _, t := range k.agent.Triggers {
		if t.Type == agentfile.TriggerWebhook {
			hook, err := listenWebhook(t)
			if err != nil {
				return err
			}
			defer hook.close()
			k.hooks = append(k.hooks, hook)
		}
	}
	defer k.farewell(ctx)
	why := firing{why: "started"}
	for {
		if !k.affordable(ctx) {
			return nil
		}
		since := time.Now()
		exit, err := k.once(ctx, why)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, c3po.InvalidRequest) && k.journal.record.Runs == 1 {
			return err // the file, the login or the image is wrong, and stays so
		}
		k.report(ctx, exit, err, time.Since(since))
		k.afterwards(ctx)
		if rest, why := k.pace.restAfter(exit, err, allUntouched(ctx, k.mailbox(), why.mail)); rest > 0 {
			k.Runner.cfg.Log.WarnContext(ctx, "resting", "agent", k.agent.Name, "why", why, "for", rest)
			k.journal.enter(StateResting, why)
			if !attempt.Sleep(ctx, rest) {
				return nil
			}
		}
		k.journal.enter(StateWaiting, "")
		fired := false
		if why, fired = first(ctx, k.watches()); !fired {
			return nil
		}
		k.Runner.cfg.Log.InfoContext(ctx, "trigger fired", "agent", k.agent.Name, "trigger", why.why, "messages", len(why.mail))
	}
}

// affordable waits until another run is within the budget of the hour.
func (k *keeper) affordable(ctx context.Context) bool {
	rest := k.pace.restUntilAllowed(time.Now())
	if rest > 0 {
		why := "all runs of this hour are used up"
		k.Runner.cfg.Log.WarnContext(ctx, "resting", "agent", k.agent.Name, "why", why, "for", rest.Round(time.Second))
		k.journal.enter(StateResting, why)
	}
	return attempt.Sleep(ctx, rest)
}

func (k *keeper) report(ctx context.Context, exit int, err error, took time.Duration) {
	log := k.Runner.cfg.Log.With("agent", k.agent.Name, "exit", exit, "took", took.Round(time.Millisecond))
	switch {
	case err != nil:
		log.ErrorContext(ctx, "the container was not run", "err", err)
	case exit != 0:
		log.WarnContext(ctx, "the run has failed")
	default:
		log.InfoContext(ctx, "the run has ended")
	}
}

// afterwards pushes what the agent has committed and runs the commands of
// post_run. One that fails keeps neither the next nor the loop from going on.
func (k *keeper) afterwards(ctx context.Context) {
	if err := k.push(ctx); err != nil && ctx.Err() == nil {
		k.Runner.cfg.Log.WarnContext(ctx, "the results were not pushed", "agent", k.agent.Name, "err", err)
	}
	for i, command := range k.agent.PostRun {
		if err := k.shell(ctx, command, k.agent); err != nil && ctx.Err() == nil {
			k.Runner.cfg.Log.WarnContext(ctx, "a command of post_run has failed", "agent", k.agent.Name, "number", i+1, "err", err)
		}
	}
}

func (k *keeper) watches() []watch {
	var all []watch
	hooks := k.hooks
	for _, t := range k.agent.Triggers {
		switch t.Type {
		case agentfile.TriggerC3PO:
			all = append(all, k.mailWatch(k.mailbox()))
		case agentfile.TriggerScript:
			all = append(all, k.scriptWatch(t, k.agent))
		case agentfile.TriggerCron:
			all = append(all, cronWatch(t, k.since))
		case agentfile.TriggerFile:
			all = append(all, fileWatch(t, k.agent.Workspace))
		case agentfile.TriggerWebhook:
			all = append(all, hooks[0].watch)
			hooks = hooks[1:]
		}
	}
	return all
}

// farewell says that the agent is gone. Its mail stays.
func (k *keeper) farewell(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pauseTimeout)
	defer cancel()
	c := k.Runner.cfg.Coordinator.as(k.polls, k.Runner.cfg.Coordinator.Token, k.as.run())
	if _, err := c.Unregister(ctx, c3po.None{}); err != nil {
		k.Runner.cfg.Log.WarnContext(ctx, "cannot unregister", "agent", k.polls, "err", err)
	}
}
