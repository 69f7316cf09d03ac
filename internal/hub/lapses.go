package hub

import (
	"context"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/node"
)

// lapse says that a ticket's deadline has passed, if nobody has answered it.
func (h *Hub) lapse(ctx context.Context, space c3po.Space, id c3po.MessageID) {
	ctx, cancel := context.WithTimeout(ctx, node.StepTimeout)
	defer cancel()
	lapsed, err := h.store.Lapse(ctx, space, id)
	switch {
	case err != nil:
		h.log.WarnContext(ctx, "cannot say that a deadline has passed", "space", space, "message_id", id, "err", err)
	case lapsed:
		h.marks.Touch(space, 0)
		from, to, _ := id.Split()
		if to == c3po.Human {
			h.notices.Ask(space)
		}
		h.log.InfoContext(ctx, "changed", "kind", c3po.EventTimedOut, "space", space, "agent", from, "message_id", id)
	}
}

// lapseOverdue lapses the tickets whose own node did not.
func (h *Hub) lapseOverdue(ctx context.Context, space c3po.Space) error {
	overdue, err := h.store.Overdue(ctx, space, reapDue)
	if err != nil {
		return err
	}
	for _, id := range overdue {
		h.lapse(ctx, space, id)
	}
	return nil
}
