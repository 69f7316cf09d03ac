package hub

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// ticket derives a question's progress from its facts and from the facts of the messages
// it was handed over as.
func (s spaceHub) ticket(ctx context.Context, first store.Entry, now time.Time) (c3po.Ticket, error) {
	m := first.Message
	t := c3po.Ticket{
		ID: m.ID, FromAgent: m.FromAgent, Thread: m.Thread, CreatedAt: first.Facts.Accepted,
		Deadline: first.Facts.Deadline, Replies: []c3po.Answered{}, Seq: m.Seq,
	}
	held, holder := &first, m.ToAgent
	for moves := 0; held != nil && moves < ticketMoves; moves++ {
		next := addFacts(&t, *held)
		holder = t.ToAgent
		if held.Facts.Claim != nil {
			holder = held.Facts.Claim.By
		}
		held = nil
		if next == "" {
			break
		}
		var err error
		if held, err = s.hub.store.Message(ctx, s.space, next); err != nil {
			return t, err
		}
	}
	if !t.StalledAt.IsZero() {
		there, err := s.isThere(ctx, holder)
		if err != nil {
			return t, err
		}
		if !there {
			t.StalledAt = time.Time{}
		}
	}
	if !t.Deadline.IsZero() && !now.Before(t.Deadline) && (t.RespondedAt.IsZero() || t.RespondedAt.After(t.Deadline)) {
		t.TimedOutAt = earliest(t.TimedOutAt, t.Deadline)
	}
	t.State = ticketState(t)
	switch t.State {
	case c3po.TicketResponded:
		t.KeptUntil = t.RespondedAt.Add(s.hub.limits.TicketLife)
	case c3po.TicketCancelled:
		t.KeptUntil = t.CancelledAt.Add(s.hub.limits.TicketLife)
	}
	return t, nil
}

// isThere says whether an agent has a session that could go on.
func (s spaceHub) isThere(ctx context.Context, id c3po.AgentID) (bool, error) {
	records, err := s.hub.store.Agents(ctx, s.space, []c3po.AgentID{id})
	return len(records) > 0 && status(records[0]) == c3po.Online, err
}

// addFacts adds what one holder of a ticket did to it. It returns where the
// ticket went from there, if it was handed over.
func addFacts(t *c3po.Ticket, e store.Entry) (next c3po.MessageID) {
	t.ToAgent = e.Message.ToAgent
	t.Replies = append(t.Replies, e.Facts.Answers...)
	for _, answer := range e.Facts.Answers {
		if answer.MovedTo != "" {
			next = answer.MovedTo
			continue
		}
		t.RespondedAt = earliest(t.RespondedAt, answer.At)
	}
	for _, served := range e.Facts.Served {
		t.DeliveredAt = earliest(t.DeliveredAt, served.First)
	}
	if e.Facts.Received != nil {
		t.DeliveredAt = earliest(t.DeliveredAt, e.Facts.Received.First)
	}
	switch {
	case e.State == c3po.StateAcked:
		t.DeliveredAt = earliest(t.DeliveredAt, e.Facts.Ended)
	case e.State == c3po.StateDead && next == "":
		t.TimedOutAt = e.Facts.Ended
	}
	t.CancelledAt, t.SilentAt = e.Facts.Cancelled, e.Facts.Silent
	t.StalledAt = time.Time{}
	if len(e.Facts.Answers) == 0 && e.Facts.Cancelled.IsZero() {
		t.StalledAt = e.Facts.Stalled
	}
	return next
}

// earliest leaves out what has not happened.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// ticketState is the last word on what happened: nothing takes an answer back,
// and an answer outweighs a deadline that had passed.
func ticketState(t c3po.Ticket) c3po.TicketState {
	switch {
	case !t.CancelledAt.IsZero():
		return c3po.TicketCancelled
	case !t.RespondedAt.IsZero():
		return c3po.TicketResponded
	case !t.TimedOutAt.IsZero():
		return c3po.TicketTimedOut
	case !t.DeliveredAt.IsZero():
		return c3po.TicketDelivered
	default:
		return c3po.TicketPending
	}
}
