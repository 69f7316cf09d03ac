package c3po

import (
	"fmt"
	"strconv"
	"strings"
)

// OnlineBeats is for how many of its declared intervals an agent that does not call
// counts as online.
const OnlineBeats = 3

// A ProcessRun is a run that is a process of a host: its number and when it
// started, as that host counts, so that the next process that gets the number is
// not taken for it. It is written "host:pid:start".
type ProcessRun struct {
	Host  string
	PID   int
	Start int64
}

func (r ProcessRun) String() string { return fmt.Sprintf("%s:%d:%d", r.Host, r.PID, r.Start) }

// ParseProcessRun reads what String wrote. Other runs are a runner's word or a
// session, and say nothing of a process.
func ParseProcessRun(run string) (ProcessRun, bool) {
	parts := strings.Split(run, ":")
	if len(parts) != 3 || parts[0] == "" {
		return ProcessRun{}, false
	}
	pid, err := strconv.Atoi(parts[1])
	start, err2 := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || err2 != nil || pid <= 0 || start <= 0 {
		return ProcessRun{}, false
	}
	return ProcessRun{Host: parts[0], PID: pid, Start: start}, true
}

// DeathInput says that the process of a run has ended.
type DeathInput struct {
	AgentID AgentID `json:"agent_id,omitempty" jsonschema:"The agent; the one whose run it is if left out and the run is your own"`
	Run     string  `json:"run" jsonschema:"Its run, as host:pid:start"`
}

// DeathResult says whether that was news.
type DeathResult struct {
	AgentID AgentID `json:"agent_id"`
	Died    bool    `json:"died"` // false: another run has the id by now, or it was known
}
