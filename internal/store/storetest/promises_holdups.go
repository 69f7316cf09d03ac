package storetest

import (
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// outOfQuota says so for an agent, or with 0 that it is not.
func (w *testStore) outOfQuota(id c3po.AgentID, length time.Duration) {
	w.Helper()
	w.must(w.store.SetQuota(w.ctx, w.space, store.QuotaStep{Agent: id, For: length, Exact: true, Evidence: "resets 3pm"}))
}

// quotaOf is what its record says.
func (w *testStore) quotaOf(id c3po.AgentID) *c3po.OutOfQuota {
	w.Helper()
	records, err := w.store.Agents(w.ctx, w.space, []c3po.AgentID{id})
	w.must(err)
	return records[0].OutOfQuota
}

// heldUp says that an agent does not go on with a message, and that its sender is to be
// told.
func (w *testStore) heldUp(agent c3po.AgentID, id c3po.MessageID, why store.HoldUpReason) store.HeldUp {
	w.Helper()
	from, _, _ := id.Split()
	done, err := w.store.HoldUp(w.ctx, w.space, store.HoldUpStep{Agent: agent, ID: id, Why: why, To: from, Notice: "held up: " + string(why), Durability: c3po.OnDisk})
	w.must(err)
	return done
}

func holdUpPromises() []promise {
	return []promise{
		{"an agent is out of quota until the time it named, or says that it is not", nil, func(w *testStore) {
			w.enter(alice, bob)
			said := w.now()
			w.outOfQuota(bob, 30*time.Second)
			want := &c3po.OutOfQuota{Until: said.Add(30 * time.Second), Since: said, Exact: true, Evidence: "resets 3pm"}
			same(w, "record", w.quotaOf(bob), want)
			same(w, "receipt", w.sendStep(letter(alice, bob, "why?")).Recipient.OutOfQuota, want)
			same(w, "another", w.quotaOf(alice), nil)
			w.advance(30*time.Second - time.Millisecond)
			same(w, "just before", w.quotaOf(bob), want)
			w.advance(time.Millisecond)
			same(w, "then", w.quotaOf(bob), nil)
			w.outOfQuota(bob, time.Hour)
			w.outOfQuota(bob, 0)
			same(w, "taken back", w.quotaOf(bob), nil)
		}},
		{"only the run that holds an agent says that it is out of quota, and the next one is not", nil, func(w *testStore) {
			w.joinAs(bob, "r1")
			w.must(w.store.SetQuota(w.ctx, w.space, store.QuotaStep{Agent: bob, Run: "r1", For: time.Hour}))
			w.refused(w.store.SetQuota(w.ctx, w.space, store.QuotaStep{Agent: bob, Run: "r2"}), c3po.Superseded)
			w.refused(w.store.SetQuota(w.ctx, w.space, store.QuotaStep{Agent: "nobody", For: time.Hour}), c3po.AgentNotFound)
			_, err := w.store.Unregister(w.ctx, w.space, bob, "r1", "")
			w.must(err)
			same(w, "after its session", w.quotaOf(bob) != nil, true)
			w.joinAs(bob, "r2")
			same(w, "the next run", w.quotaOf(bob), nil)
		}},
		{"who asked hears of each reason once, and a stall ends when the agent goes on", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(alice, bob, "why?")
			w.advance(time.Second)
			same(w, "quota", w.heldUp(bob, id, store.HeldUpByQuota), store.HeldUp{Changed: true, Told: true})
			same(w, "not stalled", w.entry(id).Facts.Stalled, time.Time{})
			same(w, "stalled", w.heldUp(bob, id, store.Stalled), store.HeldUp{Changed: true, Told: true})
			same(w, "since", w.entry(id).Facts.Stalled, w.now())
			w.unchanged(func() {
				for _, why := range []store.HoldUpReason{store.HeldUpByQuota, store.Stalled} {
					same(w, "again", w.heldUp(bob, id, why), store.HeldUp{})
				}
			})
			same(w, "goes on", w.heldUp(bob, id, store.GoesOn), store.HeldUp{Changed: true})
			same(w, "no longer", w.entry(id).Facts.Stalled, time.Time{})
			w.unchanged(func() { same(w, "goes on again", w.heldUp(bob, id, store.GoesOn), store.HeldUp{}) })
			same(w, "stalls again", w.heldUp(bob, id, store.Stalled), store.HeldUp{Changed: true})
			same(w, "inbox", w.inbox(alice), []string{"held up: quota", "held up: stalled"})
			notice := w.page(alice, store.InboxQuery{}).Entries[0].Message
			same(w, "about", notice.MessageID, id)
			same(w, "from", notice.FromAgent, c3po.System)
		}},
		{"a role's message whose holder is held up is shown to the others anew, and is theirs", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			id := w.task(carol, "first")
			same(w, "alice", w.claim(alice), "first")
			seen := w.books().Seq
			same(w, "held", w.shown(bob), nil)
			same(w, "released", w.heldUp(alice, id, store.HeldUpByQuota).Changed, true)
			event := w.events(seen)[0]
			same(w, "event", event.Kind, c3po.EventReleased)
			same(w, "whose waiters", event.Agent, reviewers)
			since := texts(w.page(reviewers, store.InboxQuery{Member: bob, MinSeq: seen}).Entries)
			same(w, "as news", since, []string{"first"})
			since = texts(w.page(reviewers, store.InboxQuery{Member: bob, MinSeq: w.books().Seq}).Entries)
			same(w, "once", since, nil)
			same(w, "bob", w.claim(bob), "first")
			same(w, "alice acks", w.ackClaimed(alice, id), []store.AckOutcome{store.AckStale})
			w.unchanged(func() { same(w, "not hers", w.heldUp(alice, id, store.Stalled), store.HeldUp{}) })
			same(w, "bob acks", w.ackClaimed(bob, id), []store.AckOutcome{store.AckDone})
		}},
		{"a role's message that stalled is no longer stalled once another claims it", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			id := w.task(carol, "first")
			same(w, "alice", w.claim(alice), "first")
			same(w, "stalled", w.heldUp(alice, id, store.Stalled).Changed, true)
			same(w, "since", w.entry(id).Facts.Stalled, w.now())
			same(w, "bob", w.claim(bob), "first")
			same(w, "since then", w.entry(id).Facts.Stalled, time.Time{})
		}},
		{"a member may answer a role's message that was released without claiming it, and nobody after", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			id := w.task(carol, "first")
			same(w, "alice", w.claim(alice), "first")
			w.heldUp(alice, id, store.HeldUpByQuota)
			w.reply(bob, id, "done")
			same(w, "whose it is", w.entry(id).Facts.Claim.By, bob)
			_, err := w.store.Reply(w.ctx, w.space, answer(alice, id, "late"))
			w.refused(err, c3po.Forbidden)
		}},
		{"who goes on with a role's message that nobody took has it again", nil, func(w *testStore) {
			w.enter(carol)
			w.join(alice, bob)
			id := w.task(carol, "first")
			same(w, "alice", w.claim(alice), "first")
			w.heldUp(alice, id, store.Stalled)
			same(w, "offered", w.shown(bob), []string{"first"})
			same(w, "goes on", w.heldUp(alice, id, store.GoesOn).Changed, true)
			same(w, "held", w.shown(bob), nil)
			w.refused(w.claimOne(bob, id), c3po.Forbidden)
			same(w, "alice acks", w.ackClaimed(alice, id), []store.AckOutcome{store.AckDone})
		}},
		{"nothing is recorded of a message that was dealt with, or of somebody else's", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			told, answered, cancelled, lost := w.tell(alice, bob, "so"), w.send(alice, bob, "why?"), w.send(alice, bob, "how?"), w.send(alice, bob, "lost")
			another := w.send(alice, carol, "who?")
			w.reply(bob, answered, "because")
			w.cancel(alice, cancelled)
			w.bury(lost)
			w.unchanged(func() {
				for _, id := range []c3po.MessageID{told, answered, cancelled, lost, another, "box/alice::box/bob::00000000"} {
					same(w, "said of "+string(id), w.heldUp(bob, id, store.Stalled), store.HeldUp{})
				}
			})
		}},
	}
}
