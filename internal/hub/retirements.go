package hub

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// retirePage is how many agents are looked at in one go.
const retirePage = 100

// retire evicts who is to be retired from its rooms first.
func (h *Hub) retire(ctx context.Context, space c3po.Space, id c3po.AgentID, silent time.Duration, empty bool) (store.RetireOutcome, error) {
	for {
		outcome, err := h.store.Retire(ctx, space, id, silent, empty)
		if err == nil && outcome == store.RetireDone {
			h.bindings.dropAgent(space, id) // its next call registers it
		}
		if err != nil || outcome != store.RetireRooms {
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
			if outcome == store.RetireDone {
				h.log.InfoContext(ctx, "changed", "kind", c3po.EventRetired, "space", space, "agent", s.ID)
			}
		}
		// Each of them is retired or heard of now, so the next list is another.
		if len(silent) < retirePage {
			return nil
		}
	}
}
