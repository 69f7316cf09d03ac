package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// reportSilence tells each asker, once, that the caller has read its question and ended
// its turn without answering.
func (box *inbox) reportSilence(ctx context.Context, ids []c3po.MessageID) error {
	if len(ids) == 0 {
		return nil
	}
	ids, err := box.ownAll(ctx, ids)
	if err != nil {
		return err
	}
	durability, err := box.hub.store.Durability(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		entry, err := box.hub.store.Message(ctx, box.space, id)
		if err != nil {
			return err
		}
		if entry == nil || entry.Message.ToAgent != box.id && entry.Message.ToAgent.Queue() == "" {
			continue
		}
		step := store.SilenceStep{Agent: box.id, Run: box.caller.Run, ID: id, To: entry.Message.FromAgent, Durability: durability}
		if step.To == c3po.Human { // the person's mailbox is for decisions only
			step.To = ""
		}
		about := cmp.Or(entry.Message.Ticket, id)
		step.Notice = fmt.Sprintf("'%s' has read your message %s, and its turn has ended without an answer. One may still come.", box.id, about)
		if !isRead(*entry) {
			step.Notice = fmt.Sprintf("'%s' was told of your message %s several times and has not read it. It stays in its inbox.", box.id, about)
		}
		if err := box.silence(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

// silence takes one such step.
func (box *inbox) silence(ctx context.Context, step store.SilenceStep) error {
	return box.tellAsker(ctx, step.To, func(to c3po.AgentID) (bool, error) {
		step.To = to
		told, err := box.hub.store.Silence(ctx, box.space, step)
		return told && to != "", err
	})
}

// tellAsker takes a step that tells who asked, and says whether it changed something. The
// asker may have been renamed by now, or be gone.
func (box *inbox) tellAsker(ctx context.Context, to c3po.AgentID, step func(to c3po.AgentID) (bool, error)) error {
	for range maxRenamings {
		changed, err := step(to)
		if err == nil {
			if changed {
				box.hub.marks.Touch(box.space, 0)
			}
			return nil
		}
		if to == "" || !errors.Is(err, c3po.AgentNotFound) {
			return box.dropIfSuperseded(err)
		}
		if to, _, err = box.hub.store.Renamed(ctx, box.space, to); err != nil {
			return err
		}
	}
	return nil
}
