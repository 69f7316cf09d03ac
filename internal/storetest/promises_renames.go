package storetest

import (
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
)

func (w *world) rename(old, new c3po.AgentID) {
	w.Helper()
	w.must(w.store.Rename(w.ctx, w.space, old, new, ""))
}

func renamePromises() []promise {
	return []promise{
		{"a renamed agent has its mail, its answers and its dead letters", nil, func(w *world) {
			w.enter(alice, bob)
			one, two, dead := w.send(alice, bob, "one"), w.send(alice, bob, "two"), w.send(alice, bob, "dead")
			w.reply(bob, one, "yes")
			w.bury(dead)
			before := w.books()
			w.rename(bob, carol)
			same(w, "its mail", w.inbox(carol), []string{"two"})
			same(w, "the old inbox", w.inbox(bob), nil)
			e := w.entry(two)
			same(w, "an id from before", e.Message.ID, c3po.NewMessageID(alice, carol, string(two[len(two)-8:])))
			answers, err := w.store.Answers(w.ctx, w.space, one)
			w.must(err)
			same(w, "answers", texts(answers), []string{"yes"})
			same(w, "letters", w.letters(0, 10)[0].Entry.Message.ToAgent, carol)
			same(w, "revived", w.revive(w.letters(0, 10)[0].Entry.Message.ID, ""), hub.ReviveDone)
			same(w, "in order", w.inbox(carol), []string{"two", "dead"})
			same(w, "agents", w.books().Agents, before.Agents)
			same(w, "former", w.record(carol).Former, []c3po.AgentID{bob})
			thread, err := w.store.Thread(w.ctx, w.space, string(two), 0, 10)
			w.must(err)
			same(w, "its thread", texts(thread), []string{"two"})
			same(w, "acked", w.ack(carol, e.Message.ID), []hub.AckOutcome{hub.AckDone})
		}},
		{"mail of a renamed agent still expires", nil, func(w *world) {
			w.enter(alice, bob)
			id := w.send(alice, bob, "one")
			w.rename(bob, carol)
			w.live(w.limits.MessageLife)
			same(w, "due", w.due()[0].ID, w.entry(id).Message.ID)
			w.bury(w.entry(id).Message.ID)
			same(w, "pending", w.books().Pending, 1)
		}},
		{"a name that somebody has, or that answers for somebody, is not free", nil, func(w *world) {
			w.enter(alice, bob)
			w.unchanged(func() { w.refused(w.store.Rename(w.ctx, w.space, bob, alice, ""), c3po.InvalidRequest) })
			w.refused(w.store.Rename(w.ctx, w.space, carol, "dora", ""), c3po.AgentNotFound)
			w.rename(bob, carol)
			w.refused(w.store.Rename(w.ctx, w.space, alice, bob, ""), c3po.InvalidRequest)
			w.rename(carol, bob)
			same(w, "back", w.record(bob).Former, []c3po.AgentID{carol, bob})
		}},
		{"a run that was renamed is known by its old name", nil, func(w *world) {
			w.register(bob, "r1")
			w.must(w.store.Rename(w.ctx, w.space, bob, carol, "r1"))
			_, err := w.store.Inbox(w.ctx, w.space, bob, hub.InboxQuery{Run: "r1", Limit: 1, Bytes: 1})
			w.refused(err, c3po.Superseded)
			same(w, "its id", w.register(bob, "r1").Record.ID, carol)
			same(w, "another run", w.register(bob, "r2").Record.ID, bob.Numbered(2))
			w.live(w.limits.NameLife)
			same(w, "after a day", w.register(bob, "r1").Record.ID, carol)
			same(w, "the name is free", w.register(bob, "r3").Record.ID, bob)
		}},
		{"a former name stands for its agent, for a day as an address", nil, func(w *world) {
			w.enter(bob)
			w.rename(bob, carol)
			w.rename(carol, "dora")
			to, answers, err := w.store.Renamed(w.ctx, w.space, bob)
			w.must(err)
			same(w, "through all names", to, c3po.AgentID("dora"))
			same(w, "answers", answers, true)
			w.live(w.limits.NameLife)
			_, answers, err = w.store.Renamed(w.ctx, w.space, bob)
			w.must(err)
			same(w, "after a day", answers, false)
		}},
		{"a token for the former name is not one for the new name", nil, func(w *world) {
			w.enter(alice)
			w.rename(alice, "dora")
			w.unchanged(func() {
				_, err := w.try(hub.RegisterStep{Want: alice, Agents: c3po.Pattern(alice)})
				w.refused(err, c3po.Forbidden)
			})
			same(w, "one for both", w.given(hub.RegisterStep{Want: alice, Agents: "*"}), "dora")
		}},
		{"who comes back under a former name gets its agent, while the name answers", nil, func(w *world) {
			w.register(bob, "r1")
			w.must(w.store.Rename(w.ctx, w.space, bob, carol, "r1"))
			w.advance(w.limits.OnlineWindow + time.Second)
			same(w, "its id", w.register(bob, "r2").Record.ID, carol)
		}},
	}
}
