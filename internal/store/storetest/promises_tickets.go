package storetest

import (
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (w *testStore) cancel(from c3po.AgentID, id c3po.MessageID) store.Cancelled {
	w.Helper()
	done, err := w.store.Cancel(w.ctx, w.space, store.CancelStep{From: from, ID: id, Notice: "it is cancelled", Durability: c3po.OnDisk})
	w.must(err)
	return done
}

func (w *testStore) tickets(before int64) []c3po.MessageID {
	w.Helper()
	marks, err := w.store.Tickets(w.ctx, w.space, before, 100)
	w.must(err)
	var ids []c3po.MessageID
	for _, mark := range marks {
		ids = append(ids, mark.ID)
	}
	return ids
}

func (w *testStore) openTickets(before int64) []c3po.MessageID {
	w.Helper()
	marks, err := w.store.OpenTickets(w.ctx, w.space, before, 100)
	w.must(err)
	var ids []c3po.MessageID
	for _, mark := range marks {
		ids = append(ids, mark.ID)
	}
	return ids
}

func (w *testStore) lapse(id c3po.MessageID) bool {
	w.Helper()
	lapsed, err := w.store.Lapse(w.ctx, w.space, id)
	w.must(err)
	return lapsed
}

// unanswered says that an agent ends its turn without answering a message, and that its
// sender is to be told.
func (w *testStore) unanswered(agent c3po.AgentID, id c3po.MessageID) bool {
	w.Helper()
	from, _, _ := id.Split()
	said, err := w.store.Silence(w.ctx, w.space, store.SilenceStep{Agent: agent, ID: id, To: from, Notice: "no answer", Durability: c3po.OnDisk})
	w.must(err)
	return said
}

func ticketPromises() []promise {
	return []promise{
		{"who asked hears once that its question is left unanswered, and may still get an answer", nil, func(w *testStore) {
			w.enter(alice, bob)
			pending, acked := w.send(alice, bob, "why?"), w.send(alice, bob, "how?")
			w.ack(bob, acked)
			w.advance(time.Second)
			for _, id := range []c3po.MessageID{pending, acked} {
				same(w, "said", w.unanswered(bob, id), true)
				same(w, "silent", w.entry(id).Facts.Silent, w.now())
			}
			same(w, "inbox", w.inbox(alice), []string{"no answer", "no answer"})
			notice := w.page(alice, store.InboxQuery{}).Entries[0].Message
			same(w, "kind", notice.Kind, c3po.KindNotice)
			same(w, "about", notice.MessageID, pending)
			same(w, "from", notice.FromAgent, c3po.System)
			w.advance(time.Second)
			w.unchanged(func() { same(w, "again", w.unanswered(bob, pending), false) })
			w.reply(bob, pending, "because")
			same(w, "answers", len(w.entry(pending).Facts.Answers), 1)
		}},
		{"nothing is said of a message that needs no answer, or of somebody else's", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			told, answered, cancelled, lost := w.tell(alice, bob, "so"), w.send(alice, bob, "why?"), w.send(alice, bob, "how?"), w.send(alice, bob, "lost")
			w.reply(bob, answered, "because")
			w.cancel(alice, cancelled)
			w.bury(lost)
			w.unchanged(func() {
				for _, id := range []c3po.MessageID{told, answered, cancelled, lost, "box/alice::box/bob::00000000"} {
					same(w, "said of "+string(id), w.unanswered(bob, id), false)
				}
			})
		}},
		{"who asked and is gone is not told, and nothing is recorded until nobody is to be told", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(alice, bob, "why?")
			step := store.SilenceStep{Agent: bob, ID: id, To: "nobody", Notice: "no answer", Durability: c3po.OnDisk}
			w.unchanged(func() {
				_, err := w.store.Silence(w.ctx, w.space, step)
				w.refused(err, c3po.AgentNotFound)
			})
			step.To = ""
			said, err := w.store.Silence(w.ctx, w.space, step)
			w.must(err)
			same(w, "said", said, true)
			same(w, "inbox", w.inbox(alice), nil)
		}},
		{"a cancelled message leaves the inbox and keeps its record", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(alice, bob, "why?")
			w.advance(time.Second)
			before := w.books().Seq
			same(w, "outcome", w.cancel(alice, id), store.Cancelled{Outcome: c3po.CancelDone})
			same(w, "inbox", w.inbox(bob), nil)
			entry := w.entry(id)
			same(w, "state", entry.State, c3po.StateCancelled)
			same(w, "times", []time.Time{entry.Facts.Ended, entry.Facts.Cancelled}, []time.Time{w.now(), w.now()})
			same(w, "events", w.events(before), []c3po.Event{{Seq: before + 1, Kind: c3po.EventCancelled, Agent: alice, ID: id, At: w.now()}})
			same(w, "cancelled", w.books().Cancelled, int64(1))
			w.unchanged(func() { same(w, "again", w.cancel(alice, id).Outcome, c3po.CancelAlready) })
		}},
		{"who has read a message is told that it was cancelled, without its text", nil, func(w *testStore) {
			w.enter(alice, bob)
			served, acked := w.send(alice, bob, "why?"), w.send(alice, bob, "how?")
			w.serve("s1", served)
			w.ack(bob, acked)
			for _, id := range []c3po.MessageID{served, acked} {
				same(w, "outcome", w.cancel(alice, id), store.Cancelled{Outcome: c3po.CancelDone, Told: true})
			}
			same(w, "inbox", w.inbox(bob), []string{"it is cancelled", "it is cancelled"})
			notice := w.page(bob, store.InboxQuery{}).Entries[0].Message
			same(w, "kind", notice.Kind, c3po.KindCancelled)
			same(w, "about", notice.MessageID, served)
			same(w, "from", notice.FromAgent, c3po.System)
			same(w, "the acked one", w.entry(acked).State, c3po.StateAcked)
			same(w, "books", w.books().Cancelled, int64(1))
		}},
		{"only its sender cancels a message, and only while it is not answered", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			asked, told, lost := w.send(alice, bob, "why?"), w.tell(alice, bob, "so"), w.send(alice, bob, "lost")
			w.reply(bob, asked, "because")
			w.ack(bob, told)
			w.bury(lost)
			w.unchanged(func() {
				same(w, "another's", w.cancel(carol, asked).Outcome, c3po.CancelNotYours)
				same(w, "answered", w.cancel(alice, asked).Outcome, c3po.CancelAnswered)
				same(w, "acked", w.cancel(alice, told).Outcome, c3po.CancelEnded)
				same(w, "dead", w.cancel(alice, lost).Outcome, c3po.CancelEnded)
				same(w, "unknown", w.cancel(alice, "alice::box/bob::00000000").Outcome, c3po.CancelUnknown)
			})
		}},
		{"a run that was taken over cancels nothing", nil, func(w *testStore) {
			w.enter(bob)
			w.register(alice, "r1")
			id := w.send(alice, bob, "why?")
			w.unchanged(func() {
				_, err := w.store.Cancel(w.ctx, w.space, store.CancelStep{From: alice, Run: "r2", ID: id})
				w.refused(err, c3po.Superseded)
			})
		}},
		{"a cancelled message takes no answer", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(alice, bob, "why?")
			w.cancel(alice, id)
			w.unchanged(func() {
				_, err := w.store.Reply(w.ctx, w.space, answer(bob, id, "because"))
				w.refused(err, c3po.InvalidRequest)
			})
		}},
		{"tickets are listed the newest first, until they are forgotten", nil, func(w *testStore) {
			w.enter(alice, bob)
			first := w.send(alice, bob, "1")
			w.tell(alice, bob, "no ticket")
			second := w.send(bob, alice, "2")
			w.reply(bob, first, "one")
			same(w, "all", w.tickets(0), []c3po.MessageID{second, first})
			same(w, "before the second", w.tickets(w.entry(second).Message.Seq), []c3po.MessageID{first})
			w.live(w.limits.EndedLife)
			w.trim(100)
			same(w, "after its life", w.tickets(0), []c3po.MessageID{second})
		}},
		{"a ticket is open until it is answered, cancelled or buried, or its deadline lapses", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			deadline := letter(alice, bob, "soon?")
			deadline.Within = time.Minute
			late := w.sendStep(deadline).Message.ID
			read, answered, cancelled, lost := w.send(alice, bob, "1"), w.send(alice, bob, "2"), w.send(alice, bob, "3"), w.send(alice, bob, "4")
			w.tell(alice, bob, "no ticket")
			same(w, "all", w.openTickets(0), []c3po.MessageID{lost, cancelled, answered, read, late})
			w.ack(bob, read)
			w.reply(bob, answered, "two")
			w.cancel(alice, cancelled)
			w.bury(lost)
			same(w, "left", w.openTickets(0), []c3po.MessageID{read, late})
			same(w, "before the later", w.openTickets(w.entry(read).Message.Seq), []c3po.MessageID{late})
			w.advance(time.Minute)
			w.lapse(late)
			same(w, "after the deadline", w.openTickets(0), []c3po.MessageID{read})
			same(w, "all are listed", w.tickets(0), []c3po.MessageID{lost, cancelled, answered, read, late})
			same(w, "before one that has ended", w.tickets(w.entry(answered).Message.Seq), []c3po.MessageID{read, late})
			same(w, "revived", w.revive(lost, ""), store.ReviveDone)
			same(w, "open again", w.openTickets(0), []c3po.MessageID{lost, read})
			w.rename(bob, "box/bobby")
			w.reply("box/bobby", w.entry(read).Message.ID, "one")
			same(w, "answered under another name", w.openTickets(0), []c3po.MessageID{w.entry(lost).Message.ID})
			w.live(w.limits.EndedLife)
			w.trim(100)
			same(w, "what ended is forgotten", w.tickets(0), []c3po.MessageID{w.entry(lost).Message.ID, w.entry(late).Message.ID})
		}},
		{"a ticket that is handed over is open, and so is what it is handed over as", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			ticket := w.send(alice, bob, "why?")
			over := answer(bob, ticket, "ask carol")
			over.Status, over.HandedTo = c3po.ReplyHandedOver, carol
			stored, err := w.store.Reply(w.ctx, w.space, over)
			w.must(err)
			same(w, "both", w.openTickets(0), []c3po.MessageID{stored.MovedTo, ticket})
			w.reply(carol, stored.MovedTo, "clouds")
			same(w, "the first", w.openTickets(0), []c3po.MessageID{ticket})
		}},
		{"a person's deadline is a reminder, and the ticket stays open", nil, func(w *testStore) {
			w.enter(alice)
			ask := letter(alice, c3po.Human, "which?")
			ask.Within, ask.Mailbox = time.Minute, true
			id := w.sendStep(ask).Message.ID
			w.advance(time.Minute)
			same(w, "lapsed", w.lapse(id), true)
			same(w, "open", w.openTickets(0), []c3po.MessageID{id})
		}},
		{"a deadline passes once, and only unanswered", nil, func(w *testStore) {
			w.enter(alice, bob)
			step := letter(alice, bob, "why?")
			step.Within = 30 * time.Second
			open := w.sendStep(step).Message.ID
			step.Text = "how?"
			answered := w.sendStep(step).Message.ID
			w.reply(bob, answered, "so")
			same(w, "deadline", w.entry(open).Facts.Deadline, w.now().Add(30*time.Second))
			same(w, "too soon", w.lapse(open), false)
			w.advance(30 * time.Second)
			before := w.books().Seq
			due, err := w.store.Overdue(w.ctx, w.space, 10)
			w.must(err)
			same(w, "overdue", len(due), 2)
			same(w, "the answered one", w.lapse(answered), false)
			same(w, "the open one", w.lapse(open), true)
			same(w, "again", w.lapse(open), false)
			same(w, "events", w.events(before), []c3po.Event{{Seq: before + 1, Kind: c3po.EventTimedOut, Agent: alice, ID: open, At: w.now()}})
			due, err = w.store.Overdue(w.ctx, w.space, 10)
			w.must(err)
			same(w, "overdue after", len(due), 0)
			w.reply(bob, open, "late, but an answer")
		}},
		{"the first reader of a ticket is an event, others and what expects no answer are not", nil, func(w *testStore) {
			w.enter(alice, bob)
			ticket, other := w.send(alice, bob, "why?"), w.tell(alice, bob, "so")
			before := w.books().Seq
			w.serve("s1", other)
			w.serve("s1", ticket)
			w.serve("s2", ticket)
			w.received(bob, "s1", ticket)
			same(w, "events", w.events(before), []c3po.Event{{Seq: before + 1, Kind: c3po.EventDelivered, ID: ticket, At: w.now()}})
		}},
		{"a message is found by the key it was sent with", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.sendStep(keyed(letter(alice, bob, "why?"), "ticket-1")).Message.ID
			find := func(from c3po.AgentID, key string) c3po.MessageID {
				found, err := w.store.Keyed(w.ctx, w.space, from, key)
				w.must(err)
				return found
			}
			same(w, "hers", find(alice, "ticket-1"), id)
			same(w, "another's", find(bob, "ticket-1"), "")
			same(w, "another key", find(alice, "ticket-2"), "")
			w.live(w.limits.KeyLife)
			same(w, "after its life", find(alice, "ticket-1"), "")
		}},
		{"a ticket that is handed over goes on in the next inbox, as it was", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			ask := urgent(letter(alice, bob, "why?"))
			ask.Context, ask.Metadata = "it rains", []byte(`{"n":[]}`)
			ticket := w.sendStep(ask).Message
			over := answer(bob, ticket.ID, "ask carol")
			over.Status, over.HandedTo = c3po.ReplyHandedOver, carol
			before := w.books().Seq
			stored, err := w.store.Reply(w.ctx, w.space, over)
			w.must(err)
			same(w, "events", kinds(w.events(before)), []c3po.EventKind{c3po.EventAnswered, c3po.EventAccepted, c3po.EventAcked})
			want := ticket
			want.ID, want.ToAgent, want.HandedFrom, want.Ticket = stored.MovedTo, carol, bob, ticket.ID
			want.Seq, want.Timestamp = before+2, w.now()
			same(w, "in the next inbox", w.page(carol, store.InboxQuery{}).Entries[0].Message, want)
			same(w, "the first answer", w.entry(ticket.ID).Facts.Answers, []c3po.Answered{{ID: stored.Message.ID, At: w.now(), MovedTo: stored.MovedTo}})

			reply := w.reply(carol, stored.MovedTo, "clouds")
			same(w, "answers the first", w.entry(reply).Message.MessageID, ticket.ID)
			same(w, "to who asked", w.inbox(alice), []string{"ask carol", "clouds"})
		}},
		{"a ticket is handed over once, to somebody who is there and has room", func(l *c3po.Limits) { l.InboxMessages = 4 }, func(w *testStore) {
			w.enter(alice, bob, carol)
			ticket := w.send(alice, bob, "why?")
			over := answer(bob, ticket, "not me")
			over.Status, over.HandedTo = c3po.ReplyHandedOver, "nobody"
			w.unchanged(func() {
				_, err := w.store.Reply(w.ctx, w.space, over)
				w.refused(err, c3po.AgentNotFound)
			})
			over.HandedTo = carol
			var filler []c3po.MessageID
			for _, text := range []string{"1", "2"} {
				filler = append(filler, w.tell(alice, carol, text), w.tell(bob, carol, text))
			}
			w.unchanged(func() {
				_, err := w.store.Reply(w.ctx, w.space, over)
				w.refused(err, c3po.InboxFull)
			})
			w.ack(carol, filler...)
			_, err := w.store.Reply(w.ctx, w.space, over)
			w.must(err)
			over.Text = "not me, I said"
			w.unchanged(func() {
				_, err := w.store.Reply(w.ctx, w.space, over)
				w.refused(err, c3po.InvalidRequest)
			})
		}},
		{"a mention that is handed over still names its room", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.joinRoom(lobby, alice, bob)
			post := saying(alice, lobby, "@bob why?")
			post.Mentions = []c3po.AgentID{bob}
			_, err := w.store.Post(w.ctx, w.space, post)
			w.must(err)
			over := answer(bob, w.page(bob, store.InboxQuery{}).Entries[0].Message.ID, "ask carol")
			over.Status, over.HandedTo = c3po.ReplyHandedOver, carol
			stored, err := w.store.Reply(w.ctx, w.space, over)
			w.must(err)
			same(w, "room", w.entry(stored.MovedTo).Message.Room, lobby)
		}},
		{"a ticket that was handed over is cancelled where it is", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			ticket := w.send(alice, bob, "why?")
			over := answer(bob, ticket, "not me")
			over.Status, over.HandedTo = c3po.ReplyHandedOver, carol
			stored, err := w.store.Reply(w.ctx, w.space, over)
			w.must(err)
			w.unchanged(func() { same(w, "outcome", w.cancel(alice, ticket), store.Cancelled{MovedTo: stored.MovedTo}) })
			same(w, "there", w.cancel(alice, stored.MovedTo).Outcome, c3po.CancelDone)
			same(w, "inbox", w.inbox(carol), nil)
		}},
	}
}
