package storetest

import (
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (w *testStore) retire(id c3po.AgentID, silent time.Duration, empty bool) store.RetireOutcome {
	w.Helper()
	outcome, err := w.store.Retire(w.ctx, w.space, id, silent, empty)
	w.must(err)
	return outcome
}

func (w *testStore) revive(id c3po.MessageID, reason string) store.ReviveOutcome {
	w.Helper()
	outcome, err := w.store.Revive(w.ctx, w.space, id, store.ReviveStep{Reason: reason, Notice: "it is back", Durability: c3po.OnDisk})
	w.must(err)
	return outcome
}

func (w *testStore) owed(id c3po.AgentID) []c3po.MessageID {
	w.Helper()
	owed, err := w.store.Owed(w.ctx, w.space, id, 100)
	w.must(err)
	return owed
}

func (w *testStore) remove(id c3po.MessageID) {
	w.Helper()
	_, err := w.store.Bury(w.ctx, w.space, id, c3po.ReasonRecipientRemoved, "its reader was removed")
	w.must(err)
}

func retirementPromises() []promise {
	return []promise{
		{"who is online is not retired, however long it was silent", nil, func(w *testStore) {
			w.enter(alice)
			w.must(w.store.Attach(w.ctx, w.space, alice, "n1", c3po.SessionIdle))
			for range 3 {
				w.live(time.Hour)
				w.must(w.store.RenewLease(w.ctx, w.space, "n1"))
			}
			silent, err := w.store.Silent(w.ctx, w.space, time.Hour, 10)
			w.must(err)
			same(w, "listed", len(silent), 1)
			same(w, "outcome", w.retire(alice, time.Hour, false), store.RetireKept)
			silent, err = w.store.Silent(w.ctx, w.space, time.Hour, 10)
			w.must(err)
			same(w, "listed again", silent, nil)
		}},
		{"an agent that is retired takes along what it had read and written in rooms", nil, func(w *testStore) {
			w.enter(alice, bob)
			first := w.post(saying(bob, c3po.Everybody, "one"))
			w.say(alice, c3po.Everybody, "two")
			w.notes(store.Notes{ServedPosts: []store.PostServedNote{{ID: first.Message.ID, Seq: first.Message.Seq, Agent: alice, Reader: "s1", At: w.now()}}})
			w.tick(time.Minute)
			w.goOffline()
			w.live(time.Hour)
			same(w, "outcome", w.retire(alice, 0, false), store.RetireDone)
		}},
		{"an agent is retired after its silence in lived time, and not by a clock jump", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.tick(time.Minute)
			w.advance(48 * time.Hour)
			w.tick(time.Minute)
			same(w, "after a jump", w.retire(alice, 24*time.Hour, false), store.RetireKept)
			w.live(24 * time.Hour)
			same(w, "after a day", w.retire(alice, 24*time.Hour, false), store.RetireDone)
			same(w, "again", w.retire(alice, 24*time.Hour, false), store.RetireUnknown)
			page, err := w.store.AgentPage(w.ctx, w.space, 0, 10)
			w.must(err)
			same(w, "listed", len(page), 1)
			same(w, "in the books", w.books().Agents, 1)
			_, err = w.store.Send(w.ctx, w.space, letter(bob, alice, "hi"))
			w.refused(err, c3po.AgentNotFound)
		}},
		{"of an agent whose node died the silence begins when that is noticed", nil, func(w *testStore) {
			w.enter(alice)
			w.must(w.store.Attach(w.ctx, w.space, alice, "n1", c3po.SessionIdle))
			w.live(24 * time.Hour)
			same(w, "its node died", w.retire(alice, 24*time.Hour, false), store.RetireKept)
			w.live(23 * time.Hour)
			same(w, "before its time", w.retire(alice, 24*time.Hour, false), store.RetireKept)
			w.live(time.Hour)
			same(w, "in time", w.retire(alice, 24*time.Hour, false), store.RetireDone)
		}},
		{"a sign of life starts the silence anew", nil, func(w *testStore) {
			w.enter(alice)
			w.live(23 * time.Hour)
			w.must(w.store.WriteNotes(w.ctx, w.space, store.Notes{Seen: []c3po.AgentID{alice}}))
			w.live(23 * time.Hour)
			same(w, "outcome", w.retire(alice, 24*time.Hour, false), store.RetireKept)
		}},
		{"retiring leaves the mail, which whoever registers the name finds", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.send(bob, alice, "one")
			w.live(time.Hour)
			same(w, "if it must have none", w.retire(alice, time.Hour, true), store.RetireMail)
			same(w, "outcome", w.retire(alice, time.Hour, false), store.RetireDone)
			retired, err := w.store.Retired(w.ctx, w.space, 0, 10)
			w.must(err)
			same(w, "retired", retired, []c3po.AgentID{alice})
			same(w, "pending", w.books().Pending, 1)
			same(w, "unread", w.register(alice, "r2").Unread, 1)
			same(w, "its mail", w.inbox(alice), []string{"one"})
			retired, err = w.store.Retired(w.ctx, w.space, 0, 10)
			w.must(err)
			same(w, "retired", retired, nil)
		}},
		{"a session of a retired agent means nothing any more", nil, func(w *testStore) {
			_, err := w.store.Register(w.ctx, w.space, store.RegisterStep{Want: alice, Run: "r1", Session: "s"})
			w.must(err)
			w.live(time.Hour)
			same(w, "outcome", w.retire(alice, time.Hour, false), store.RetireDone)
			reg, err := w.store.Register(w.ctx, w.space, store.RegisterStep{Want: alice, Run: "r2", Session: "s"})
			w.must(err)
			same(w, "epoch", reg.Record.Epoch, 1)
		}},
	}
}

