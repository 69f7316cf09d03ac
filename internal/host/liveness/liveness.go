// Package liveness sees the processes of agents end on the host it runs on.
//
// Of a run it says so only if it has seen the process alive: of one it never saw it
// cannot know whether it has ended or lives where it does not look, in a container
// that borrows the host's name for example. Of a process that an agent declares to be
// on this host it also says that it is not there.
package liveness

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	lookEvery = time.Second
	// maxRuns bounds what one process keeps in mind.
	maxRuns = 10_000
	// never is when a process started that is not there.
	never = -1
)

// A Run is the run of an agent that is a process of this host.
type Run struct {
	Space c3po.Space
	Agent c3po.AgentID
	Name  string // host:pid:start; empty for the process that the agent declared:
	PID   int
	Start int64 // 0 if it did not say
	Seen  bool  // the process was there once
}

// Config configures a Watcher.
type Config struct {
	Host string
	// Started is when a process started, as this machine counts; 0 if there is no
	// such process, or the machine cannot say.
	Started func(pid int) int64
	// Ended is told of each run that has ended. If it fails it is told again.
	Ended func(context.Context, Run) error
	Every time.Duration // between two looks; a second if zero
	Log   *slog.Logger  // silent if nil
}

// A Watcher looks at processes. It needs Run beside it.
type Watcher struct {
	Config
	mu   sync.Mutex
	runs map[Run]c3po.ProcessRun
}

// New makes a Watcher.
func New(cfg Config) *Watcher {
	if cfg.Every <= 0 {
		cfg.Every = lookEvery
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Watcher{Config: cfg, runs: map[Run]c3po.ProcessRun{}}
}

// Sees says that a run is a process of this host that is alive.
func (w *Watcher) Sees(name string) bool {
	process, ok := w.ofThisHost(name)
	return ok && w.Started(process.PID) == process.Start
}

func (w *Watcher) ofThisHost(name string) (c3po.ProcessRun, bool) {
	process, ok := c3po.ParseProcessRun(name)
	return process, ok && process.Host == w.Host
}

// Watch keeps an eye on a run, if it is a process of this host that is alive.
func (w *Watcher) Watch(space c3po.Space, agent c3po.AgentID, name string) {
	process, ok := w.ofThisHost(name)
	if !ok {
		return
	}
	run := Run{Space: space, Agent: agent, Name: name}
	w.mu.Lock()
	_, known := w.runs[run]
	full := len(w.runs) >= maxRuns
	w.mu.Unlock()
	if known || full || w.Started(process.PID) != process.Start {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs[run] = process
}

// Declare keeps an eye on a process that an agent says is its own, and reports it at
// the next look if it is not there.
func (w *Watcher) Declare(space c3po.Space, agent c3po.AgentID, host string, pid int, start int64) {
	if w.Host == "" || host != w.Host {
		return
	}
	run := Run{Space: space, Agent: agent, PID: pid, Start: start, Seen: true}
	process := c3po.ProcessRun{Host: w.Host, PID: pid, Start: w.Started(pid)}
	if process.Start == 0 || start != 0 && process.Start != start {
		run.Seen, process.Start = false, never
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.runs) < maxRuns {
		w.runs[run] = process
	}
}

// Watches says that the process an agent declared was there, and was not seen to end.
func (w *Watcher) Watches(space c3po.Space, agent c3po.AgentID, pid int, start int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, watched := w.runs[Run{Space: space, Agent: agent, PID: pid, Start: start, Seen: true}]
	return watched
}

// Run looks until ctx ends.
func (w *Watcher) Run(ctx context.Context) error {
	tick := time.NewTicker(w.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			w.look(ctx)
		}
	}
}

func (w *Watcher) look(ctx context.Context) {
	for _, run := range w.endedRuns() {
		if err := w.Ended(ctx, run); err != nil {
			w.Log.WarnContext(ctx, "cannot say that an agent has died", "agent", run.Agent, "run", run.Name, "err", err)
			continue
		}
		w.mu.Lock()
		delete(w.runs, run)
		w.mu.Unlock()
	}
}

// endedRuns lists the runs whose process is no longer there, or whose number
// belongs to another process by now.
func (w *Watcher) endedRuns() []Run {
	w.mu.Lock()
	defer w.mu.Unlock()
	var gone []Run
	for run, process := range w.runs {
		if w.Started(process.PID) != process.Start {
			gone = append(gone, run)
		}
	}
	return gone
}
