package hub

import (
	"context"
	"encoding/json"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// AddsTo is the name in a message's metadata under which it names the ticket that it adds
// to. A reply to either message answers the ticket.
const AddsTo = "c3po_ticket"

// maxAdditions is how many messages of a thread are looked at for those that add to a ticket.
const maxAdditions = 500

func addsTo(m c3po.Message) c3po.MessageID {
	var all map[string]json.RawMessage
	var name string
	if json.Unmarshal(m.Metadata, &all) != nil || json.Unmarshal(all[AddsTo], &name) != nil {
		return ""
	}
	id, err := c3po.ParseMessageID(name)
	if err != nil {
		return ""
	}
	return id
}

// ticketOf is the ticket that a message in the caller's inbox adds to, as the caller has it;
// empty if it adds to none. Only who asked can add, and only to what the caller has.
func (o outbox) ticketOf(ctx context.Context, id c3po.MessageID) (c3po.MessageID, error) {
	added, err := o.hub.store.Message(ctx, o.space, id)
	if err != nil || added == nil || addsTo(added.Message) == "" {
		return "", err
	}
	ticket, err := o.hub.store.Message(ctx, o.space, addsTo(added.Message))
	if err != nil || ticket == nil || !ticket.Facts.Cancelled.IsZero() || !ticket.Message.ExpectsReply ||
		ticket.Message.FromAgent != added.Message.FromAgent || ticket.Message.Thread != added.Message.Thread {
		return "", err
	}
	form, err := o.ownForm(ctx, ticket.Message.ID)
	if err != nil {
		return "", err
	}
	if _, to, _ := form.Split(); to == o.id || ticket.Facts.Claim != nil && ticket.Facts.Claim.By == o.id {
		return form, nil
	}
	return "", nil
}

// Additions are what the asker has added to a question, in order.
func (a *Actor) Additions(ctx context.Context, p Progress) (found []c3po.Message, err error) {
	after := p.Ticket.Seq
	for looked := 0; looked < maxAdditions; {
		entries, err := a.hub.store.Thread(ctx, a.space, p.Ticket.Thread, after, a.hub.limits.PageItems)
		if err != nil || len(entries) == 0 {
			return found, err
		}
		for _, entry := range entries {
			if after = entry.Message.Seq; isAddition(entry, p) {
				m := entry.Message
				m.BodyGone = entry.BodyGone || entry.Corrupt
				found = append(found, m)
			}
		}
		looked += len(entries)
	}
	return found, nil
}

func isAddition(entry store.Entry, p Progress) bool {
	to := addsTo(entry.Message)
	return to != "" && (to == p.Given || to == p.Ticket.ID) && entry.Message.FromAgent == p.Question.FromAgent
}
