package storetest

import (
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const reviewers c3po.AgentID = "role/review"

// join registers agents with the queue.
func (w *testStore) join(ids ...c3po.AgentID) {
	w.Helper()
	for _, id := range ids {
		w.joinAs(id, "", "review")
	}
}

func (w *testStore) joinAs(id c3po.AgentID, run string, capabilities ...string) {
	w.Helper()
	_, err := w.store.Register(w.ctx, w.space, store.RegisterStep{Want: id, Run: run, Explicit: true, Profile: store.Profile{Capabilities: capabilities}})
	w.must(err)
}

// task is a message for the queue.
func (w *testStore) task(from c3po.AgentID, text string) c3po.MessageID {
	w.Helper()
	step := letter(from, reviewers, text)
	step.Queue = true
	return w.sendStep(step).Message.ID
}

func (w *testStore) claimStep(step store.ClaimStep) (store.Claimed, error) {
	w.Helper()
	step.Queue = reviewers
	return w.store.Claim(w.ctx, w.space, step)
}

// claim takes the next message and gives its text.
func (w *testStore) claim(id c3po.AgentID) string {
	w.Helper()
	claimed, err := w.claimStep(store.ClaimStep{Agent: id, Reader: "s"})
	w.must(err)
	if claimed.Entry == nil {
		return ""
	}
	return claimed.Entry.Message.Text()
}

func (w *testStore) claimOne(agent c3po.AgentID, id c3po.MessageID) error {
	w.Helper()
	_, err := w.claimStep(store.ClaimStep{Agent: agent, ID: id})
	return err
}

func (w *testStore) ackClaimed(agent c3po.AgentID, ids ...c3po.MessageID) []store.AckOutcome {
	w.Helper()
	outcomes, err := w.store.AckClaimed(w.ctx, w.space, reviewers, agent, "", ids)
	w.must(err)
	return outcomes
}

func (w *testStore) shown(member c3po.AgentID) []string {
	w.Helper()
	return texts(w.page(reviewers, store.InboxQuery{Member: member}).Entries)
}

func queuePromises() []promise {
	return []promise{
		{"a message to a role is claimed by one member, then the next by another", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			w.task(carol, "first")
			w.task(carol, "second")
			same(w, "alice", w.claim(alice), "first")
			same(w, "bob", w.claim(bob), "second")
			claimed, err := w.claimStep(store.ClaimStep{Agent: bob, Reader: "s", Given: []c3po.MessageID{}})
			w.must(err)
			same(w, "all of them", claimed.Count, 2)
		}},
		{"what one holds is claimed again by a reader that was not given it, and changes nothing", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice)
			id := w.task(carol, "work")
			same(w, "first", w.claim(alice), "work")
			w.unchanged(func() { same(w, "again", w.claim(alice), "work") })
			claimed, err := w.claimStep(store.ClaimStep{Agent: alice, Reader: "s", Given: []c3po.MessageID{id}})
			w.must(err)
			if claimed.Entry != nil {
				w.Errorf("given twice: %+v", claimed.Entry)
			}
			w.unchanged(func() { w.must(w.claimOne(alice, id)) })
		}},
		{"a task that was served, died and came back is given to the same reader again, until it has it", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice)
			id := w.task(carol, "work")
			served := func() {
				w.must(w.store.WriteNotes(w.ctx, w.space, store.Notes{Served: []store.ServedNote{{ID: id, Reader: "s", At: w.now()}}}))
				w.advance(time.Second)
			}
			same(w, "claimed", w.claim(alice), "work")
			served()
			w.bury(id)
			same(w, "revived", w.revive(id, ""), store.ReviveDone)
			same(w, "claimed anew", w.claim(alice), "work")
			same(w, "after its answer was lost", w.claim(alice), "work")
			served()
			same(w, "once it was served", w.claim(alice), "")
		}},
		{"urgent mail of a role is claimed first", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice)
			w.task(carol, "normal")
			step := urgent(letter(carol, reviewers, "urgent"))
			step.Queue = true
			w.sendStep(step)
			same(w, "claimed", w.claim(alice), "urgent")
		}},
		{"only members claim, and nobody what it sent itself", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			id := w.task(alice, "work")
			w.unchanged(func() {
				w.refused(w.claimOne(carol, id), c3po.Forbidden)
				w.refused(w.claimOne(alice, id), c3po.Forbidden)
				same(w, "the sender's next", w.claim(alice), "")
				same(w, "the sender is shown", w.shown(alice), nil)
				same(w, "acks of both", []store.AckOutcome{w.ackClaimed(carol, id)[0], w.ackClaimed(alice, id)[0]},
					[]store.AckOutcome{store.AckNotYours, store.AckNotYours})
			})
			same(w, "bob", w.claim(bob), "work")
		}},
		{"the registered capabilities decide who has a role", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice)
			w.joinAs(bob, "", "review", "not a role!", "mqtt")
			members := func(queue c3po.AgentID) []c3po.AgentID {
				ids, err := w.store.Members(w.ctx, w.space, queue, 10)
				w.must(err)
				return ids
			}
			same(w, "members", members(reviewers), []c3po.AgentID{alice, bob})
			same(w, "of another", members("role/mqtt"), []c3po.AgentID{bob})
			same(w, "of a part of its name", members("role/mqt"), nil)
			w.joinAs(bob, "", "mqtt")
			same(w, "after one left", members(reviewers), []c3po.AgentID{alice})
			w.task(carol, "work")
			_, err := w.claimStep(store.ClaimStep{Agent: bob})
			w.refused(err, c3po.Forbidden)
			w.joinAs(alice, "", "mqtt")
			queues, err := w.store.Queues(w.ctx, w.space)
			w.must(err)
			same(w, "queues stay", queues, []c3po.AgentID{"role/mqtt", reviewers})
			n, err := w.store.InboxSize(w.ctx, w.space, reviewers)
			w.must(err)
			same(w, "the mail stays", n, 1)
		}},
		{"a claim is recorded with who and when", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice)
			id := w.task(carol, "work")
			w.advance(time.Second)
			w.claim(alice)
			entry := w.entry(id)
			same(w, "claim", entry.Facts.Claim, &c3po.Claim{By: alice, At: w.now()})
			same(w, "state", entry.State, c3po.StatePending)
			last := w.events(entry.Message.Seq)
			same(w, "event", last[len(last)-1].Kind, c3po.EventClaimed)
		}},
		{"who holds a message of a role is told that it was cancelled", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			held, free := w.task(carol, "held"), w.task(carol, "free")
			w.claim(alice)
			cancel := func(id c3po.MessageID, holder c3po.AgentID) store.Cancelled {
				done, err := w.store.Cancel(w.ctx, w.space, store.CancelStep{
					From: carol, ID: id, Notice: "it is cancelled", Durability: c3po.OnDisk, Holder: holder,
				})
				w.must(err)
				return done
			}
			w.unchanged(func() { same(w, "not known", cancel(held, ""), store.Cancelled{Held: true, HeldBy: alice}) })
			w.unchanged(func() { same(w, "not so", cancel(free, bob), store.Cancelled{Held: true}) })
			same(w, "held", cancel(held, alice), store.Cancelled{Outcome: c3po.CancelDone, Told: true})
			same(w, "free", cancel(free, ""), store.Cancelled{Outcome: c3po.CancelDone})
			same(w, "told", w.inbox(alice), []string{"it is cancelled"})
			same(w, "not told", w.inbox(bob), nil)
			same(w, "tasks", w.shown(bob), nil)
		}},
		{"a renamed agent keeps its roles and what it has claimed", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			id := w.task(carol, "work")
			w.claim(alice)
			const dave = c3po.AgentID("dave")
			w.rename(alice, dave)
			members, err := w.store.Members(w.ctx, w.space, reviewers, 10)
			w.must(err)
			same(w, "members", members, []c3po.AgentID{bob, dave})
			same(w, "held by", w.entry(id).Facts.Claim.By, dave)
			same(w, "shown to it", w.shown(dave), []string{"work"})
			same(w, "shown to another", w.shown(bob), nil)
			_, err = w.store.Reply(w.ctx, w.space, answer(dave, id, "done"))
			w.must(err)
		}},
		{"a held message is shown to its holder only", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			w.task(carol, "first")
			w.task(carol, "second")
			same(w, "before", w.shown(bob), []string{"first", "second"})
			w.claim(alice)
			same(w, "to the holder", w.shown(alice), []string{"first", "second"})
			same(w, "to the other", w.shown(bob), []string{"second"})
		}},
		{"a claim of an agent that is not heard of lapses", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			id := w.task(carol, "work")
			w.claim(alice)
			w.advance(w.limits.ClaimLease - time.Millisecond)
			w.refused(w.claimOne(bob, id), c3po.Forbidden)
			same(w, "too early", w.claim(bob), "")
			w.advance(time.Millisecond)
			same(w, "shown", w.shown(bob), []string{"work"})
			same(w, "bob", w.claim(bob), "work")
			same(w, "by", w.entry(id).Facts.Claim.By, bob)
		}},
		{"any sign of life extends a claim", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			w.task(carol, "work")
			w.claim(alice)
			for range 3 {
				w.advance(w.limits.ClaimLease - time.Second)
				w.must(w.store.WriteNotes(w.ctx, w.space, store.Notes{Seen: []c3po.AgentID{alice}}))
				same(w, "bob", w.claim(bob), "")
			}
			w.advance(w.limits.ClaimLease)
			same(w, "in the end", w.claim(bob), "work")
		}},
		{"a connection keeps a claim while its node lives", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			w.task(carol, "work")
			w.claim(alice)
			w.must(w.store.Attach(w.ctx, w.space, alice, "n1", c3po.SessionIdle))
			for range 3 {
				w.advance(w.limits.ClaimLease)
				w.must(w.store.RenewLease(w.ctx, w.space, "n1"))
				same(w, "while it lives", w.claim(bob), "")
			}
			w.advance(w.limits.NodeLease)
			same(w, "when the node died", w.claim(bob), "work")
		}},
		{"a claim ends when its agent unregisters", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			w.task(carol, "work")
			w.claim(alice)
			_, err := w.store.Unregister(w.ctx, w.space, alice, "", "")
			w.must(err)
			same(w, "bob", w.claim(bob), "work")
		}},
		{"only the newest claim acks, however late", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			id := w.task(carol, "work")
			w.claim(alice)
			w.advance(w.limits.ClaimLease)
			w.claim(bob)
			w.unchanged(func() {
				same(w, "stale", w.ackClaimed(alice, id), []store.AckOutcome{store.AckStale})
				_, err := w.store.Reply(w.ctx, w.space, answer(alice, id, "done"))
				w.refused(err, c3po.Forbidden)
			})
			w.advance(w.limits.ClaimLease)
			same(w, "still stale", w.ackClaimed(alice, id), []store.AckOutcome{store.AckStale})
			same(w, "newest", w.ackClaimed(bob, id, id), []store.AckOutcome{store.AckDone, store.AckAlready})
			same(w, "after the end", w.ackClaimed(alice, id), []store.AckOutcome{store.AckStale})
			w.refused(w.claimOne(bob, id), c3po.InvalidRequest)
			same(w, "books", w.books().Pending, 0)
		}},
		{"a member may end what nobody ever claimed", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			id := w.task(carol, "work")
			same(w, "ack", w.ackClaimed(alice, id, "carol::role/review::00000000"), []store.AckOutcome{store.AckDone, store.AckUnknown})
			_, err := w.store.Reply(w.ctx, w.space, answer(bob, w.task(carol, "more"), "done"))
			w.must(err)
		}},
		{"the claimer's answer reaches the asker, and acks the task", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			id := w.task(carol, "why?")
			w.claim(bob)
			reply := w.reply(bob, id, "because")
			from, to, _ := reply.Split()
			same(w, "from and to", []c3po.AgentID{from, to}, []c3po.AgentID{bob, carol})
			same(w, "inbox", w.inbox(carol), []string{"because"})
			entry := w.entry(id)
			same(w, "state", entry.State, c3po.StateAcked)
			same(w, "answers", entry.Facts.Answers[0].ID, reply)
			answers, err := w.store.Answers(w.ctx, w.space, id)
			w.must(err)
			same(w, "the answer", texts(answers), []string{"because"})
			same(w, "thread", answers[0].Message.Thread, entry.Message.Thread)
		}},
		{"another run of the claimer is superseded", nil, func(w *testStore) {
			w.enter(carol)
			w.joinAs(alice, "r1", "review")
			id := w.task(carol, "work")
			w.unchanged(func() {
				_, err := w.claimStep(store.ClaimStep{Agent: alice, Run: "r2"})
				w.refused(err, c3po.Superseded)
				_, err = w.store.AckClaimed(w.ctx, w.space, reviewers, alice, "r2", []c3po.MessageID{id})
				w.refused(err, c3po.Superseded)
				_, err = w.store.Inbox(w.ctx, w.space, reviewers, store.InboxQuery{Member: alice, Run: "r2", Limit: 1, Bytes: 1})
				w.refused(err, c3po.Superseded)
			})
		}},
		{"mail of a role expires and bounces, and its mailbox is shared out", sharedByTwo, func(w *testStore) {
			w.enter(carol)
			w.join(alice)
			id := w.task(carol, "one")
			w.task(carol, "two")
			step := letter(carol, reviewers, "three")
			step.Queue = true
			w.sendRefused(step, c3po.InboxFull)
			w.claim(alice)
			w.live(w.limits.MessageLife)
			due, err := w.store.DueMail(w.ctx, w.space, 10)
			w.must(err)
			same(w, "due", len(due), 2)
			w.bury(id)
			same(w, "late ack", w.ackClaimed(alice, id), []store.AckOutcome{store.AckAlready})
			same(w, "told", len(w.inbox(carol)), 1)
		}},
		{"pages of a role's mail leave out what others hold", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			for _, text := range []string{"1", "2", "3", "4", "5"} {
				w.task(carol, text)
			}
			for range 3 {
				claimed, err := w.claimStep(store.ClaimStep{Agent: bob, Reader: "s", Given: nil})
				w.must(err)
				w.must(w.store.WriteNotes(w.ctx, w.space, store.Notes{Served: []store.ServedNote{{ID: claimed.Entry.Message.ID, Reader: "s", At: w.now()}}}))
			}
			page := w.page(reviewers, store.InboxQuery{Member: alice, Limit: 1})
			same(w, "first page", texts(page.Entries), []string{"4"})
			page = w.page(reviewers, store.InboxQuery{Member: alice, Limit: 1, After: page.Next})
			same(w, "second page", texts(page.Entries), []string{"5"})
			same(w, "no third", page.Next, 0)
		}},
	}
}
