package engine

import "github.com/c3po-dev/c3po/c3po"

const (
	// maxLineage keeps whoever nests processes without end from keeping us busy. A
	// line that is longer was not seen to its end.
	maxLineage = 1024
	// lineageTries is how often a walk begins anew that a process has ended under.
	lineageTries = 5
)

// A looked is what the system says of a process at one moment.
type looked struct {
	parent int
	start  int64
	ended  bool // only its number is left
}

// Parent is the process that a process was started by; 0 if nobody can say.
func Parent(pid int) int {
	if found, seen := look(pid); seen == plain {
		return found.parent
	}
	return 0
}

// Lineage is a process and those it was started by, the nearest first and without a
// host, up to the first process of the machine. It is whole if every one of them was
// seen: else nobody can say what stands above it.
func Lineage(pid int) (line []c3po.ProcessRun, whole bool) {
	for range lineageTries {
		var again bool
		if line, whole, again = walk(pid, look); !again {
			break
		}
	}
	return line, whole
}

// walk goes up from a process once. It is to be done again if what it found cannot
// have been so at any moment: a process ended, and its children got another parent.
func walk(pid int, look func(int) (looked, sight)) (line []c3po.ProcessRun, whole, again bool) {
	for len(line) < maxLineage {
		found, seen := look(pid)
		switch {
		case seen == hidden && len(line) > 0:
			// A process of another user, on a machine that shows these to nobody else.
			return line, true, false
		case seen != plain || len(line) == 0 && found.ended:
			return line, false, len(line) > 0
		case len(line) > 0 && found.start > line[len(line)-1].Start:
			return line, false, true // the number belongs to a later process by now
		}
		line = append(line, c3po.ProcessRun{PID: pid, Start: found.start})
		if pid = found.parent; pid <= 1 {
			return line, true, false
		}
	}
	return line, false, false
}

// A sight says how well a process can be seen.
type sight int

const (
	absent sight = iota
	hidden       // it is there, and another user's
	plain
)
