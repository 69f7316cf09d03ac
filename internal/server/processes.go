package server

import (
	"os"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// maxLineage is more than any terminal is deep.
const maxLineage = 64

// processes are those of this machine, as far as they can be seen.
type processes struct {
	host    string // empty if they cannot
	started func(pid int) int64
	parent  func(pid int) int
}

func seeProcesses(cfg Config) processes {
	host, err := os.Hostname()
	if err != nil || cfg.Started == nil || cfg.Parent == nil {
		return processes{}
	}
	return processes{host, cfg.Started, cfg.Parent}
}

func (p processes) run(pid int) string {
	return c3po.ProcessRun{Host: p.host, PID: pid, Start: p.started(pid)}.String()
}

// lineage finds the runs of a process of this machine and of those before it.
func (p processes) lineage() func(pid int) []string {
	if p.host == "" {
		return nil
	}
	return func(pid int) []string {
		var runs []string
		for ; pid > 1 && len(runs) < maxLineage; pid = p.parent(pid) {
			runs = append(runs, p.run(pid))
		}
		return runs
	}
}

// holders are the runs of the live process of this machine that holds an agent, by
// which what it has started is known; none if there is no such process.
func (p processes) holders(r store.Record) []string {
	process, ok := c3po.ParseProcessRun(r.Run)
	if !ok {
		// A word of a runner: the agent may have said which process it is.
		process = c3po.ProcessRun{Host: r.Profile.Host, PID: r.Profile.PID, Start: r.Profile.PIDStart}
	}
	if p.host == "" || process.Host != p.host || process.Start == 0 || p.started(process.PID) != process.Start {
		return nil
	}
	runs := []string{process.String()}
	if r.Profile.Type == sharedDaemon {
		runs = append(runs, p.run(p.parent(process.PID)))
	}
	return runs
}

// sharedDaemon is the client one process of which has several sessions. Each is
// held by its own process of ours, and what it starts is below the daemon.
const sharedDaemon = "codex"
