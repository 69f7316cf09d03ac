package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (w *testStore) rename(old, new c3po.AgentID) {
	w.Helper()
	w.must(w.store.Rename(w.ctx, w.space, old, new, ""))
}

func renamePromises() []promise {
	return []promise{
		{"a conversation is read back though its agent was retired, came back and has another name again", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.tell(alice, bob, "keep this")
			w.ack(bob, id)
			w.rename(bob, "robert")
			w.live(time.Hour)
			same(w, "it is retired", w.retire("robert", 0, false), store.RetireDone)
			w.enter("robert")
			w.rename("robert", "rob")
			thread, err := w.store.Thread(w.ctx, w.space, string(id), 0, 10)
			w.must(err)
			if len(thread) != 1 || thread[0].Message.Message != "keep this" {
				w.Errorf("its conversation is %+v", thread)
			}
		}},
		{"a renamed agent has its mail, its answers and its dead letters", nil, func(w *testStore) {
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
			same(w, "revived", w.revive(w.letters(0, 10)[0].Entry.Message.ID, ""), store.ReviveDone)
			same(w, "in order", w.inbox(carol), []string{"two", "dead"})
			same(w, "agents", w.books().Agents, before.Agents)
			same(w, "former", w.record(carol).Former, []c3po.AgentID{bob})
			thread, err := w.store.Thread(w.ctx, w.space, string(two), 0, 10)
			w.must(err)
			same(w, "its thread", texts(thread), []string{"two"})
			same(w, "acked", w.ack(carol, e.Message.ID), []store.AckOutcome{store.AckDone})
		}},
		{"mail of a renamed agent still expires", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(alice, bob, "one")
			w.rename(bob, carol)
			w.live(w.limits.MessageLife)
			same(w, "due", w.due()[0].ID, w.entry(id).Message.ID)
			w.bury(w.entry(id).Message.ID)
			same(w, "pending", w.books().Pending, 1)
		}},
		{"the deadline of a ticket goes with an agent that is renamed, read or unread", nil, func(w *testStore) {
			w.enter(alice, bob)
			ask := letter(alice, bob, "unread")
			ask.Within = time.Minute
			unread := w.sendStep(ask).Message.ID
			ask.Text = "read"
			read := w.sendStep(ask).Message.ID
			w.ack(bob, read)
			w.rename(bob, carol)
			w.advance(time.Minute)
			due, err := w.store.Overdue(w.ctx, w.space, 10)
			w.must(err)
			same(w, "overdue", slices.Sorted(slices.Values(due)), slices.Sorted(slices.Values([]c3po.MessageID{w.entry(unread).Message.ID, w.entry(read).Message.ID})))
			for _, id := range due {
				lapsed, err := w.store.Lapse(w.ctx, w.space, id)
				w.must(err)
				same(w, "lapsed", lapsed, true)
			}
		}},
		{"mail that a renamed agent has read is listed, until it is forgotten", func(l *c3po.Limits) { l.EndedLife = time.Hour }, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(alice, bob, "read")
			w.ack(bob, id)
			w.rename(bob, carol)
			listed := func() []string {
				thread, err := w.store.Thread(w.ctx, w.space, string(id), 0, 10)
				w.must(err)
				marks, err := w.store.Tickets(w.ctx, w.space, 0, 10)
				w.must(err)
				out := texts(thread)
				for _, mark := range marks {
					out = append(out, string(mark.ID))
				}
				return out
			}
			same(w, "listed", listed(), []string{"read", string(w.entry(id).Message.ID)})
			w.live(2 * time.Hour)
			_, err := w.store.Trim(w.ctx, w.space, 10)
			w.must(err)
			same(w, "forgotten", listed(), nil)
		}},
		{"a task stays with an agent that is renamed", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			id := w.task(carol, "work")
			same(w, "claimed", w.claim(bob), "work")
			w.rename(bob, "box/dan")
			same(w, "for another", w.claim(alice), "")
			same(w, "its own", w.ackClaimed("box/dan", id), []store.AckOutcome{store.AckDone})
		}},
		{"a renaming that is repeated was done", nil, func(w *testStore) {
			w.register(bob, "r1")
			w.must(w.store.Rename(w.ctx, w.space, bob, carol, "r1"))
			w.unchanged(func() { w.must(w.store.Rename(w.ctx, w.space, bob, carol, "r1")) })
			w.refused(w.store.Rename(w.ctx, w.space, bob, carol, "r2"), c3po.AgentNotFound)
			w.refused(w.store.Rename(w.ctx, w.space, bob, "dora", "r1"), c3po.AgentNotFound)
		}},
		{"an invitation goes with an agent that is renamed, and so does what the maker of a room may do", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.must(w.secretRoom(alice))
			w.invite(alice, bob)
			w.invite(alice, carol)
			w.joinRoom(lobby, carol)
			_, err := w.store.Leave(w.ctx, w.space, lobby, alice, "")
			w.must(err)
			w.rename(bob, "box/dan")
			w.rename(alice, "anna")
			w.live(w.limits.NameLife)
			for _, id := range []c3po.AgentID{alice, bob} {
				w.enter(id) // somebody else has the name
				_, err := w.store.Join(w.ctx, w.space, store.JoinStep{Room: lobby, Agent: id, Visibility: c3po.Public})
				w.refused(err, c3po.InvalidRequest)
			}
			w.must(w.store.SetVisibility(w.ctx, w.space, lobby, "anna", "", false, c3po.InviteOnly))
			w.joinRoom(lobby, "box/dan", "anna")
		}},
		{"an agent is renamed only so often an hour, and each has an hour of its own", nil, func(w *testStore) {
			w.enter(alice, bob)
			name := func(n int) c3po.AgentID { return c3po.AgentID(fmt.Sprint("name-", n)) }
			w.rename(alice, name(0))
			w.advance(store.RenameWindow - time.Minute)
			for n := range store.MaxRenames - 1 {
				w.rename(name(n), name(n+1))
			}
			last := name(store.MaxRenames - 1)
			w.unchanged(func() {
				err := w.store.Rename(w.ctx, w.space, last, "one-more", "")
				w.refused(err, c3po.RateLimited)
				same(w, "advice", c3po.AsError(err).Suggestion, "It keeps the name '"+string(last)+"'. Try again in 1 min.")
				w.must(w.store.Rename(w.ctx, w.space, name(store.MaxRenames-2), last, "")) // the repeat of what was done
			})
			w.rename(bob, "bert")
			w.advance(time.Minute)
			w.rename(last, "one-more")
		}},
		{"only the latest former names of an agent are known", nil, func(w *testStore) {
			name := func(n int) c3po.AgentID { return c3po.AgentID(fmt.Sprint("name-", n)) }
			w.enter(name(0))
			for n := range store.MaxFormerNames + 2 {
				w.rename(name(n), name(n+1))
				w.advance(store.RenameWindow / store.MaxRenames)
			}
			last := name(store.MaxFormerNames + 2)
			same(w, "former", len(w.record(last).Former), store.MaxFormerNames)
			to, _, err := w.store.Renamed(w.ctx, w.space, name(2))
			w.must(err)
			same(w, "the oldest known", to, last)
		}},
		{"what an agent said stays its own when it is renamed, whoever has its name then", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.joinRoom(lobby, alice, bob, carol)
			w.say(carol, lobby, "first") // so that bob has something to read before its own
			w.say(bob, lobby, "of bob")
			w.rename(bob, "box/dan")
			w.live(w.limits.NameLife)
			w.rename(alice, bob)
			w.expectHears("box/dan", "first")
			w.expectHears(bob, "first", "of bob")
		}},
		{"a name that somebody has, or that answers for somebody, is not free", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.unchanged(func() { w.refused(w.store.Rename(w.ctx, w.space, bob, alice, ""), c3po.InvalidRequest) })
			w.refused(w.store.Rename(w.ctx, w.space, carol, "dora", ""), c3po.AgentNotFound)
			w.rename(bob, carol)
			w.refused(w.store.Rename(w.ctx, w.space, alice, bob, ""), c3po.InvalidRequest)
			w.rename(carol, bob)
			same(w, "back", w.record(bob).Former, []c3po.AgentID{carol, bob})
		}},
		{"a run that was renamed is known by its old name", nil, func(w *testStore) {
			w.register(bob, "r1")
			w.must(w.store.Rename(w.ctx, w.space, bob, carol, "r1"))
			_, err := w.store.Inbox(w.ctx, w.space, bob, store.InboxQuery{Run: "r1", Limit: 1, Bytes: 1})
			w.refused(err, c3po.Superseded)
			same(w, "its id", w.register(bob, "r1").Record.ID, carol)
			same(w, "another run", w.register(bob, "r2").Record.ID, bob.Numbered(2))
			w.live(w.limits.NameLife)
			same(w, "after a day", w.register(bob, "r1").Record.ID, carol)
			same(w, "the name is free", w.register(bob, "r3").Record.ID, bob)
		}},
		{"a former name stands for its agent, for a day as an address", nil, func(w *testStore) {
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
		{"a token for the former name is not one for the new name", nil, func(w *testStore) {
			w.enter(alice)
			w.rename(alice, "dora")
			w.unchanged(func() {
				_, err := w.try(store.RegisterStep{Want: alice, Agents: c3po.Pattern(alice)})
				w.refused(err, c3po.Forbidden)
			})
			same(w, "one for both", w.given(store.RegisterStep{Want: alice, Agents: "*"}), "dora")
		}},
		{"who comes back under a former name gets its agent, while the name answers", nil, func(w *testStore) {
			w.register(bob, "r1")
			w.must(w.store.Rename(w.ctx, w.space, bob, carol, "r1"))
			w.advance(w.limits.OnlineWindow + time.Second)
			same(w, "its id", w.register(bob, "r2").Record.ID, carol)
		}},
		{"what an agent sent under a key is one message, also when it is renamed", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.joinRoom(lobby, bob, carol)
			send := keyed(letter(bob, alice, "hi"), "k1")
			sent := w.sendStep(send).Message.ID
			reply := answer(bob, w.send(alice, bob, "why?"), "because")
			reply.Key = "k2"
			replied, err := w.store.Reply(w.ctx, w.space, reply)
			w.must(err)
			post := saying(bob, lobby, "said")
			said := w.post(post).Message.ID
			w.rename(bob, "dora")
			w.rename("dora", "box/dan")
			send.From, reply.From, post.From = "box/dan", "box/dan", "box/dan"
			reply.Answers = w.entry(reply.Answers).Message.ID
			w.repeats(send, sent, c3po.StatePending)
			w.unchanged(func() {
				again, err := w.store.Reply(w.ctx, w.space, reply)
				w.must(err)
				same(w, "reply", again.Message.ID, replied.Message.ID)
				same(w, "post", w.post(post).Message.ID, said)
				found, err := w.store.Keyed(w.ctx, w.space, "box/dan", "k1")
				w.must(err)
				same(w, "by its key", found, sent)
				other := send
				other.Text = "something else"
				w.sendRefused(other, c3po.KeyConflict)
			})
			w.live(w.limits.KeyLife)
			w.isNew(send, sent)
		}},
		{"an agent that is renamed can cancel what it asked, and is no longer held up by it", nil, func(w *testStore) {
			w.enter(alice, bob)
			ask := letter(bob, c3po.Human, "may I?")
			ask.Mailbox, ask.Kind, ask.PauseFrom = true, c3po.KindEscalation, c3po.PausedForHuman
			asked, sent := w.sendStep(ask).Message.ID, w.send(bob, alice, "why?")
			w.rename(bob, "dora")
			same(w, "paused", w.record("dora").Paused, c3po.PausedForHuman)
			for _, id := range []c3po.MessageID{asked, sent} {
				w.unchanged(func() { same(w, "not its former name", w.cancel("dora", id).Outcome, c3po.CancelNotYours) })
				done, err := w.store.Cancel(w.ctx, w.space, store.CancelStep{From: "dora", Former: bob, ID: id, Durability: c3po.OnDisk})
				w.must(err)
				same(w, "cancelled", done.Outcome, c3po.CancelDone)
			}
			same(w, "goes on", w.record("dora").Paused, "")
			same(w, "inbox", w.inbox(alice), nil)
		}},
		{"what a renamed agent sent without a key is one message, for a moment", nil, func(w *testStore) {
			w.enter(alice, bob)
			send := letter(bob, alice, "hi")
			sent := w.sendStep(send).Message.ID
			w.rename(bob, "dora")
			send.From = "dora"
			w.repeats(send, sent, c3po.StatePending)
			w.advance(w.limits.RepeatWindow)
			w.isNew(send, sent)
		}},
		{"a key stands for its message whichever name of the recipient it is repeated with", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			step := keyed(letter(alice, bob, "hi"), "k1")
			first := w.sendStep(step).Message.ID
			w.rename(bob, "dora")
			step.To = "dora"
			w.repeats(step, w.entry(first).Message.ID, c3po.StatePending)
			step.To = carol
			w.unchanged(func() { w.sendRefused(step, c3po.KeyConflict) })
		}},
		{"a key of whoever has the name now is not that of the agent that had it", func(l *c3po.Limits) { l.KeyLife = 2 * l.NameLife }, func(w *testStore) {
			w.enter(alice, bob)
			w.rename(bob, carol)
			w.live(w.limits.NameLife)
			w.enter(bob)
			step := keyed(letter(bob, alice, "hi"), "k1")
			first := w.sendStep(step).Message.ID
			w.live(time.Second)
			w.rename(carol, "dora")
			step.From = "dora"
			w.isNew(step, first)
		}},
	}
}
