package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// reportSilence tells who asked that the caller has read their questions and ended its
// turn without answering them: each of them once.
func (a *Actor) reportSilence(ctx context.Context, ids []c3po.MessageID) error {
	if len(ids) == 0 {
		return nil
	}
	ids, err := a.ownAll(ctx, ids)
	if err != nil {
		return err
	}
	durability, err := a.hub.store.Durability(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		entry, err := a.hub.store.Message(ctx, a.caller.Space, id)
		if err != nil {
			return err
		}
		if entry == nil || entry.Message.ToAgent != a.id && entry.Message.ToAgent.Queue() == "" {
			continue
		}
		step := store.SilenceStep{Agent: a.id, Run: a.caller.Run, ID: id, To: entry.Message.FromAgent, Durability: durability}
		if step.To == c3po.Human { // whose mailbox is for what they have to decide
			step.To = ""
		}
		step.Notice = fmt.Sprintf("'%s' has read your message %s, and its turn has ended without an answer. One may still come.", a.id, cmp.Or(entry.Message.Ticket, id))
		if err := a.silence(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

// silence takes one such step. Who asked may have another name by now, or be gone.
func (a *Actor) silence(ctx context.Context, step store.SilenceStep) error {
	for range maxRenamings {
		told, err := a.hub.store.Silence(ctx, a.caller.Space, step)
		if err == nil {
			if told && step.To != "" {
				a.hub.marks.Touch(a.caller.Space, 0)
			}
			return nil
		}
		if step.To == "" || !errors.Is(err, c3po.AgentNotFound) {
			return a.dropIfSuperseded(err)
		}
		if step.To, _, err = a.hub.store.Renamed(ctx, a.caller.Space, step.To); err != nil {
			return err
		}
	}
	return nil
}
