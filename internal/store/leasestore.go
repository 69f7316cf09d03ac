package store

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// MaxLeaseRows bounds what is kept of leases in a space, ended ones included.
	MaxLeaseRows = 10_000
	// LeaseMemory is how long a lease is remembered that nobody holds any more.
	LeaseMemory = 24 * time.Hour
)

// A LeaseStep asks for the leases of files.
type LeaseStep struct {
	Agent c3po.AgentID
	Run   string
	Files c3po.LeaseFiles // none: the agent only works
	Task  string
}

// A ReleaseStep ends the leases of files that an agent holds.
type ReleaseStep struct {
	Agent c3po.AgentID
	Run   string
	Files c3po.LeaseFiles
}

// A HandStep gives leases of an agent to another.
type HandStep struct {
	Agent  c3po.AgentID
	Run    string
	To     c3po.AgentID
	Leases []c3po.Lease
}

type leaseStore interface {
	// Lease gives the agent the leases of all these files, or of none if another holds
	// one of them in the same working tree or on the same branch: that one is the answer.
	// A lease is held until it is released, its holder's session has ended (Unregister, Die,
	// DieDeclared, a registration of another run), or its holder has shown no work for
	// LeaseIdle. What an agent holds already it keeps, with its number, and all it holds is
	// renewed. A new number is higher than all before it. A lease that an agent has in a working
	// tree goes along to another branch that is checked out there, and ends on the one before;
	// without a branch it stays on that. An agent that works on without
	// having lost a file to another after LeaseIdle still has it.
	// SUPERSEDED for another run, AGENT_NOT_FOUND if its session has ended, STORE_FULL
	// beyond MaxAgentLeases and MaxLeaseRows.
	Lease(ctx context.Context, space c3po.Space, step LeaseStep) (c3po.LeaseTaken, error)
	// Release ends the agent's leases of these files, on whichever branch they were taken, and
	// returns how many those were. It works when the store is full.
	Release(ctx context.Context, space c3po.Space, step ReleaseStep) (int, error)
	// BreakLease ends a lease whoever holds it, and says whether there was one. It works
	// when the store is full.
	BreakLease(ctx context.Context, space c3po.Space, lease c3po.Lease) (bool, error)

	// HandLeases gives those of these leases that the agent holds to another, all at once
	// and each with a new number, and returns how many those were. On a branch, the other
	// holds the file on the branch alone, and the working tree is free for it. A lease that
	// was handed over ends after LeaseIdle if its holder does not edit the file. If the
	// other has no session, they end. SUPERSEDED for another run.
	HandLeases(ctx context.Context, space c3po.Space, step HandStep) (int, error)
	// LapseLeases ends all leases of an agent that has been offline for LeaseOffline, and
	// says whether it had some. The time counts from its last sign of life and work, and
	// from the end of the node that held its connection. It works when the store is full.
	LapseLeases(ctx context.Context, space c3po.Space, agent c3po.AgentID) (bool, error)

	// Reads.

	// Leases lists all leases, the latest first. Those that nobody holds any more have
	// Ended: when they were released, else when they were last used.
	Leases(ctx context.Context, space c3po.Space) ([]c3po.Lease, error)
}

// RefuseEndedSession is AGENT_NOT_FOUND for an agent whose session is over.
func RefuseEndedSession(id c3po.AgentID) *c3po.Error {
	return c3po.Errorf(c3po.AgentNotFound, "the session of '%s' has ended, so it holds no leases", id).
		Suggest("Call register_agent to go on.")
}

// RefuseManyLeases is STORE_FULL for one lease too many.
func RefuseManyLeases(whose string, most int) *c3po.Error {
	return c3po.Errorf(c3po.StoreFull, "%s %d leases of files, which is the most", whose, most).
		Suggest("Edit without one; committing frees those you have.")
}
