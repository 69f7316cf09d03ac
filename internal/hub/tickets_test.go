package hub_test

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

func TestTheStateOfATicketFollowsFromItsFacts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		sent := must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "why?", DeadlineMS: 10_000, ClientKey: "ticket-1"}))(t)
		state := func() c3po.Ticket { return must(h.as("alice").Ticket(t.Context(), sent.ID))(t) }
		same(t, "at first", state().State, c3po.TicketPending)
		same(t, "by its name", must(h.as("alice").Tickets(t.Context(), c3po.TicketsInput{ClientKey: "ticket-1"}))(t).Tickets[0].ID, sent.ID)
		pass(2 * time.Second)
		h.inbox("bob")
		pass(2 * time.Second)
		same(t, "read", state().State, c3po.TicketDelivered)
		pass(7 * time.Second)
		same(t, "late", state().State, c3po.TicketTimedOut)
		same(t, "since", state().TimedOutAt, sent.Timestamp.Add(10*time.Second))
		h.reply("bob", sent.ID, "because")
		h.reply("bob", sent.ID, "and because")
		after := state()
		same(t, "answered after all", after.State, c3po.TicketResponded)
		same(t, "replies", len(after.Replies), 2)
		same(t, "delivered", after.DeliveredAt, sent.Timestamp.Add(2*time.Second))

		var kinds []c3po.EventKind
		for _, event := range must(h.model.Events(t.Context(), "main", sent.Seq-1, 100))(t) {
			if event.ID == sent.ID {
				kinds = append(kinds, event.Kind)
			}
		}
		same(t, "events", kinds, []c3po.EventKind{c3po.EventAccepted, c3po.EventDelivered, c3po.EventTimedOut, c3po.EventAcked})
	})
}

func TestARenamedAgentHasTheTicketsItAsked(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("alice", "bob", "carol")
	key := c3po.SendInput{Target: "bob", Message: "1", ClientKey: "ticket-1"}
	first, second := must(h.as("alice").SendMessage(t.Context(), key))(t).ID, h.send("alice", "bob", "2").ID
	must(h.as("alice").Rename(t.Context(), c3po.RenameInput{NewID: "anna"}))(t)
	third := h.send("anna", "bob", "3").ID
	asked := func(in c3po.TicketsInput) []c3po.MessageID {
		t.Helper()
		var ids []c3po.MessageID
		for _, ticket := range must(h.as("anna").Tickets(t.Context(), in))(t).Tickets {
			ids = append(ids, ticket.ID)
		}
		return ids
	}
	same(t, "hers", asked(c3po.TicketsInput{}), []c3po.MessageID{third, second, first})
	same(t, "asked", asked(c3po.TicketsInput{Which: c3po.TicketsAsked}), []c3po.MessageID{third, second, first})
	same(t, "received", len(asked(c3po.TicketsInput{Which: c3po.TicketsReceived})), 0)
	same(t, "one", asked(c3po.TicketsInput{MessageID: first}), []c3po.MessageID{first})
	same(t, "by its key", asked(c3po.TicketsInput{ClientKey: "ticket-1"}), []c3po.MessageID{first})
	same(t, "sent again", must(h.as("anna").SendMessage(t.Context(), key))(t).ID, first)
	_, err := h.as("carol").Ticket(t.Context(), first)
	refused(t, err, c3po.InvalidRequest, "there is no message")

	must(h.as("bob").Rename(t.Context(), c3po.RenameInput{NewID: "robert"}))(t)
	moved := asked(c3po.TicketsInput{})[2]
	same(t, "its first id", asked(c3po.TicketsInput{MessageID: first}), []c3po.MessageID{moved})
	same(t, "by its key, with its first id", asked(c3po.TicketsInput{ClientKey: "ticket-1", MessageID: first}), []c3po.MessageID{moved})
	same(t, "by its key, with the id of today", asked(c3po.TicketsInput{ClientKey: "ticket-1", MessageID: moved}), []c3po.MessageID{moved})
	same(t, "of another", must(h.as("carol").Cancel(t.Context(), c3po.MessageInput{MessageID: second}))(t).Outcome, c3po.CancelNotYours)
	same(t, "cancelled", must(h.as("anna").Cancel(t.Context(), c3po.MessageInput{MessageID: second}))(t).Outcome, c3po.CancelDone)
	key.Target = "robert"
	same(t, "sent again to its new name", must(h.as("anna").SendMessage(t.Context(), key))(t).ID, moved)
}

