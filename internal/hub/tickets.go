package hub

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// ticketScan is how many tickets of the space one step of a list looks at.
	ticketScan = 500
	// ticketMoves bounds how often one ticket is followed from hand to hand.
	ticketMoves = 16
)

// Cancel withdraws a message of the caller's, wherever it has been handed to.
func (a *Actor) Cancel(ctx context.Context, in c3po.MessageInput) (c3po.CancelResult, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.CancelResult{}, err
	}
	if err := checkID(in.MessageID); err != nil {
		return c3po.CancelResult{}, err
	}
	durability, err := a.hub.store.Durability(ctx)
	if err != nil {
		return c3po.CancelResult{}, err
	}
	step := store.CancelStep{From: a.id, Run: a.caller.Run, ID: in.MessageID, Durability: durability}
	var message c3po.Message
	if entry, err := a.hub.store.Message(ctx, a.space, in.MessageID); err == nil && entry != nil {
		message = entry.Message
		step.ID = message.ID // its recipient may have been renamed
		if entry.Facts.Claim != nil {
			step.Holder = entry.Facts.Claim.By
		}
	}
	if from, _, _ := step.ID.Split(); from != a.id {
		former, err := a.formerAlone(ctx)
		if err != nil {
			return c3po.CancelResult{}, err
		}
		if slices.Contains(former, from) {
			step.Former = from
		}
	}
	var done store.Cancelled
	for range ticketMoves {
		step.Notice = fmt.Sprintf("'%s' has cancelled its message %s: no answer is needed any more.", a.id, step.ID)
		if done, err = a.hub.store.Cancel(ctx, a.space, step); err != nil {
			return c3po.CancelResult{}, a.dropIfSuperseded(err)
		}
		if done.Held {
			step.Holder = done.HeldBy
			continue
		}
		if done.MovedTo == "" {
			break
		}
		step.ID, step.Holder = done.MovedTo, ""
	}
	if done.Outcome == c3po.CancelDone {
		a.hub.marks.Touch(a.space, 0)
		a.tell(ctx, c3po.EventCancelled, a.id, step.ID)
		a.dropFilesOf(ctx, message)
	} else {
		a.decided = "changed nothing, " + unchangedBecause[done.Outcome]
	}
	return c3po.CancelResult{
		MessageID: in.MessageID, Outcome: done.Outcome, Told: done.Told, Message: cancelWords(step, done),
	}, nil
}

// unchangedBecause is why a cancel did nothing, for the audit.
var unchangedBecause = map[c3po.CancelOutcome]string{
	c3po.CancelAlready: "it was cancelled before", c3po.CancelAnswered: "it was answered", c3po.CancelEnded: "it had ended",
	c3po.CancelNotYours: "somebody else sent it", c3po.CancelUnknown: "there is no such message",
}

// cancelWords say what a cancel was worth.
func cancelWords(step store.CancelStep, done store.Cancelled) string {
	_, to, _ := step.ID.Split()
	if step.Holder != "" {
		to = step.Holder
	}
	switch done.Outcome {
	case c3po.CancelDone:
		if done.Told {
			return fmt.Sprintf("Cancelled. '%s' had read it and gets a notice.", to)
		}
		return fmt.Sprintf("Cancelled. '%s' is not known to have read it, and will not.", to)
	case c3po.CancelAlready:
		return "It was cancelled before."
	case c3po.CancelAnswered:
		return "The answer is there already; wait_for_message with this message_id shows it."
	case c3po.CancelEnded:
		return "It has ended already; trace shows how."
	case c3po.CancelNotYours:
		return "Only who sent a message can cancel it."
	default:
		return "There is no such message, or no longer."
	}
}