func letterPromises() []promise {
	return []promise{
		{"a dead letter that is revived is pending again, once, and its sender is told", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(bob, alice, "one")
			w.bury(id)
			w.ack(bob, w.page(bob, store.InboxQuery{}).Entries[0].Message.ID)
			seq := w.books().Seq
			same(w, "outcome", w.revive(id, ""), store.ReviveDone)
			same(w, "again", w.revive(id, ""), store.ReviveLeft)
			same(w, "its inbox", w.inbox(alice), []string{"one"})
			e := w.entry(id)
			same(w, "state", e.State+e.Reason, c3po.StatePending)
			same(w, "number", e.Message.Seq, seq+1)
			same(w, "letters", w.letters(0, 10), nil)
			told := w.page(bob, store.InboxQuery{}).Entries
			same(w, "told", texts(told), []string{"it is back"})
			same(w, "as", told[0].Message.Kind, c3po.KindNotice)
			same(w, "about", told[0].Message.MessageID, id)
			books := w.books()
			same(w, "dead", books.Dead, 0)
			same(w, "pending", books.Pending, 2)
			same(w, "the event", w.events(seq)[0].Kind, c3po.EventRedelivered)
			same(w, "whom it wakes", w.events(seq)[0].Agent, alice)
		}},
		{"a revived letter has a whole life before it", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(bob, alice, "one")
			w.live(w.limits.MessageLife)
			w.bury(id)
			w.revive(id, "")
			same(w, "due", w.due(), nil)
			w.live(w.limits.MessageLife)
			same(w, "due in time", slices.ContainsFunc(w.due(), func(due store.Due) bool { return due.ID == id }), true)
		}},
		{"a reader who had a letter is given it again when it is revived", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(bob, alice, "one")
			note := store.Notes{Served: []store.ServedNote{{ID: id, Reader: "s", Route: "mcp", At: w.now()}}}
			w.must(w.store.WriteNotes(w.ctx, w.space, note))
			text, _ := w.next(alice, store.NextQuery{Reader: "s"})
			same(w, "it has it", text, "")
			w.bury(id)
			w.revive(id, "")
			text, _ = w.next(alice, store.NextQuery{Reader: "s"})
			same(w, "again", text, "one")
			same(w, "what was is still told", len(w.entry(id).Facts.Served), 1)
			w.advance(time.Second)
			note.Served[0].At = w.now()
			w.must(w.store.WriteNotes(w.ctx, w.space, note))
			text, _ = w.next(alice, store.NextQuery{Reader: "s"})
			same(w, "once", text, "")
		}},
		{"a letter is not revived for nobody, nor into a full inbox, nor for another reason", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(bob, alice, "one")
			w.bury(id)
			w.unchanged(func() {
				same(w, "reason", w.revive(id, c3po.ReasonRecipientRemoved), store.ReviveLeft)
			})
			for range w.limits.InboxMessages / 2 {
				w.sendStep(keyed(letter(bob, alice, "x"), w.now().String()+string(rune('a'+w.books().Sent))))
				w.sendStep(keyed(letter(carol, alice, "x"), w.now().String()+string(rune('a'+w.books().Sent))))
			}
			w.unchanged(func() { same(w, "full", w.revive(id, ""), store.ReviveFull) })
			w.live(time.Hour)
			same(w, "gone", w.retire(alice, 0, false), store.RetireDone)
			w.unchanged(func() { same(w, "nobody", w.revive(id, ""), store.ReviveUnknown) })
		}},
		{"what an agent lost when it was removed is owed to it in order", nil, func(w *testStore) {
			w.enter(alice, bob)
			one, two, three := w.send(bob, alice, "one"), w.send(bob, alice, "two"), w.send(bob, alice, "three")
			w.remove(two)
			w.remove(one)
			w.bury(three)
			same(w, "owed", w.owed(alice), []c3po.MessageID{two, one})
			to, err := w.store.OwedTo(w.ctx, w.space, "", 10)
			w.must(err)
			same(w, "to", to, []c3po.AgentID{alice})
			to, err = w.store.OwedTo(w.ctx, w.space, alice, 10)
			w.must(err)
			same(w, "to others", to, nil)
			w.live(time.Hour)
			same(w, "gone", w.retire(alice, 0, true), store.RetireDone)
			same(w, "told when it registers", w.register(alice, "r2").Owed, 2)
			same(w, "revived", w.revive(two, c3po.ReasonRecipientRemoved), store.ReviveDone)
			same(w, "still owed", w.owed(alice), []c3po.MessageID{one})
			forgotten, err := w.store.Purge(w.ctx, w.space, one)
			w.must(err)
			same(w, "purged", forgotten, true)
			same(w, "nothing is owed", w.owed(alice), nil)
		}},
		{"only a dead letter is purged", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(bob, alice, "one")
			forgotten, err := w.store.Purge(w.ctx, w.space, id)
			w.must(err)
			same(w, "pending", forgotten, false)
			w.bury(id)
			forgotten, err = w.store.Purge(w.ctx, w.space, id)
			w.must(err)
			same(w, "dead", forgotten, true)
			if w.message(id) != nil {
				w.Error("it is still known")
			}
			books := w.books()
			same(w, "the books balance", books.Sent, books.Pending+books.Acked+books.Dead)
		}},
	}
}
