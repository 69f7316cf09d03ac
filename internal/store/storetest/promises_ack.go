package storetest

import (
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (w *testStore) received(owner c3po.AgentID, reader string, ids ...c3po.MessageID) []store.AckOutcome {
	w.Helper()
	outcomes, err := w.store.Received(w.ctx, w.space, owner, reader, "hook", ids)
	w.must(err)
	return outcomes
}

func ackPromises() []promise {
	return []promise{
		{"an ack ends a message and keeps its record", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(bob, alice, "hi")
			w.advance(time.Second)
			same(w, "outcome", w.ack(alice, id), []store.AckOutcome{store.AckDone})
			same(w, "inbox", w.inbox(alice), nil)
			entry := w.entry(id)
			same(w, "state", entry.State, c3po.StateAcked)
			same(w, "ended", entry.Facts.Ended, w.now())
			same(w, "text", entry.Message.Message, "hi")
			if entry.Facts.Received != nil || len(entry.Facts.Served) > 0 || len(entry.Facts.Answers) > 0 {
				w.Errorf("an ack implied another fact: %+v", entry.Facts)
			}
		}},
		{"an ack says what became of each id, in their order", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			done, mine, other := w.send(bob, alice, "done"), w.send(bob, alice, "mine"), w.send(bob, carol, "other")
			w.ack(alice, done)
			same(w, "outcomes", w.ack(alice, "box/bob::alice::00000000", done, mine, other, mine),
				[]store.AckOutcome{store.AckUnknown, store.AckAlready, store.AckDone, store.AckNotYours, store.AckAlready})
			same(w, "the other's inbox", w.inbox(carol), []string{"other"})
		}},
		{"an id with the hex of a message but another sender is unknown", nil, func(w *testStore) {
			w.enter(bob, carol)
			w.join(alice)
			mail, task := w.send(bob, alice, "hi"), w.task(bob, "work")
			same(w, "claimed", w.claim(alice), "work")
			for _, id := range []c3po.MessageID{mail, task} {
				_, to, hex := id.Split()
				forged, before := c3po.NewMessageID(carol, to, hex), w.entry(id)
				w.unchanged(func() {
					if w.message(forged) != nil {
						w.Error("the forged id is known")
					}
					done, err := w.store.Cancel(w.ctx, w.space, store.CancelStep{From: carol, ID: forged, Holder: alice, Durability: c3po.OnDisk})
					w.must(err)
					same(w, "cancel", done, store.Cancelled{Outcome: c3po.CancelUnknown})
					_, err = w.store.Reply(w.ctx, w.space, answer(alice, forged, "who?"))
					w.refused(err, c3po.InvalidRequest)
					same(w, "silence", w.unanswered(alice, forged), false)
					same(w, "held up", w.heldUp(alice, forged, store.Stalled), store.HeldUp{})
					same(w, "cost", w.uses(alice, "", forged, 10), false)
					same(w, "lapse", w.lapse(forged), false)
					same(w, "revive", w.revive(forged, ""), store.ReviveLeft)
					w.serve("s1", forged)
				})
				same(w, "afterwards", w.entry(id), before)
			}
			_, _, hex := w.question(carol, "may I?").Split()
			same(w, "notice", w.claimNotice(store.Notice{ID: c3po.NewMessageID(bob, c3po.Human, hex), Channel: "ntfy"}), false)
			_, _, hex = mail.Split()
			forged := []c3po.MessageID{c3po.NewMessageID(carol, alice, hex)}
			w.unchanged(func() {
				same(w, "ack", w.ack(alice, forged...), []store.AckOutcome{store.AckUnknown})
				same(w, "received", w.received(alice, "s1", forged...), []store.AckOutcome{store.AckUnknown})
			})
			_, _, hex = task.Split()
			forged[0] = c3po.NewMessageID(carol, reviewers, hex)
			w.unchanged(func() {
				same(w, "ack of a task", w.ackClaimed(alice, forged...), []store.AckOutcome{store.AckUnknown})
				w.refused(w.claimOne(alice, forged[0]), c3po.InvalidRequest)
			})
			same(w, "inbox", w.inbox(alice), []string{"hi"})
		}},
		{"an ack is final", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(bob, alice, "hi")
			w.ack(alice, id)
			w.unchanged(func() {
				buried, err := w.store.Bury(w.ctx, w.space, id, c3po.ReasonExpired, "late")
				w.must(err)
				same(w, "buried", buried, false)
				same(w, "again", w.ack(alice, id), []store.AckOutcome{store.AckAlready})
			})
			same(w, "state", w.entry(id).State, c3po.StateAcked)
		}},
		{"a dead letter cannot be acked", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(bob, alice, "hi")
			w.bury(id)
			same(w, "ack", w.ack(alice, id), []store.AckOutcome{store.AckAlready})
			same(w, "state", w.entry(id).State, c3po.StateDead)
		}},
		{"only the holder acks", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.enter(bob)
			id := w.send(bob, alice, "hi")
			w.unchanged(func() {
				_, err := w.store.Ack(w.ctx, w.space, alice, "r2", []c3po.MessageID{id})
				w.refused(err, c3po.Superseded)
			})
			_, err := w.store.Ack(w.ctx, w.space, alice, "r1", []c3po.MessageID{id})
			w.must(err)
		}},
		{"the mail of a person is acked like any other", nil, func(w *testStore) {
			w.enter(bob)
			step := letter(bob, c3po.Human, "may I?")
			step.Mailbox = true
			id := w.sendStep(step).Message.ID
			same(w, "outcome", w.ack(c3po.Human, id), []store.AckOutcome{store.AckDone})
		}},
		{"received is recorded, once, and acks nothing", nil, func(w *testStore) {
			w.enter(alice, bob)
			id, at := w.send(bob, alice, "hi"), w.now()
			same(w, "outcome", w.received(alice, "s1", id), []store.AckOutcome{store.AckAlready})
			w.advance(time.Second)
			w.received(alice, "s2", id)
			same(w, "received", w.entry(id).Facts.Received, &store.ServedFact{Reader: "s1", Route: "hook", First: at, Last: at, Times: 1})
			same(w, "inbox", w.inbox(alice), []string{"hi"})
		}},
		{"an answer to one's own message is acked when it is received", nil, func(w *testStore) {
			w.enter(alice, bob)
			reply := w.reply(bob, w.send(alice, bob, "why?"), "because")
			same(w, "outcome", w.received(alice, "s1", reply), []store.AckOutcome{store.AckDone})
			same(w, "again", w.received(alice, "s1", reply), []store.AckOutcome{store.AckAlready})
			entry := w.entry(reply)
			same(w, "state", entry.State, c3po.StateAcked)
			if entry.Facts.Received == nil {
				w.Error("it was acked but not received")
			}
		}},
		{"one cannot receive what is not one's own", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			id := w.send(bob, alice, "hi")
			w.unchanged(func() {
				same(w, "outcomes", w.received(carol, "s1", id, "box/bob::carol::00000000"),
					[]store.AckOutcome{store.AckNotYours, store.AckUnknown})
			})
			if w.entry(id).Facts.Received != nil {
				w.Error("somebody else received it")
			}
		}},
	}
}
