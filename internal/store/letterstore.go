package store

import (
	"context"

	"github.com/c3po-dev/c3po/c3po"
)

// ReviveStep says how a dead letter is delivered again.
type ReviveStep struct {
	Reason     string // only a letter that died for it; any if empty
	Notice     string // what its sender is told
	Durability c3po.Durability
}

// ReviveOutcome is what became of a dead letter that was to be delivered again.
type ReviveOutcome string

// The outcomes.
const (
	ReviveDone    ReviveOutcome = "revived"
	ReviveLeft    ReviveOutcome = "left"    // it is no dead letter, or died for another reason
	ReviveUnknown ReviveOutcome = "unknown" // its recipient is not registered
	ReviveFull    ReviveOutcome = "full"    // there is no room in the inbox
)

type letterStore interface {
	// Revive makes a dead letter pending again: it is back in the inbox of its
	// recipient under its own id, behind all mail that is there, with a whole new
	// life, and given to readers who had it before. Its sender, if it is registered
	// and the letter was no bounce or notice itself, gets one notice.
	Revive(ctx context.Context, space c3po.Space, id c3po.MessageID, step ReviveStep) (ReviveOutcome, error)
	// Purge forgets a dead letter at once. Any other message is left alone (false).
	Purge(ctx context.Context, space c3po.Space, id c3po.MessageID) (bool, error)

	// Reads.

	// Owed lists up to limit letters of an agent that died because it was
	// removed, in the order they died; OwedTo up to limit agents, sorted and
	// after the given one, that have such letters.
	Owed(ctx context.Context, space c3po.Space, id c3po.AgentID, limit int) ([]c3po.MessageID, error)
	OwedTo(ctx context.Context, space c3po.Space, after c3po.AgentID, limit int) ([]c3po.AgentID, error)
}
