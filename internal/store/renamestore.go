package store

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

type renameStore interface {
	// Rename gives an agent another name: its record, its mail, its places in rooms
	// and its roles move in one step, its invitations and the tasks it holds right
	// after it. The ids of its mail change with it (from::old::hex is from::new::hex
	// afterwards). To repeat it changes nothing and is no error. INVALID_REQUEST if the name is not free: somebody
	// has it, it has mail, or it answers for another agent; AGENT_NOT_FOUND, SUPERSEDED, and RATE_LIMITED after
	// MaxRenames within RenameWindow.
	Rename(ctx context.Context, space c3po.Space, old, new c3po.AgentID, run string) error

	// Reads.

	// Renamed gives the id that an agent of this former name has today, and
	// whether the name still answers for it: within NameLife. Empty if there is none.
	Renamed(ctx context.Context, space c3po.Space, id c3po.AgentID) (to c3po.AgentID, answers bool, err error)
}

// MaxFormerNames is how many of its former names lead to an agent, the latest.
const MaxFormerNames = 64

// MaxRenames caps how often an agent is renamed within RenameWindow, which begins with the
// first of them: a renaming costs Redis more the more mail and rooms the space has.
const (
	MaxRenames   = 10
	RenameWindow = time.Hour
)

// Follows says whether a caller that asks for a former name of an agent is that agent:
// its run holds the agent, or no run does and the name still answers.
func Follows(record Record, run string, answers bool) bool {
	if run != "" && record.Run == run {
		return true
	}
	return answers && (run == "" || record.Run == "" || !record.Online)
}
