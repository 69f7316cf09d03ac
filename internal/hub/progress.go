package hub

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Progress is how far a question has come, with what was asked and what was answered.
type Progress struct {
	Ticket   c3po.Ticket
	Given    c3po.MessageID // the id that its sender was given, whatever its recipient is called now
	Question c3po.Message
	Answer   *c3po.Message // once there is one
	Mine     bool          // the caller asked it
	Unacked  bool          // the answer is the caller's, and in its inbox
	Holder   c3po.AgentID  // the agent that has the question; of a queue who has claimed it, empty if nobody has
	// AskedPerson is when its holder, which has read it, asked its user a question that is
	// open still; zero if it did not, or asked before it read this.
	AskedPerson time.Time
	Ended       time.Time // when its holder acked it without an answer; zero if it did not
}

// Progress shows one question of the caller's, or of anybody if the caller sees all. An
// answer that it brings is served once the caller has it.
func (a *Actor) Progress(ctx context.Context, id c3po.MessageID) (Progress, error) {
	ticket, err := a.Ticket(ctx, id)
	if err != nil {
		return Progress{}, err
	}
	asked, held, err := a.hands(ctx, ticket.ID)
	if err != nil {
		return Progress{}, err
	}
	if asked == nil || !asked.Message.ExpectsReply || asked.Message.Kind != c3po.KindMessage {
		return Progress{}, store.RefuseNoMessage(id)
	}
	mine, err := a.inbox.isMe(ctx, asked.Message.FromAgent)
	if err != nil {
		return Progress{}, err
	}
	if !mine && !a.caller.SeesAll() {
		return Progress{}, store.RefuseNoMessage(id) // who was asked reads it as mail
	}
	given, err := a.givenID(ctx, ticket)
	if err != nil {
		return Progress{}, err
	}
	p := Progress{Ticket: ticket, Given: given, Question: asked.Message, Mine: mine, Holder: held.Message.ToAgent}
	p.Question.BodyGone = asked.BodyGone || asked.Corrupt
	if p.Holder.Queue() != "" {
		p.Holder = ""
		if claim := held.Facts.Claim; claim != nil {
			p.Holder = claim.By
		}
	}
	if err := a.addAnswer(ctx, &p, mine); err != nil || ticket.State != c3po.TicketDelivered {
		return p, err
	}
	if held.State == c3po.StateAcked {
		p.Ended = held.Facts.Ended
	}
	p.AskedPerson, err = a.askedPerson(ctx, p)
	return p, err
}

// askedPerson is when the holder of a question asked its user the first of what is open
// still, since it has read the question. What it asked of another thread does not count.
func (s spaceHub) askedPerson(ctx context.Context, p Progress) (time.Time, error) {
	if p.Holder == "" {
		return time.Time{}, nil
	}
	holder, err := s.hub.store.Agents(ctx, s.space, []c3po.AgentID{p.Holder})
	if err != nil || len(holder) == 0 || holder[0].Paused != c3po.PausedForHuman {
		return time.Time{}, err
	}
	var first time.Time
	for query := (store.InboxQuery{Limit: s.hub.limits.PageItems}); ; {
		page, err := s.hub.store.Inbox(ctx, s.space, c3po.Human, query)
		if err != nil {
			return first, err
		}
		for _, entry := range page.Entries {
			m, at := entry.Message, entry.Facts.Accepted
			if m.Kind == c3po.KindEscalation && m.FromAgent == p.Holder && !at.Before(p.Ticket.DeliveredAt) && (m.Thread == p.Ticket.Thread || m.Thread == string(m.ID)) {
				first = earliest(first, at)
			}
		}
		if query.After = page.Next; query.After == 0 || !first.IsZero() {
			return first, nil
		}
	}
}

// givenID is the id under which a ticket's sender knows it.
func (s spaceHub) givenID(ctx context.Context, ticket c3po.Ticket) (c3po.MessageID, error) {
	marks, err := s.hub.store.Tickets(ctx, s.space, ticket.Seq+1, 1)
	if err != nil || len(marks) == 0 || marks[0].ID != ticket.ID {
		return ticket.ID, err
	}
	return marks[0].Given, nil
}

// hands are a question as it was asked, and as the agent has it to which it was
// handed over last.
func (s spaceHub) hands(ctx context.Context, id c3po.MessageID) (asked, held *store.Entry, err error) {
	for range ticketMoves {
		entry, err := s.hub.store.Message(ctx, s.space, id)
		if err != nil || entry == nil {
			return asked, held, err
		}
		if held = entry; asked == nil {
			asked = entry
		}
		moved := id
		for _, answer := range entry.Facts.Answers {
			if answer.MovedTo != "" {
				moved = answer.MovedTo
			}
		}
		if moved == id {
			break
		}
		id = moved
	}
	return asked, held, nil
}

// addAnswer adds the first reply that hands nothing over.
func (a *Actor) addAnswer(ctx context.Context, p *Progress, mine bool) error {
	for _, reply := range p.Ticket.Replies {
		if reply.MovedTo != "" {
			continue
		}
		entry, err := a.hub.store.Message(ctx, a.space, reply.ID)
		switch {
		case err != nil:
			return err
		case entry == nil || entry.Corrupt:
			continue
		}
		answer := entry.Message
		answer.BodyGone = entry.BodyGone
		p.Answer = &answer
		if mine && entry.State == c3po.StatePending {
			a.inbox.serve(*entry, time.Now().UTC())
			p.Unacked = true
		}
		return nil
	}
	return nil
}

// QueueMembers are agents of a queue, as many as a look shows.
func (a *Actor) QueueMembers(ctx context.Context, queue c3po.AgentID) ([]c3po.AgentID, error) {
	return a.hub.store.Members(ctx, a.space, queue, membersLook)
}
