package storetest

import (
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// question asks a person, after which the asker waits for one.
func (w *testStore) question(from c3po.AgentID, text string, choices ...string) c3po.MessageID {
	w.Helper()
	step := letter(from, c3po.Human, text)
	step.Kind, step.Mailbox, step.PauseFrom, step.Choices = c3po.KindEscalation, true, c3po.PausedForHuman, choices
	return w.sendStep(step).Message.ID
}

func (w *testStore) personSays(id c3po.MessageID, text string) {
	w.Helper()
	step := answer(c3po.Human, id, text)
	step.ResumeTo = true
	_, err := w.store.Reply(w.ctx, w.space, step)
	w.must(err)
}

func (w *testStore) claimNotice(n store.Notice) bool {
	w.Helper()
	claimed, err := w.store.ClaimNotice(w.ctx, w.space, n)
	w.must(err)
	return claimed
}

func noticePromises() []promise {
	return []promise{
		{"a question keeps its choices", nil, func(w *testStore) {
			w.enter(bob)
			id := w.question(bob, "which?", "red", "green")
			same(w, "choices", w.entry(id).Message.Choices, []string{"red", "green"})
			step := letter(bob, c3po.Human, "which?")
			step.Mailbox, step.Kind, step.Choices = true, c3po.KindEscalation, []string{"red", "blue"}
			same(w, "with other choices it is another question", w.sendStep(step).Repeat, false)
		}},
		{"who has asked two questions waits until both are answered", nil, func(w *testStore) {
			w.enter(bob)
			first, second := w.question(bob, "may I?"), w.question(bob, "and then?")
			w.personSays(first, "yes")
			same(w, "after the first answer", w.record(bob).Paused, c3po.PausedForHuman)
			before := w.books().Seq
			w.personSays(second, "stop")
			same(w, "after the second", w.record(bob).Paused, "")
			same(w, "events", kinds(w.events(before)), []c3po.EventKind{c3po.EventAnswered, c3po.EventAcked, c3po.EventResumed})
		}},
		{"who withdraws its question no longer waits", nil, func(w *testStore) {
			w.enter(bob)
			id := w.question(bob, "may I?")
			before := w.books().Seq
			same(w, "outcome", w.cancel(bob, id).Outcome, c3po.CancelDone)
			same(w, "paused", w.record(bob).Paused, "")
			same(w, "events", kinds(w.events(before)), []c3po.EventKind{c3po.EventCancelled, c3po.EventResumed})
		}},
		{"who was resumed is not held by questions of before", nil, func(w *testStore) {
			w.enter(bob)
			w.question(bob, "may I?")
			w.must(w.store.SetPaused(w.ctx, w.space, bob, ""))
			again := w.question(bob, "and now?")
			same(w, "paused", w.record(bob).Paused, c3po.PausedForHuman)
			w.personSays(again, "yes")
			same(w, "answered", w.record(bob).Paused, "")
		}},
		{"a notice is taken on by one, and again after a pause that doubles", nil, func(w *testStore) {
			w.enter(bob)
			n := store.Notice{ID: w.question(bob, "may I?"), Channel: "ntfy"}
			for try := range 3 {
				same(w, "claimed", w.claimNotice(n), true)
				w.unchanged(func() { same(w, "by a second", w.claimNotice(n), false) })
				w.advance(store.NoticePause<<try - time.Second)
				same(w, "too soon", w.claimNotice(n), false)
				w.advance(time.Second)
			}
			same(w, "by another channel", w.claimNotice(store.Notice{ID: n.ID, Channel: "webhook"}), true)
			same(w, "that it is late", w.claimNotice(store.Notice{ID: n.ID, Channel: "ntfy", Late: true}), true)
		}},
		{"a notice that was sent is never taken on again", nil, func(w *testStore) {
			w.enter(bob)
			n := store.Notice{ID: w.question(bob, "may I?"), Channel: "ntfy"}
			w.unchanged(func() { w.must(w.store.NoticeSent(w.ctx, w.space, n)) })
			same(w, "claimed", w.claimNotice(n), true)
			until := w.now().Add(store.NoticePause)
			w.advance(time.Second)
			w.must(w.store.NoticeSent(w.ctx, w.space, n))
			w.unchanged(func() { w.must(w.store.NoticeSent(w.ctx, w.space, n)) })
			w.advance(24 * time.Hour)
			w.unchanged(func() { same(w, "claimed later", w.claimNotice(n), false) })
			same(w, "facts", w.entry(n.ID).Facts.Notices, []store.NoticeFact{{Notice: n, Tries: 1, Until: until, Sent: until.Add(time.Second - store.NoticePause)}})
		}},
		{"a notice is given up after so many tries, or when its question has ended", nil, func(w *testStore) {
			w.enter(bob)
			n := store.Notice{ID: w.question(bob, "may I?"), Channel: "ntfy"}
			for range store.NoticeTries {
				same(w, "claimed", w.claimNotice(n), true)
				w.advance(store.MaxNoticePause)
			}
			same(w, "once more", w.claimNotice(n), false)
			other := store.Notice{ID: w.question(bob, "or this?"), Channel: "ntfy"}
			w.personSays(other.ID, "no")
			w.unchanged(func() { same(w, "of an answered one", w.claimNotice(other), false) })
			w.unchanged(func() {
				same(w, "of none", w.claimNotice(store.Notice{ID: "a::human::00000000", Channel: "ntfy"}), false)
			})
		}},
	}
}
