package storetest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// resolved says that a ticket has an answer; one that hands it over is none.
func (msg *message) resolved() bool {
	return slices.ContainsFunc(msg.facts.Answers, func(a c3po.Answered) bool { return a.MovedTo == "" })
}

// isRead says that somebody is known to have had the text.
func (msg *message) isRead() bool {
	return len(msg.facts.Served) > 0 || msg.facts.Received != nil || msg.state == c3po.StateAcked
}

// firstReader is called before somebody is noted as having a message.
func (sp *space) firstReader(msg *message, now time.Time) {
	if msg.view.ExpectsReply && msg.state == c3po.StatePending && !msg.isRead() && !msg.resolved() {
		sp.event(c3po.EventDelivered, "", msg.view.ID, now)
	}
}

// Cancel implements store.Store.
func (m *Model) Cancel(_ context.Context, name c3po.Space, step store.CancelStep) (store.Cancelled, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	if sp.superseded(step.From, step.Run) {
		return store.Cancelled{}, store.RefuseSuperseded(step.From)
	}
	msg := sp.messages[step.ID]
	from, _, _ := step.ID.Split()
	switch {
	case from != cmp.Or(step.Former, step.From) && sp.lookup(step.ID) != nil:
		return store.Cancelled{Outcome: c3po.CancelNotYours}, nil
	case msg == nil:
		return store.Cancelled{Outcome: c3po.CancelUnknown}, nil
	case !msg.facts.Cancelled.IsZero():
		return store.Cancelled{Outcome: c3po.CancelAlready}, nil
	case msg.resolved():
		return store.Cancelled{Outcome: c3po.CancelAnswered}, nil
	case len(msg.facts.Answers) > 0:
		return store.Cancelled{MovedTo: msg.facts.Answers[0].MovedTo}, nil
	case msg.state == c3po.StateDead || msg.state == c3po.StateAcked && !msg.view.ExpectsReply:
		return store.Cancelled{Outcome: c3po.CancelEnded}, nil
	}
	told, reader := msg.isRead(), msg.view.ToAgent
	if reader.Queue() != "" {
		reader = ""
		if msg.facts.Claim != nil {
			reader = msg.facts.Claim.By
		}
		if reader != step.Holder {
			return store.Cancelled{Held: true, HeldBy: reader}, nil
		}
		told = sp.agents[reader] != nil
	}
	msg.facts.Cancelled = now
	if msg.state == c3po.StatePending {
		sp.books.Cancelled++
		sp.endKept(msg, c3po.StateCancelled, c3po.EventCancelled, step.From, now)
	} else {
		sp.event(c3po.EventCancelled, step.From, step.ID, now)
	}
	if told {
		notice := sp.accept(store.Draft{
			From: c3po.System, To: reader, Kind: c3po.KindCancelled, Thread: msg.view.Thread,
			Priority: c3po.Normal, Text: step.Notice,
		}, c3po.EventAccepted, step.ID, step.Durability, now)
		notice.facts.Expires = sp.books.Lived + seconds(sp.limits.MessageLife)
	}
	if msg.view.Kind == c3po.KindEscalation {
		sp.answered(step.From, step.ID, now)
	}
	return store.Cancelled{Outcome: c3po.CancelDone, Told: told}, nil
}

// Silence implements store.Store.
func (m *Model) Silence(_ context.Context, name c3po.Space, step store.SilenceStep) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	if sp.superseded(step.Agent, step.Run) {
		return false, store.RefuseSuperseded(step.Agent)
	}
	msg := sp.messages[step.ID]
	switch {
	case msg == nil || !msg.view.ExpectsReply || !msg.facts.Cancelled.IsZero() || len(msg.facts.Answers) > 0 || !msg.facts.Silent.IsZero():
		return false, nil
	case msg.state != c3po.StatePending && msg.state != c3po.StateAcked:
		return false, nil
	case msg.view.ToAgent.Queue() != "" && (msg.facts.Claim == nil || msg.facts.Claim.By != step.Agent):
		return false, nil
	case step.To != "" && sp.agents[step.To] == nil:
		return false, store.RefuseNoAgent(step.To)
	}
	if step.To != "" {
		notice := sp.accept(store.Draft{
			From: c3po.System, To: step.To, Kind: c3po.KindNotice, Thread: msg.view.Thread, Priority: c3po.Normal, Text: step.Notice,
		}, c3po.EventAccepted, cmp.Or(msg.view.Ticket, msg.view.ID), step.Durability, now)
		notice.facts.Expires = sp.books.Lived + seconds(sp.limits.MessageLife)
	}
	msg.facts.Silent = now
	return true, nil
}

