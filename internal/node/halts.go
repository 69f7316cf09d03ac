package node

import (
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Wait is what holds an agent here.
type Wait struct {
	State c3po.SessionState // what it says of the session
	PID   int               // the process of this host that waits; 0 if that is not known
}

// settle notes what the waits there are say of the session, and says whether that
// is new. A call that waits for mail gets it, whatever else its session does; the
// last word of the session's own wait counts otherwise. What a process that is halted
// has said counts no more.
func (held *attachment) settle() (changed bool) {
	var state c3po.SessionState
	if len(held.halted) > 0 {
		state = c3po.SessionUnknown
	}
	for _, w := range held.waits {
		if slices.Contains(held.halted, w.PID) {
			continue
		}
		if w.State == c3po.SessionClosed && state != "" {
			continue // its host waits for it to close
		}
		if state = w.State; state == c3po.SessionWaiting {
			break
		}
	}
	if state == held.state {
		return false
	}
	if !slices.Contains(state.Alike(), held.state) {
		held.since = time.Now()
	}
	held.state, held.stored = state, false
	return true
}

// lookAtProcesses finds which of the processes that wait here are halted: the state they
// reported no longer holds, and mail does not reach them. Such an agent keeps its place
// until the process continues or ends.
func (p *Presence) lookAtProcesses(now time.Time) {
	if p.stopped == nil {
		return
	}
	p.mu.Lock()
	looked := map[int]bool{}
	for _, held := range p.attached {
		for _, pid := range held.processes() {
			looked[pid] = false
		}
	}
	p.mu.Unlock()
	for pid := range looked {
		looked[pid] = p.stopped(pid)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, held := range p.attached {
		halted := slices.DeleteFunc(held.processes(), func(pid int) bool { return !looked[pid] })
		goesOn := len(halted) < len(held.halted)
		held.halted = halted
		if len(held.waits) == 0 && len(halted) == 0 {
			if goesOn {
				held.left = now // it may wait again at once
				p.leaving = append(p.leaving, departure{key, now.Add(linger)})
				p.quiet = append([]departure{{key, now}}, p.quiet...)
			}
			continue // it may be between two waits: takeDeparted settles what it is
		}
		if held.settle() {
			p.leaving = slices.Insert(p.leaving, 0, departure{key, now})
		}
	}
}

// processes are the ones that wait here, or if there are none the last that did.
func (held *attachment) processes() []int {
	var pids []int
	for _, w := range held.waits {
		if w.PID > 0 && !slices.Contains(pids, w.PID) {
			pids = append(pids, w.PID)
		}
	}
	if len(held.waits) == 0 && held.pid > 0 {
		pids = append(pids, held.pid)
	}
	return pids
}
