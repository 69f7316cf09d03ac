package store

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A ClaimStep asks for a message of a queue.
type ClaimStep struct {
	Queue c3po.AgentID // the mailbox
	Agent c3po.AgentID // who claims
	Run   string
	ID    c3po.MessageID // this one; empty for the next in reading order
	// What the agent holds already is given again only to a reader that was not
	// given it; the fields are those of NextQuery.
	Reader     string
	MinSeq     int64
	Positioned bool
	Given      []c3po.MessageID
}

// Claimed is an answer to a ClaimStep.
type Claimed struct {
	Entry *Entry // nil if there is none
	Count int    // all unacked mail of the queue, held or not
	Now   time.Time
}

type queueStore interface {
	// Claim gives the agent a pending message of a queue. It then holds it while it
	// is registered and its last sign of life, or the claim itself, is less than
	// ClaimLease ago, until HoldUp releases it; a connection to a live node is a sign of life. Nobody else can
	// claim a message that is held, and nobody what it sent itself. SUPERSEDED for
	// another run, FORBIDDEN for an agent that is not in the queue and for a message that is
	// held, INVALID_REQUEST for one that is unknown or has ended. While the agent or the
	// space is paused there is no next message, and AGENT_UNAVAILABLE for one that is named. Claiming again
	// what one holds changes nothing. It works when the store is full.
	Claim(ctx context.Context, space c3po.Space, step ClaimStep) (Claimed, error)
	// AckClaimed ends messages of one queue's mailbox: those whose newest claim is the
	// agent's, and those nobody ever claimed, if it could claim them (AckNotYours
	// otherwise). AckStale if the newest claim is another agent's, lapsed or not. It
	// works when the store is full.
	AckClaimed(ctx context.Context, space c3po.Space, queue, agent c3po.AgentID, run string, ids []c3po.MessageID) ([]AckOutcome, error)

	// Reads.

	// Members returns up to limit agents that registered with the queue.
	Members(ctx context.Context, space c3po.Space, queue c3po.AgentID, limit int) ([]c3po.AgentID, error)
	// Queues lists the mailboxes of all queues that anybody ever registered with.
	Queues(ctx context.Context, space c3po.Space) ([]c3po.AgentID, error)
}

// RefuseNotMember is FORBIDDEN for an agent that did not register with a queue.
func RefuseNotMember(queue, agent c3po.AgentID) *c3po.Error {
	return c3po.Errorf(c3po.Forbidden, "'%s' has no part in the role '%s'", agent, queue.Queue()).
		Suggest("Call register_agent with '%s' among your capabilities; your own messages are for others.", queue.Queue())
}

// RefusePaused is AGENT_UNAVAILABLE for an agent that is to take no work on.
func RefusePaused(id c3po.AgentID) *c3po.Error {
	return c3po.Errorf(c3po.AgentUnavailable, "'%s' is paused", id).Suggest("Claim it once you are resumed; others can take it meanwhile.")
}

// RefuseHalted is AGENT_UNAVAILABLE for what an agent sends while everybody is paused.
func RefuseHalted(why string) *c3po.Error {
	if why == c3po.PausedByPerson {
		why = "your user has stopped all agents"
	}
	return c3po.Errorf(c3po.AgentUnavailable, "everybody is paused: %s", why).
		Suggest("Nothing was sent. Stop here; only a message to 'human' is accepted until your user resumes everybody.")
}

// RefuseHeld is FORBIDDEN for a message of a queue that another agent works on.
func RefuseHeld(id c3po.MessageID, by c3po.AgentID) *c3po.Error {
	return c3po.Errorf(c3po.Forbidden, "message '%s' is claimed by '%s'", id, by.Brief()).
		Suggest("Leave it to '%s'. If you held it before, your claim has ended: what you did for it does not count.", by.Brief())
}

// RefuseEnded is INVALID_REQUEST for a message that was dealt with.
func RefuseEnded(id c3po.MessageID, state string) *c3po.Error {
	return c3po.Errorf(c3po.InvalidRequest, "message '%s' has ended: %s", id, state).
		Suggest("There is nothing left to do for it.")
}