// Tickets lists questions and how far they have come, the newest first.
func (a *Actor) Tickets(ctx context.Context, in c3po.TicketsInput) (c3po.TicketList, error) {
	if err := a.enterForThread(ctx); err != nil {
		return c3po.TicketList{}, err
	}
	wanted, err := parseTicketFilter(&a.identity, in)
	if err != nil {
		return c3po.TicketList{}, err
	}
	if wanted.former, err = a.formerAlone(ctx); err != nil {
		return c3po.TicketList{}, err
	}
	limit, err := a.hub.pageLimit(in.Limit)
	if err != nil {
		return c3po.TicketList{}, err
	}
	before, err := parseCursor(ticketCursor, in.Cursor)
	if err != nil {
		return c3po.TicketList{}, err
	}
	if in.MessageID != "" || in.ClientKey != "" {
		return wanted.one(ctx, &a.identity, in)
	}
	list := c3po.TicketList{Tickets: []c3po.Ticket{}}
	read := a.hub.store.Tickets
	if in.State == c3po.TicketsOpen {
		read = a.hub.store.OpenTickets
	}
	for scanned := 0; scanned < maxScanned; scanned += ticketScan {
		marks, err := read(ctx, a.space, before, ticketScan)
		if err != nil || len(marks) == 0 {
			return list, err
		}
		found, err := a.ticketsOf(ctx, marks, wanted)
		if err != nil {
			return c3po.TicketList{}, err
		}
		for _, ticket := range found {
			if len(list.Tickets) == limit {
				list.Next = formatCursor(ticketCursor, list.Tickets[limit-1].Seq)
				return list, nil
			}
			list.Tickets = append(list.Tickets, ticket)
		}
		if len(marks) < ticketScan {
			return list, nil
		}
		before = marks[len(marks)-1].Seq
	}
	list.Next = formatCursor(ticketCursor, before)
	return list, nil
}

// A ticketFilter says which tickets a caller asked for, and may see.
type ticketFilter struct {
	id              c3po.AgentID
	former          []c3po.AgentID // a ticket keeps the name that its asker had
	asked, received bool
	all             bool
	state           string
}

func parseTicketFilter(me *identity, in c3po.TicketsInput) (ticketFilter, error) {
	f := ticketFilter{id: me.id, state: in.State}
	switch in.State {
	case "", c3po.TicketsOpen, c3po.TicketsClosed:
	default:
		return f, refuse("state is %q; it must be open, closed or left out", in.State)
	}
	switch in.Which {
	case "":
		f.asked, f.received, f.all = true, true, me.id == ""
	case c3po.TicketsAsked:
		f.asked = true
	case c3po.TicketsReceived:
		f.received = true
	case c3po.TicketsAll:
		f.all = true
	default:
		return f, refuse("which is %q; it must be asked, received, all or left out", in.Which)
	}
	if f.all && !me.caller.SeesAll() {
		return f, c3po.Errorf(c3po.Forbidden, "the tickets of others are not for the role %s", me.caller.Role).
			Suggest("Leave which out for those you asked or received.")
	}
	return f, nil
}

// concerns says whether a ticket is one of those, by its id alone.
func (f ticketFilter) concerns(id c3po.MessageID) bool {
	from, to, _ := id.Split()
	return f.all || f.asked && (from == f.id || slices.Contains(f.former, from)) || f.received && to == f.id
}

// holds says whether its state is one of those asked for.
func (f ticketFilter) holds(t c3po.Ticket) bool {
	return f.state == "" || t.State.Open() == (f.state == c3po.TicketsOpen)
}

