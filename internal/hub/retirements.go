package hub

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po"
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

	// Silent lists up to limit agents that were not heard of for so long, the
	// longest silence first. Who is connected all the time is not heard of: some of
	// them may be online, which Retire finds out and remembers.
	Silent(ctx context.Context, space c3po.Space, silent time.Duration, limit int) ([]Silence, error)
	// Retired lists up to limit retired agents whose mail may not all be
	// forgotten yet, after skipping some.
	Retired(ctx context.Context, space c3po.Space, skip, limit int) ([]c3po.AgentID, error)
}

// retirePage is how many agents are looked at in one go.
const retirePage = 100

// retire evicts who is to be retired from its rooms first.
func (h *Hub) retire(ctx context.Context, space c3po.Space, id c3po.AgentID, silent time.Duration, empty bool) (RetireOutcome, error) {
	for {
		outcome, err := h.store.Retire(ctx, space, id, silent, empty)
		if err == nil && outcome == RetireDone {
			h.bindings.dropAgent(space, id) // its next call registers it
		}
		if err != nil || outcome != RetireRooms {
			return outcome, err
		}
		rooms, err := h.store.RoomsOf(ctx, space, id)
		if err != nil {
			return "", err
		}
		for _, room := range rooms {
			if _, err := h.store.Leave(ctx, space, room, id, ""); err != nil {
				return "", err
			}
			h.log.InfoContext(ctx, "changed", "kind", c3po.EventLeft, "space", space, "agent", id)
		}
	}
}

// retireSilent retires who was silent for too long. It touches no mail.
func (h *Hub) retireSilent(ctx context.Context, space c3po.Space) error {
	if h.limits.RetireAfter <= 0 {
		return nil
	}
	for {
		silent, err := h.store.Silent(ctx, space, h.limits.RetireAfter, retirePage)
		if err != nil {
			return err
		}
		for _, s := range silent {
			outcome, err := h.retire(ctx, space, s.ID, h.limits.RetireAfter, false)
			if err != nil {
				return err
			}
			if outcome == RetireDone {
				h.log.InfoContext(ctx, "changed", "kind", c3po.EventRetired, "space", space, "agent", s.ID)
			}
		}
		// Each of them is retired or heard of now, so the next list is another.
		if len(silent) < retirePage {
			return nil
		}
	}
}
