package hub

import (
	"context"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/node"
	"github.com/c3po-dev/c3po/internal/store"
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
		if to == c3po.Human && !h.expireApproval(ctx, space, id) {
			h.notices.Ask(space)
		}
		h.log.InfoContext(ctx, "changed", "kind", c3po.EventTimedOut, "space", space, "agent", from, "message_id", id)
	}
}

// expireApproval withdraws a request for permission whose time is over, and says whether
// it was one: it is not asked again.
func (h *Hub) expireApproval(ctx context.Context, space c3po.Space, id c3po.MessageID) bool {
	entry, err := h.store.Message(ctx, space, id)
	if err != nil || entry == nil || entry.Message.Kind != c3po.KindApproval {
		return false
	}
	durability, err := h.store.Durability(ctx)
	if err == nil {
		_, err = h.store.Cancel(ctx, space, store.CancelStep{From: entry.Message.FromAgent, ID: id, Durability: durability})
	}
	if err != nil {
		h.log.WarnContext(ctx, "cannot withdraw a request that has expired", "space", space, "message_id", id, "err", err)
	}
	return true
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
