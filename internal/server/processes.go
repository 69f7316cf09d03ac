package server

import (
	"os"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/store"
)

// processes are the visible processes of this machine.
type processes struct {
	host    string // empty if they cannot
	started func(pid int) int64
	above   func(pid int) (line []c3po.ProcessRun, whole bool)
}

func seeProcesses(cfg Config) processes {
	host, err := os.Hostname()
	if err != nil || cfg.Started == nil || cfg.Lineage == nil || cfg.Started(os.Getpid()) == 0 {
		return processes{}
	}
	return processes{host, cfg.Started, cfg.Lineage}
}

// lineage finds the runs of a process of this machine and of those before it.
func (p processes) lineage() func(pid int) (runs []string, whole bool) {
	if p.host == "" {
		return nil
	}
	return func(pid int) ([]string, bool) {
		line, whole := p.above(pid)
		runs := make([]string, len(line))
		for i, process := range line {
			process.Host = p.host
			runs[i] = process.String()
		}
		return runs, whole
	}
}

// holders are the runs of the live process of this machine that holds an agent, which
// identify the programs it started; empty if there is no such process.
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
	if r.Profile.Type == auth.SharedDaemon {
		if line, _ := p.lineage()(process.PID); len(line) > 1 {
			runs = append(runs, line[1])
		}
	}
	return runs
}