// Lapse implements store.Store.
func (m *Model) Lapse(_ context.Context, name c3po.Space, id c3po.MessageID) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	due, ok := sp.deadlines[id]
	if !ok || due.After(now) {
		return false, nil
	}
	delete(sp.deadlines, id)
	msg := sp.messages[id]
	if msg == nil || !msg.facts.Cancelled.IsZero() || msg.resolved() {
		return false, nil
	}
	sp.event(c3po.EventTimedOut, msg.view.FromAgent, id, now)
	msg.lapsed = msg.view.ToAgent != c3po.Human
	return true, nil
}

// Overdue implements store.Store.
func (m *Model) Overdue(_ context.Context, name c3po.Space, limit int) ([]c3po.MessageID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	var due []c3po.MessageID
	for id, at := range sp.deadlines {
		if !at.After(now) {
			due = append(due, id)
		}
	}
	slices.SortFunc(due, func(a, b c3po.MessageID) int {
		return cmp.Or(sp.deadlines[a].Compare(sp.deadlines[b]), cmp.Compare(a, b))
	})
	return due[:min(len(due), limit)], nil
}

// Tickets implements store.Store.
func (m *Model) Tickets(_ context.Context, name c3po.Space, before int64, limit int) ([]store.TicketMark, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.space(name).tickets(func(*message) bool { return true }, before, limit), nil
}

// OpenTickets implements store.Store.
func (m *Model) OpenTickets(_ context.Context, name c3po.Space, before int64, limit int) ([]store.TicketMark, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.space(name).tickets(func(msg *message) bool {
		return !msg.resolved() && msg.facts.Cancelled.IsZero() && msg.state != c3po.StateDead && !msg.lapsed
	}, before, limit), nil
}

// tickets lists some of those that expect an answer, the latest first.
func (sp *space) tickets(wanted func(*message) bool, before int64, limit int) (marks []store.TicketMark) {
	found := sp.find(func(msg *message) bool {
		return msg.view.ExpectsReply && (before == 0 || msg.view.Seq < before) && wanted(msg)
	}, bySeq)
	slices.Reverse(found)
	for _, msg := range found[:min(len(found), limit)] {
		marks = append(marks, store.TicketMark{ID: msg.view.ID, Seq: msg.view.Seq, Given: msg.listed})
	}
	return marks
}

// Messages implements store.Store.
func (m *Model) Messages(_ context.Context, name c3po.Space, ids []c3po.MessageID) ([]store.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	var entries []store.Entry
	for _, id := range ids {
		if msg := sp.messages[id]; msg != nil {
			entries = append(entries, sp.entry(msg))
		}
	}
	return entries, nil
}

// Keyed implements store.Store.
func (m *Model) Keyed(_ context.Context, name c3po.Space, from c3po.AgentID, key string) (c3po.MessageID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	for _, first := range sp.recalled(keyName{from, "k:" + key}) {
		return first.id, nil
	}
	return "", nil
}

// handOver checks that the question of a reply can be handed over, if it is to
// be, and gives what does so.
func (sp *space) handOver(question *message, step store.ReplyStep) (func(c3po.MessageID, time.Time) c3po.MessageID, error) {
	if step.HandedTo == "" {
		return nil, nil
	}
	if slices.ContainsFunc(question.facts.Answers, func(a c3po.Answered) bool { return a.MovedTo != "" }) {
		return nil, store.RefuseHandedOver(step.Answers)
	}
	if sp.agents[step.HandedTo] == nil {
		return nil, store.RefuseNoAgent(step.HandedTo)
	}
	q := question.view
	draft := store.Draft{
		From: q.FromAgent, To: step.HandedTo, Kind: q.Kind, Thread: q.Thread, Priority: q.Priority, ExpectsReply: q.ExpectsReply,
		Text: q.Text(), Context: q.Context, Status: q.Status, ContentType: q.ContentType, Metadata: q.Metadata, HandedTo: q.HandedTo,
		Room: q.Room, GoesBackTo: question.leads(), Proof: q.Proof, Attachments: q.Attachments,
	}
	if err := sp.roomFor(draft, question.facts.Bytes, false); err != nil {
		return nil, err
	}
	return func(ticket c3po.MessageID, now time.Time) c3po.MessageID {
		moved := sp.acceptFor(draft.To, draft, question.facts.Bytes, c3po.EventAccepted, q.MessageID, step.Durability, now)
		moved.view.Ticket, moved.view.HandedFrom, moved.spoilt = ticket, step.From, question.spoilt
		moved.facts.AskedBy, moved.facts.Chain = question.facts.AskedBy, question.facts.Chain
		moved.facts.Expires = sp.books.Lived + seconds(sp.limits.MessageLife)
		sp.attach(moved)
		return moved.view.ID
	}, nil
}
