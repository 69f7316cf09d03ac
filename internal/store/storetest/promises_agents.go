package storetest

import (
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (w *testStore) unregister(id c3po.AgentID, run string) bool {
	w.Helper()
	ended, err := w.store.Unregister(w.ctx, w.space, id, run, "")
	w.must(err)
	return ended
}

func agentPromises() []promise {
	return []promise{
		{"unregistering ends the session at once and keeps agent and mail", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.send(alice, alice, "note")
			same(w, "ended", w.unregister(alice, "r1"), true)
			same(w, "online", w.record(alice).Online, false)
			same(w, "inbox", w.inbox(alice), []string{"note"})
		}},
		{"unregistering twice, or a stranger, ends nothing", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.unregister(alice, "r1")
			w.unchanged(func() {
				same(w, "twice", w.unregister(alice, "r1"), false)
				same(w, "a stranger", w.unregister(carol, "r1"), false)
			})
		}},
		{"another run than the holder ends nothing", nil, func(w *testStore) {
			w.register(alice, "r1")
			same(w, "ended", w.unregister(alice, "r2"), false)
			same(w, "online", w.record(alice).Online, true)
		}},
		{"who unregistered is back when it registers again", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.unregister(alice, "r1")
			same(w, "id", w.register(alice, "r1").Record.ID, alice)
			same(w, "online", w.record(alice).Online, true)
			same(w, "it can end again", w.unregister(alice, "r1"), true)
		}},
		{"the id of who unregistered is free for another run", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.unregister(alice, "r1")
			same(w, "id", w.register(alice, "r2").Record.ID, alice)
		}},
		{"status and task are kept", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.must(w.store.SetStatus(w.ctx, w.space, alice, "r1", c3po.Busy, "tests"))
			same(w, "availability", w.record(alice).Availability, c3po.Busy)
			same(w, "task", w.record(alice).CurrentTask, "tests")
			w.must(w.store.SetStatus(w.ctx, w.space, alice, "", c3po.Available, ""))
			same(w, "availability", w.record(alice).Availability, c3po.Available)
			same(w, "task", w.record(alice).CurrentTask, "")
		}},
		{"only the holder sets a status", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.refused(w.store.SetStatus(w.ctx, w.space, alice, "r2", c3po.Away, ""), c3po.Superseded)
			w.refused(w.store.SetStatus(w.ctx, w.space, carol, "r1", c3po.Away, ""), c3po.AgentNotFound)
			same(w, "availability", w.record(alice).Availability, c3po.Availability(""))
		}},
		{"a paused agent says why until it is resumed", nil, func(w *testStore) {
			w.enter(alice, carol)
			w.must(w.store.SetPaused(w.ctx, w.space, alice, "lunch"))
			same(w, "paused", w.record(alice).Paused, "lunch")
			same(w, "another", w.record(carol).Paused, "")
			w.must(w.store.SetPaused(w.ctx, w.space, alice, ""))
			same(w, "resumed", w.record(alice).Paused, "")
		}},
		{"a paused space pauses every agent, its own reason first", nil, func(w *testStore) {
			w.enter(alice, carol)
			w.must(w.store.SetPaused(w.ctx, w.space, alice, "lunch"))
			w.must(w.store.SetPaused(w.ctx, w.space, "", "fire drill"))
			same(w, "own", w.record(alice).Paused, "lunch")
			same(w, "own, beside the mail", w.page(alice, store.InboxQuery{}).Paused, "lunch")
			same(w, "the space's", w.record(carol).Paused, "fire drill")
			same(w, "the space's, beside the mail", w.page(carol, store.InboxQuery{}).Paused, "fire drill")
			w.must(w.store.SetPaused(w.ctx, w.space, "", ""))
			same(w, "own", w.record(alice).Paused, "lunch")
			same(w, "resumed", w.record(carol).Paused, "")
			same(w, "resumed, beside the mail", w.page(carol, store.InboxQuery{}).Paused, "")
		}},
		{"who is paused is given a person's words alone by what waits, and the rest in order once resumed", nil, func(w *testStore) {
			w.enter(alice, bob)
			for name, id := range map[string]c3po.AgentID{"alone": alice, "with everybody": ""} {
				first := w.sendStep(letter(bob, alice, "first "+name)).Message
				w.must(w.store.SetPaused(w.ctx, w.space, id, "lunch"))
				w.sendStep(letter(c3po.Human, alice, "stop "+name))
				is, err := w.store.Next(w.ctx, w.space, alice, store.NextQuery{Reader: "s1"})
				w.must(err)
				if is.Entry == nil || is.Paused != "lunch" {
					w.Fatalf("while it is paused it is given %+v", is)
				}
				same(w, "given while paused", is.Entry.Message.Text(), "stop "+name)
				same(w, "the place stays before what is kept back", is.Seq, first.Seq-1)
				same(w, "a page while paused", texts(w.page(alice, store.InboxQuery{Quiet: true}).Entries), []string{"stop " + name})
				same(w, "whoever looks on purpose", w.inbox(alice), []string{"first " + name, "stop " + name})
				w.ack(alice, is.Entry.Message.ID)
				text, _ := w.next(alice, store.NextQuery{Reader: "s1"})
				same(w, "nothing else", text, "")
				w.must(w.store.SetPaused(w.ctx, w.space, id, ""))
				text, _ = w.next(alice, store.NextQuery{Reader: "s1"})
				same(w, "resumed", text, "first "+name)
				w.ack(alice, first.ID)
			}
		}},
		{"a paused space refuses what agents send each other, and nothing else", nil, func(w *testStore) {
			w.enter(alice, bob)
			asked := w.sendStep(letter(alice, bob, "before")).Message
			w.must(w.store.SetPaused(w.ctx, w.space, "", "fire drill"))
			w.unchanged(func() {
				_, err := w.store.Send(w.ctx, w.space, letter(alice, bob, "work"))
				w.refused(err, c3po.AgentUnavailable)
			})
			w.sendStep(letter(c3po.Human, bob, "from the person"))
			w.sendStep(letter(c3po.System, bob, "from the system"))
			toPerson := letter(alice, c3po.Human, "to the person")
			toPerson.Mailbox = true
			w.sendStep(toPerson)
			_, err := w.store.Reply(w.ctx, w.space, store.ReplyStep{Draft: store.Draft{From: bob, Text: "done"}, Answers: asked.ID})
			w.must(err)
		}},
		{"the sender of a message learns that it is paused", nil, func(w *testStore) {
			w.enter(alice, bob)
			same(w, "at work", w.sendStep(letter(alice, bob, "one")).SenderPaused, "")
			w.must(w.store.SetPaused(w.ctx, w.space, alice, "lunch"))
			same(w, "paused", w.sendStep(letter(alice, bob, "two")).SenderPaused, "lunch")
		}},
		{"a stranger cannot be paused", nil, func(w *testStore) {
			w.refused(w.store.SetPaused(w.ctx, w.space, carol, "why"), c3po.AgentNotFound)
		}},
		{"agents are listed in the order asked for, strangers left out", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			records, err := w.store.Agents(w.ctx, w.space, []c3po.AgentID{carol, "nobody", alice})
			w.must(err)
			same(w, "ids", recordIDs(records), []c3po.AgentID{carol, alice})
		}},
		{"pages of agents follow the order of registration", nil, func(w *testStore) {
			all := []c3po.AgentID{"zoe", alice, bob, "mia", carol}
			w.enter(all...)
			w.advance(time.Second)
			w.enter("zoe")
			var listed []c3po.AgentID
			var after int64
			for {
				page, err := w.store.AgentPage(w.ctx, w.space, after, 2)
				w.must(err)
				if len(page) == 0 {
					break
				}
				listed = append(listed, recordIDs(page)...)
				after = page[len(page)-1].RegSeq
			}
			same(w, "all pages", listed, all)
		}},
		{"agents of one bare name are found on all hosts", nil, func(w *testStore) {
			w.enter("api", "b/api", "a/api", "apis", "a/ap", "api/other")
			named, err := w.store.Named(w.ctx, w.space, "api", 10)
			w.must(err)
			slices.Sort(named)
			same(w, "named", named, []c3po.AgentID{"a/api", "api", "b/api"})
			some, err := w.store.Named(w.ctx, w.space, "api", 2)
			w.must(err)
			same(w, "at most", len(some), 2)
		}},
		{"neighbours are the names just before and after", nil, func(w *testStore) {
			w.enter("alpha", "x/bravo", "charlie", "y/delta", "echo")
			near, err := w.store.Neighbours(w.ctx, w.space, "charly", 2)
			w.must(err)
			slices.Sort(near)
			same(w, "neighbours", near, []c3po.AgentID{"charlie", "y/delta"})
		}},
		{"recent are the agents seen last, latest first", nil, func(w *testStore) {
			for _, id := range []c3po.AgentID{alice, bob, carol, alice} {
				w.enter(id)
				w.advance(time.Second)
			}
			recent, err := w.store.Recent(w.ctx, w.space, 2)
			w.must(err)
			same(w, "recent", recent, []c3po.AgentID{alice, carol})
		}},
		{"agents of another space do not exist", nil, func(w *testStore) {
			w.enter(alice, bob)
			records, err := w.store.Agents(w.ctx, w.other, []c3po.AgentID{alice})
			w.must(err)
			same(w, "records", recordIDs(records), nil)
			_, err = w.store.Send(w.ctx, w.other, letter(bob, alice, "hello?"))
			w.refused(err, c3po.AgentNotFound)
			_, err = w.store.Register(w.ctx, w.other, store.RegisterStep{Want: alice, Run: "r1"})
			w.must(err)
			same(w, "run here", w.record(alice).Run, "")
		}},
	}
}

func recordIDs(records []store.Record) []c3po.AgentID {
	var ids []c3po.AgentID
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	return ids
}
