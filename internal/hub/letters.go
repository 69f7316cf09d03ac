package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/c3po-dev/c3po"
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
	// Purge forgets a dead letter at once. What is no dead letter is left alone (false).
	Purge(ctx context.Context, space c3po.Space, id c3po.MessageID) (bool, error)

	// Reads.

	// Owed lists up to limit letters of an agent that died because it was
	// removed, in the order they died; OwedTo up to limit agents, sorted and
	// after the given one, that have such letters.
	Owed(ctx context.Context, space c3po.Space, id c3po.AgentID, limit int) ([]c3po.MessageID, error)
	OwedTo(ctx context.Context, space c3po.Space, after c3po.AgentID, limit int) ([]c3po.AgentID, error)
}

const (
	owedPage = 100
	// owedMost is how long a registration is held up by letters that come back;
	// the reaper brings the rest.
	owedMost = 2 * time.Second
)

// bringBack delivers the letters again that died because their recipient was
// removed. Each is delivered once, and in order, however many nodes do so: a
// letter is only tried by who has tried all before it.
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
			outcome, err := h.store.Revive(ctx, space, letter, ReviveStep{
				Reason: c3po.ReasonRecipientRemoved, Notice: deliveredAfterAll(letter), Durability: durability,
			})
			if err != nil {
				return err
			}
			switch outcome {
			case ReviveDone:
				revived++
				h.log.InfoContext(ctx, "changed", "kind", c3po.EventRedelivered, "space", space, "message_id", letter)
			case ReviveLeft:
			default:
				// Nobody is there, or there is no room: the next one fares no better.
				return nil
			}
		}
		if revived == 0 {
			return nil
		}
	}
}

// bringBackAll goes on with what a registration had no time for.
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
