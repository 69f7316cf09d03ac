package hub

import (
	"context"
	"fmt"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// reportStall records that the caller makes no step with questions that it has read, or
// goes on with them. Each asker hears of it once. What it has claimed of a role is for
// other members until it goes on.
func (box *inbox) reportStall(ctx context.Context, ids []c3po.MessageID, why store.HoldUpReason) error {
	if len(ids) == 0 {
		return nil
	}
	ids, err := box.ownAll(ctx, ids)
	if err != nil {
		return err
	}
	entries, err := box.hub.store.Messages(ctx, box.space, ids)
	if err != nil {
		return err
	}
	return box.holdUp(ctx, entries, why, func(id c3po.MessageID) string {
		return fmt.Sprintf("'%s' has read your message %s, and has made no step for a while: it may be stuck. An answer may still come.", box.id, id)
	})
}
