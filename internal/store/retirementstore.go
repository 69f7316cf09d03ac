package store

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// RetireOutcome is what became of an agent that might be retired.
type RetireOutcome string

// The outcomes.
const (
	RetireDone    RetireOutcome = "retired"
	RetireKept    RetireOutcome = "kept"    // it is online, or was heard of since
	RetireMail    RetireOutcome = "mail"    // its inbox was to be empty
	RetireRooms   RetireOutcome = "rooms"   // it is in rooms, which it must leave first
	RetireUnknown RetireOutcome = "unknown" // nobody of that name is registered
)

// A Silence is how long nothing was heard of an agent, in lived time.
type Silence struct {
	ID  c3po.AgentID
	For time.Duration
}

type retirementStore interface {
	// Retire forgets the registration of an agent that is not online and of
	// which nothing was heard for at least so much lived time. Its mail stays in its
	// inbox, where it expires or is found by whoever registers the name; with empty
	// an agent that has mail is not retired. Of an agent whose node died it is
	// assumed that it was there until now. One that is in rooms is not retired.
	Retire(ctx context.Context, space c3po.Space, id c3po.AgentID, silent time.Duration, empty bool) (RetireOutcome, error)

	// Reads.

	// Silent lists up to limit agents that were not heard of for so long, the longest
	// silence first. An agent that stays connected makes no calls, so some of these may
	// be online; Retire checks and remembers that.
	Silent(ctx context.Context, space c3po.Space, silent time.Duration, limit int) ([]Silence, error)
	// Retired lists up to limit retired agents whose mail may not all be
	// forgotten yet, after skipping some.
	Retired(ctx context.Context, space c3po.Space, skip, limit int) ([]c3po.AgentID, error)
}