func (s spaceHub) ticketsOf(ctx context.Context, marks []store.TicketMark, wanted ticketFilter) ([]c3po.Ticket, error) {
	var ids []c3po.MessageID
	for _, mark := range marks {
		if wanted.concerns(mark.ID) {
			ids = append(ids, mark.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	now, err := s.hub.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := s.hub.store.Messages(ctx, s.space, ids)
	if err != nil {
		return nil, err
	}
	var found []c3po.Ticket
	for _, entry := range entries {
		ticket, err := s.ticket(ctx, entry, now)
		if err != nil {
			return nil, err
		}
		if wanted.holds(ticket) {
			found = append(found, ticket)
		}
	}
	return found, nil
}

// one finds a ticket by its id or by the name its sender gave it. Somebody else's
// ticket does not exist for the caller.
func (f ticketFilter) one(ctx context.Context, me *identity, in c3po.TicketsInput) (c3po.TicketList, error) {
	// Its recipient may have been renamed since.
	today := func(id c3po.MessageID) (c3po.MessageID, error) {
		entry, err := me.hub.store.Message(ctx, me.space, id)
		if err != nil || entry == nil {
			return id, err
		}
		return entry.Message.ID, nil
	}
	id := in.MessageID
	if id != "" {
		if err := checkID(id); err != nil {
			return c3po.TicketList{}, err
		}
		var err error
		if id, err = today(id); err != nil {
			return c3po.TicketList{}, err
		}
	}
	if in.ClientKey != "" {
		keyed, err := me.hub.store.Keyed(ctx, me.space, me.id, in.ClientKey)
		if err == nil && keyed != "" {
			keyed, err = today(keyed)
		}
		if err != nil {
			return c3po.TicketList{}, err
		}
		if keyed == "" || id != "" && keyed != id {
			return c3po.TicketList{}, c3po.Errorf(c3po.InvalidRequest, "you sent no message with client_key '%s'", in.ClientKey).
				Suggest("Use the key of the send, or the message_id of its receipt.")
		}
		id = keyed
	}
	f.all = f.all || me.caller.SeesAll()
	if !f.concerns(id) {
		return c3po.TicketList{}, store.RefuseNoMessage(cmp.Or(in.MessageID, id))
	}
	found, err := me.ticketsOf(ctx, []store.TicketMark{{ID: id}}, f)
	if err != nil {
		return c3po.TicketList{}, err
	}
	if len(found) == 0 {
		return c3po.TicketList{}, store.RefuseNoMessage(id)
	}
	return c3po.TicketList{Tickets: found}, nil
}

// Ticket shows one ticket, whose id is known to be the caller's business.
func (a *Actor) Ticket(ctx context.Context, id c3po.MessageID) (c3po.Ticket, error) {
	list, err := a.Tickets(ctx, c3po.TicketsInput{MessageID: id})
	if err != nil {
		return c3po.Ticket{}, err
	}
	return list.Tickets[0], nil
}

// Keyed finds what an agent of the caller's space sent under a client key; empty
// if there is nothing.
func (a *Actor) Keyed(ctx context.Context, from c3po.AgentID, key string) (c3po.MessageID, error) {
	return a.hub.store.Keyed(ctx, a.space, from, key)
}

// TicketFor finds a ticket by the name its sender gave it, for a caller that does not say
// who it is: a ticket to an agent that the caller may be. It prefers an open ticket, else
// takes the last.
func (a *Actor) TicketFor(ctx context.Context, name string) (c3po.MessageID, error) {
	return a.ticketOf(ctx, name, func(m c3po.Message) c3po.AgentID { return m.ToAgent })
}

// TicketFrom is TicketFor for a caller that waits for the answer: of the tickets whose sender
// it may be.
func (a *Actor) TicketFrom(ctx context.Context, name string) (c3po.MessageID, error) {
	return a.ticketOf(ctx, name, func(m c3po.Message) c3po.AgentID { return m.FromAgent })
}

func (a *Actor) ticketOf(ctx context.Context, name string, whose func(c3po.Message) c3po.AgentID) (c3po.MessageID, error) {
	var open []string
	var last c3po.MessageID
	for after := int64(0); ; {
		entries, err := a.hub.store.Thread(ctx, a.space, name, after, a.hub.limits.PageItems)
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			after = entry.Message.Seq
			if id := whose(entry.Message); entry.Message.Kind == c3po.KindReply || id.Reserved() || !a.caller.MayBe(id) {
				continue
			}
			last = entry.Message.ID
			if entry.Facts.Cancelled.IsZero() && len(entry.Facts.Answers) == 0 {
				open = append(open, string(last))
			}
		}
		if len(entries) == 0 {
			break
		}
	}
	switch {
	case len(open) > 1:
		return "", c3po.RefuseTicketName(name, open)
	case len(open) == 1:
		return c3po.MessageID(open[0]), nil
	case last == "":
		return "", c3po.RefuseNoTicket(name)
	}
	return last, nil
}
