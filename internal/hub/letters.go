package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	owedPage = 100
	// owedLettersTimeout is how long a registration is held up by letters that come back;
	// the reaper brings the rest.
	owedLettersTimeout = 2 * time.Second
)

// bringBack delivers again the letters that died because their recipient was removed.
// Each is delivered once and in order, however many nodes try: a node tries a letter only
// after all those before it.
func (h *Hub) bringBack(ctx context.Context, space c3po.Space, id c3po.AgentID) error {
	durability, err := h.store.Durability(ctx)
	if err != nil {
		return err
	}
	for {
		letters, err := h.store.Owed(ctx, space, id, owedPage)
		if err != nil || len(letters) == 0 {
			return err
		}
		revived := 0
		for _, letter := range letters {
			outcome, err := h.store.Revive(ctx, space, letter, store.ReviveStep{
				Reason: c3po.ReasonRecipientRemoved, Notice: deliveredAfterAll(letter), Durability: durability,
			})
			if err != nil {
				return err
			}
			switch outcome {
			case store.ReviveDone:
				revived++
				h.log.InfoContext(ctx, "changed", "kind", c3po.EventRedelivered, "space", space, "message_id", letter)
			case store.ReviveLeft:
			default:
				// The recipient is gone or its inbox is full: the next letter would fare
				// no better.
				return nil
			}
		}
		if revived == 0 {
			return nil
		}
	}
}

// bringBackAll delivers what a registration had no time for.
func (h *Hub) bringBackAll(ctx context.Context, space c3po.Space) error {
	for after := c3po.AgentID(""); ; {
		ids, err := h.store.OwedTo(ctx, space, after, retirePage)
		if err != nil || len(ids) == 0 {
			return err
		}
		present, err := h.store.Agents(ctx, space, ids)
		if err != nil {
			return err
		}
		for _, record := range present {
			if err := h.bringBack(ctx, space, record.ID); err != nil {
				return err
			}
		}
		after = ids[len(ids)-1]
	}
}

// deliveredAfterAll tells a sender that what bounced is in the inbox again.
func deliveredAfterAll(letter c3po.MessageID) string {
	_, to, _ := letter.Split()
	return fmt.Sprintf("Your message %s to '%s', which you were told was not delivered, is in the inbox of '%s' again. "+
		"There is no need to send it a second time.", letter, to, to)
}