func TestTheTicketsOfWhoeverHasTheNameNowAreItsOwn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice", "bob")
		must(h.as("alice").Rename(t.Context(), c3po.RenameInput{NewID: "anna"}))(t)
		pass(25 * time.Hour)
		h.enter("alice", "anna", "bob")
		h.send("alice", "bob", "hers alone")
		same(t, "tickets", must(h.as("anna").Tickets(t.Context(), c3po.TicketsInput{}))(t).Tickets, []c3po.Ticket{})
	})
}

func TestADeadlineOfADeadCoordinatorIsSaidByAnother(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		other := h.neighbour()
		sent := must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "why?", DeadlineMS: 10_000}))(t)
		h.stop()
		pass(2 * time.Minute)
		_ = other
		events := must(h.model.Events(t.Context(), "main", sent.Seq, 100))(t)
		if len(events) != 1 || events[0].Kind != c3po.EventTimedOut || events[0].Agent != "alice" {
			t.Errorf("events = %+v", events)
		}
	})
}

func TestTicketsAreListedForWhoHasAPartInThem(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("alice", "bob", "carol")
	first, second := h.send("alice", "bob", "1").ID, h.send("bob", "alice", "2").ID
	third := h.send("bob", "carol", "3").ID
	h.reply("bob", first, "one")
	list := func(a actor, in c3po.TicketsInput) []c3po.MessageID {
		t.Helper()
		ids := []c3po.MessageID{}
		for {
			page := must(a.Tickets(t.Context(), in))(t)
			for _, ticket := range page.Tickets {
				ids = append(ids, ticket.ID)
			}
			if in.Cursor = page.Next; in.Cursor == "" {
				return ids
			}
		}
	}
	same(t, "hers", list(h.as("alice"), c3po.TicketsInput{}), []c3po.MessageID{second, first})
	same(t, "in pages", list(h.as("alice"), c3po.TicketsInput{Limit: 1}), []c3po.MessageID{second, first})
	same(t, "asked", list(h.as("alice"), c3po.TicketsInput{Which: c3po.TicketsAsked}), []c3po.MessageID{first})
	same(t, "received and open", list(h.as("bob"), c3po.TicketsInput{Which: c3po.TicketsReceived, State: c3po.TicketsOpen}), []c3po.MessageID{})
	same(t, "closed", list(h.as("bob"), c3po.TicketsInput{State: c3po.TicketsClosed}), []c3po.MessageID{first})
	same(t, "a person's", list(h.asPerson(), c3po.TicketsInput{Which: c3po.TicketsAll}), []c3po.MessageID{third, second, first})
	_, err := h.as("alice").Tickets(t.Context(), c3po.TicketsInput{Which: c3po.TicketsAll})
	refused(t, err, c3po.Forbidden)
	_, err = h.as("alice").Ticket(t.Context(), third)
	refused(t, err, c3po.InvalidRequest, "there is no message")
}

func TestHowLongATicketIsKeptAfterItsEndIsASetting(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { l.TicketLife = 5 * time.Minute })
		h.enter("bob")
		broker := dialect.Broker{Service: h.as("alice")}
		must(broker.Send(t.Context(), "bob", dialect.Send{TicketID: "t1", Payload: dialect.Payload{Text: "a joke?"}}))(t)
		must(dialect.Broker{Service: h.as("bob")}.Reply(t.Context(), dialect.Reply{TicketID: "t1", Payload: dialect.Payload{Text: "knock knock"}}))(t)
		pass(4 * time.Minute)
		same(t, "within its life", must(broker.Await(t.Context(), "t1", 0))(t).Status, "responded")
		pass(time.Minute)
		_, err := broker.Await(t.Context(), "t1", 0)
		same(t, "after it", c3po.AsError(err).Code, c3po.TicketNotFound)
	})
}
