package store

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// EverybodyAsked is the Agent of a Wake, and of no event, for every waiter for any
// agent's answer: the whole space was paused or resumed.
const EverybodyAsked c3po.AgentID = "*"

// A Wake says that something changed for an agent; its Seq is the event's.
type Wake struct {
	Seq   int64
	Agent c3po.AgentID // empty: nobody to wake
}

// A Sequence is where the log of a space stands.
type Sequence struct {
	Epoch  int64 // 1, and one more for every RaiseEpoch that was needed
	Last   int64 // the number of the last event
	Oldest int64 // the first that Events can still return; 0 if there is none
	Began  int64 // the number of the EventRollback that began the epoch; 0 in the first
}

// behind says that s cannot have come after other: no number and no epoch ever
// goes back.
func (s Sequence) Behind(other Sequence) bool { return s.Epoch < other.Epoch || s.Last < other.Last }

// resume finds where a reader continues that has everything up to a place: there, or if
// what follows is gone, where it can begin again and why.
func (s Sequence) Resume(after c3po.EventCursor) (from int64, reset c3po.ResetReason) {
	switch {
	case after.Epoch != s.Epoch || after.Seq > s.Last:
		// The new epoch is whole, if the log still has its beginning.
		if s.Began > 0 && s.Oldest <= s.Began {
			return s.Began - 1, c3po.ResetEpoch
		}
		return s.Last, c3po.ResetEpoch
	case after.Seq < s.Last && (s.Oldest == 0 || s.Oldest > after.Seq+1):
		return s.Last, c3po.ResetTrimmed
	default:
		return after.Seq, ""
	}
}

// EpochMargin is how far a raised sequence is above what anybody is known to
// have seen, so that what only others have seen is not given out again.
const EpochMargin = 1000

type eventStore interface {
	// Listen calls ready once the subscription of the space stands, again each
	// time it stands anew after a loss, and wake for every event. It returns when
	// ctx ends. Neither callback may block or call the store.
	Listen(ctx context.Context, space c3po.Space, ready func(), wake func(Wake)) error
	// Events returns up to limit events after seq, oldest first.
	Events(ctx context.Context, space c3po.Space, after int64, limit int) ([]c3po.Event, error)
	// Sequence says where the log stands.
	Sequence(ctx context.Context, space c3po.Space) (Sequence, error)
	// RaiseEpoch is for a store that has forgotten acknowledged writes. If its
	// epoch or its last number is lower than the known one, the epoch becomes one
	// more than both, the next number is EpochMargin above both, and an
	// EventRollback is written. Otherwise nothing changes, so of several nodes that
	// notice the same loss the first raises. It works when the store is full.
	// Readers' places from before (MinSeq of a query) mean nothing from then on.
	RaiseEpoch(ctx context.Context, space c3po.Space, known Sequence) (now Sequence, raised bool, err error)
	// Durability is what the running engine promises for a write now.
	Durability(ctx context.Context) (c3po.Durability, error)
	// Memory is what the running engine says of its memory, as old as Durability.
	Memory(ctx context.Context) (Memory, error)
	// Engine is what the running engine says of itself; nil if it will not.
	Engine(ctx context.Context) (*c3po.Engine, error)
	// Writable reports why no change can be stored: the engine does not answer, or takes
	// no writes. It writes nothing.
	Writable(ctx context.Context) error
	// Now is the store's clock.
	Now(ctx context.Context) (time.Time, error)
}
