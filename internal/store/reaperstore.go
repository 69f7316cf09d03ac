package store

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Due message has outlived its life.
type Due struct {
	ID   c3po.MessageID
	From c3po.AgentID
}

// A Pulse is what a tick found in a space.
type Pulse struct {
	Lived int64 // seconds
	Won   bool  // the caller is to look after the space until the next tick
	Due   bool  // something may be due there; false only if nothing is, or if it has not won
}

// Counters are the books of a space, kept by the steps themselves.
type Counters struct {
	Sent, Pending, Acked, Cancelled, Dead int64
	Agents                                int64
	EndedBytes                            int64
	PendingBytes                          int64
	Lived                                 int64
	Seq                                   int64
	Paused                                string // why all agents are paused; empty if they are not
}

// A DeadLetter is a message that ended without being acked.
type DeadLetter struct {
	Entry Entry
	Seq   int64 // number of the event that ended it
	At    time.Time
}

type reaperStore interface {
	// Reaper makes a node the one that reaps, for so long, and returns 0. If another
	// one is, nothing changes, and it returns for how much longer that one is. With a
	// length of 0 the node gives it up.
	Reaper(ctx context.Context, node string, length time.Duration) (another time.Duration, err error)
	// Tick advances lived time by the seconds since the last tick, at most twice
	// the interval and never backwards. A tick sooner than half the interval changes
	// nothing, and only the node whose tick was the last to count has won.
	Tick(ctx context.Context, space c3po.Space, node string, interval time.Duration) (Pulse, error)
	// DueMail lists up to limit messages whose life is over.
	DueMail(ctx context.Context, space c3po.Space, limit int) ([]Due, error)
	// Bury makes a pending message a dead letter for the given reason, and puts
	// one bounce into its sender's inbox if it has a text, the sender is registered and
	// the message was no bounce or notice itself. A message that is not pending is left alone (false).
	Bury(ctx context.Context, space c3po.Space, id c3po.MessageID, reason, bounce string) (bool, error)
	// Trim forgets, of up to limit messages or keys each: ended messages older than EndedLife
	// or beyond EndedBytes (an engine without memory forgets more of them), dead letters older than DeadLife, keys older than
	// KeyLife. It returns how many it forgot. Accounts unused for FlowIdle go along, and
	// once nothing else is left what numbers.go says to be over: leases, names, paused
	// chains, and queues that nobody has.
	Trim(ctx context.Context, space c3po.Space, limit int) (int, error)
	// ForgetSpaces forgets spaces that Trim has found empty for EmptyLife. One that is
	// used again continues above all numbers it gave.
	ForgetSpaces(ctx context.Context) error

	// Reads.

	// DeadLetters returns up to limit letters whose Seq is above after, in the order
	// they died.
	DeadLetters(ctx context.Context, space c3po.Space, after int64, limit int) ([]DeadLetter, error)
	Counters(ctx context.Context, space c3po.Space) (Counters, error)
	// Oldest is when the unacked message whose life ends first was accepted; the
	// zero time if there is none. Mail that never expires is not looked at.
	Oldest(ctx context.Context, space c3po.Space) (time.Time, error)
	// InboxSize counts the unacked mail of one agent as it really is.
	InboxSize(ctx context.Context, space c3po.Space, id c3po.AgentID) (int, error)
	// InboxSizes is InboxSize of several agents, in their order and one round trip.
	InboxSizes(ctx context.Context, space c3po.Space, ids []c3po.AgentID) ([]int, error)
	// InboxBytes adds up the bytes of the unacked mail of one agent, one by one.
	InboxBytes(ctx context.Context, space c3po.Space, id c3po.AgentID) (int64, error)
	// Spaces lists every space that was written to and not forgotten.
	Spaces(ctx context.Context) ([]c3po.Space, error)
}
