package storetest

import (
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (w *testStore) tick(interval time.Duration) int64 {
	w.Helper()
	return w.pulse("", interval).Lived
}

func (w *testStore) pulse(node string, interval time.Duration) store.Pulse {
	w.Helper()
	pulse, err := w.store.Tick(w.ctx, w.space, node, interval)
	w.must(err)
	return pulse
}

// idle trims until nothing is left to forget.
func (w *testStore) idle() {
	w.Helper()
	for w.trim(100) > 0 {
	}
}

// isDue says whether there is something to do after so much more lived time.
func (w *testStore) isDue(after time.Duration) bool {
	w.Helper()
	w.live(after)
	return w.pulse("", time.Minute).Due
}

func (w *testStore) due() []store.Due {
	w.Helper()
	due, err := w.store.DueMail(w.ctx, w.space, 100)
	w.must(err)
	return due
}

func (w *testStore) letters(after int64, limit int) []store.DeadLetter {
	w.Helper()
	letters, err := w.store.DeadLetters(w.ctx, w.space, after, limit)
	w.must(err)
	return letters
}

func reaperPromises() []promise {
	return []promise{
		{"lived time is what passes between ticks", nil, func(w *testStore) {
			same(w, "the first tick", w.tick(time.Minute), 0)
			w.advance(time.Minute)
			same(w, "a minute", w.tick(time.Minute), 60)
			w.advance(45 * time.Second)
			same(w, "a little less", w.tick(time.Minute), 105)
			same(w, "in the books", w.books().Lived, 105)
		}},
		{"a tick that comes too soon changes nothing", nil, func(w *testStore) {
			w.tick(time.Minute)
			w.advance(29 * time.Second)
			same(w, "too soon", w.tick(time.Minute), 0)
			w.advance(time.Second)
			same(w, "nothing was lost by it", w.tick(time.Minute), 30)
		}},
		{"parts of a second are not lost", nil, func(w *testStore) {
			w.tick(time.Second)
			for range 4 {
				w.advance(1500 * time.Millisecond)
				w.tick(time.Second)
			}
			same(w, "lived", w.books().Lived, 6)
		}},
		{"a clock that jumps forward or a laptop that slept lives two intervals", nil, func(w *testStore) {
			w.tick(time.Minute)
			w.advance(time.Hour)
			same(w, "lived", w.tick(time.Minute), 120)
		}},
		{"a clock that is set back takes nothing and stops nothing", nil, func(w *testStore) {
			w.tick(time.Minute)
			w.advance(time.Minute)
			w.tick(time.Minute)
			w.advance(-2 * time.Hour)
			same(w, "nothing taken", w.tick(time.Minute), 60)
			w.advance(time.Minute)
			same(w, "it goes on", w.tick(time.Minute), 120)
		}},
		{"one node wins a tick, and keeps what it has won until another's counts", nil, func(w *testStore) {
			same(w, "the first", w.pulse("one", time.Minute).Won, true)
			same(w, "another, at once", w.pulse("two", time.Minute).Won, false)
			w.advance(29 * time.Second)
			same(w, "another, too soon", w.pulse("two", time.Minute).Won, false)
			same(w, "the first again", w.pulse("one", time.Minute).Won, true)
			w.advance(time.Second)
			same(w, "another, in time", w.pulse("two", time.Minute).Won, true)
			same(w, "the first, too late", w.pulse("one", time.Minute).Won, false)
			w.advance(-time.Hour)
			same(w, "after the clock was set back", w.pulse("one", time.Minute).Won, true)
		}},
		{"one node reaps at a time, and another follows when its term is over", nil, func(w *testStore) {
			reaper := func(node string, length time.Duration) time.Duration {
				w.Helper()
				another, err := w.store.Reaper(w.ctx, node, length)
				w.must(err)
				return another
			}
			// What an earlier test on the same engine was given is long over.
			w.advance(time.Duration(len(w.space)) * 24 * time.Hour)
			one, two := "one of "+string(w.space), "two of "+string(w.space)
			for reaper(one, time.Minute) > 0 {
				w.advance(time.Hour)
			}
			same(w, "another", reaper(two, time.Minute) > 0, true)
			w.advance(40 * time.Second)
			same(w, "the same again", reaper(one, time.Minute), 0)
			w.advance(40 * time.Second)
			same(w, "renewed", reaper(two, time.Minute), 20*time.Second)
			w.advance(20 * time.Second)
			same(w, "over", reaper(two, time.Minute), 0)
			same(w, "the first, late", reaper(one, time.Minute), time.Minute)
			same(w, "nobody gives up what is another's", reaper(one, 0), time.Minute)
			same(w, "given up", reaper(two, 0), 0)
			same(w, "and taken", reaper(one, time.Minute), 0)
			w.advance(-time.Hour)
			same(w, "a clock that was set back keeps nobody from it", reaper(two, time.Minute), 0)
			same(w, "given up", reaper(two, 0), 0)
		}},
		{"a space where nothing happens has nothing due", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.ack(alice, w.send(bob, alice, "hi"))
			same(w, "new", w.isDue(0), true)
			w.idle()
			same(w, "seen to", w.isDue(0), false)
			same(w, "soon after", w.isDue(30*time.Minute), false)
			same(w, "a sweep", w.isDue(31*time.Minute), true)
			w.idle()
			same(w, "seen to", w.isDue(0), false)
			same(w, "nobody else is told", w.pulse("another", time.Minute), store.Pulse{Lived: w.books().Lived})
		}},
		{"whatever can become due makes its space due in time", func(l *c3po.Limits) { l.RetireAfter, l.MessageLife = 0, 20*time.Hour }, func(w *testStore) {
			l := w.limits
			for _, test := range []struct {
				what  string
				life  time.Duration
				begin func()
			}{
				{"unread mail", l.MessageLife, func() { w.send(bob, alice, "unread") }},
				{"a key", l.KeyLife, func() { w.ack(alice, w.keySent(bob, alice, "keyed")) }},
				{"ended mail", l.EndedLife, func() { w.ack(alice, w.send(bob, alice, "ended")) }},
				{"a deadline", 10 * time.Minute, func() {
					step := letter(bob, alice, "soon")
					step.Within = 10 * time.Minute
					w.sendStep(step)
				}},
			} {
				w.space = freshSpace()
				w.enter(alice, bob)
				test.begin()
				w.live(test.life - time.Minute)
				w.idle()
				same(w, test.what+", a minute before", w.pulse("", time.Minute).Due, false)
				same(w, test.what+", in time", w.isDue(time.Minute), true)
			}
			w.space = freshSpace()
			w.enter(alice, bob)
			id := w.send(bob, alice, "removed")
			w.idle()
			same(w, "a letter, before", w.isDue(0), false)
			_, err := w.store.Bury(w.ctx, w.space, id, c3po.ReasonRecipientRemoved, "gone")
			w.must(err)
			same(w, "a letter that comes back", w.isDue(0), true)
		}},
		{"a silent agent makes its space due", nil, func(w *testStore) {
			w.enter(alice)
			for range int(w.limits.RetireAfter/time.Hour) - 1 {
				w.live(time.Hour)
				w.idle()
			}
			same(w, "not yet", w.pulse("", time.Minute).Due, false)
			same(w, "in time", w.isDue(time.Hour), true)
			w.idle()
			same(w, "until it was seen to", w.pulse("", time.Minute).Due, true)
		}},
		{"mail is due when it has outlived its life, and not by a clock jump", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(bob, alice, "hi")
			w.tick(time.Minute)
			w.advance(w.limits.MessageLife * 2)
			w.tick(time.Minute)
			w.advance(-w.limits.MessageLife)
			w.tick(time.Minute)
			same(w, "after jumps", w.due(), nil)
			w.live(w.limits.MessageLife - 3*time.Minute)
			same(w, "before its time", w.due(), nil)
			w.live(time.Minute)
			same(w, "at its time", w.due(), []store.Due{{ID: id, From: bob}})
		}},
		{"due mail comes oldest first, and none that has ended", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			one := w.send(bob, alice, "one")
			acked := w.send(bob, carol, "acked")
			w.live(time.Minute)
			two := w.send(alice, bob, "two")
			w.ack(carol, acked)
			w.live(w.limits.MessageLife)
			same(w, "due", w.due(), []store.Due{{ID: one, From: bob}, {ID: two, From: alice}})
			some, err := w.store.DueMail(w.ctx, w.space, 1)
			w.must(err)
			same(w, "at most", some, []store.Due{{ID: one, From: bob}})
			w.bury(one)
			same(w, "the buried one is due no more", w.due(), []store.Due{{ID: two, From: alice}})
		}},
		{"a buried message is a dead letter with its reason, and its sender is told once", nil, func(w *testStore) {
			w.enter(alice, bob)
			m := w.sendStep(letter(bob, alice, "hi")).Message
			w.advance(time.Second)
			w.bury(m.ID)
			same(w, "inbox", w.inbox(alice), nil)
			dead := w.entry(m.ID)
			same(w, "state", dead.State, c3po.StateDead)
			same(w, "reason", dead.Reason, c3po.ReasonExpired)
			same(w, "ended", dead.Facts.Ended, w.now())
			same(w, "text", dead.Message.Message, "hi")
			same(w, "letters", w.letters(0, 10), []store.DeadLetter{{Entry: dead, Seq: m.Seq + 1, At: w.now()}})

			bounces := w.page(bob, store.InboxQuery{}).Entries
			same(w, "bounces", len(bounces), 1)
			durability, err := w.store.Durability(w.ctx)
			w.must(err)
			want := store.Entry{
				Message: c3po.Message{
					ID: bounces[0].Message.ID, MessageID: m.ID, FromAgent: c3po.System, ToAgent: bob, Kind: c3po.KindBounce,
					Message: "it was not read", Timestamp: w.now(), Thread: m.Thread, Priority: c3po.Normal, Seq: m.Seq + 2,
				},
				State: c3po.StatePending,
				Facts: store.Facts{
					Accepted: w.now(), Durability: durability, Bytes: store.Draft{From: c3po.System, To: bob, Text: "it was not read"}.Bytes(),
					Expires: int64(w.limits.MessageLife / time.Second),
				},
			}
			same(w, "bounce", bounces[0], want)
		}},
		{"burying twice, or what is not there, does nothing", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(bob, alice, "hi")
			w.bury(id)
			w.unchanged(func() {
				for _, id := range []c3po.MessageID{id, "box/bob::alice::00000000"} {
					buried, err := w.store.Bury(w.ctx, w.space, id, c3po.ReasonExpired, "again")
					w.must(err)
					same(w, "buried", buried, false)
				}
			})
		}},
		{"a bounce expires without a bounce", nil, func(w *testStore) {
			// Even if its sender could get one.
			w.enter(alice, bob, c3po.System)
			w.bury(w.send(bob, alice, "hi"))
			w.live(w.limits.MessageLife)
			bounce := w.due()
			same(w, "due", len(bounce), 1)
			before := w.books().Sent
			w.bury(bounce[0].ID)
			same(w, "sent", w.books().Sent, before)
			same(w, "letters", len(w.letters(0, 10)), 2)
		}},
		{"a sender that is not registered gets no bounce", nil, func(w *testStore) {
			w.enter(alice)
			w.bury(w.send(c3po.Human, alice, "hi"))
			same(w, "sent", w.books().Sent, 1)
			same(w, "inbox", w.inbox(c3po.Human), nil)
		}},
		{"dead letters are read in pages, in the order they died", nil, func(w *testStore) {
			w.enter(alice, bob)
			ids := w.fill(bob, alice, 3)
			for _, i := range []int{2, 0, 1} {
				w.bury(ids[i])
			}
			var read []c3po.MessageID
			var after int64
			for {
				page := w.letters(after, 2)
				if len(page) == 0 {
					break
				}
				for _, l := range page {
					read, after = append(read, l.Entry.Message.ID), l.Seq
				}
			}
			same(w, "letters", read, []c3po.MessageID{ids[2], ids[0], ids[1]})
		}},
		{"sent is pending and acked and dead, whatever happens", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			ids := w.fill(bob, alice, 5)
			w.ack(alice, ids[0], ids[1])
			w.reply(alice, ids[2], "yes")
			w.bury(ids[3])
			w.sendStep(keyed(letter(carol, alice, "hi"), "k"))
			w.sendStep(keyed(letter(carol, alice, "hi"), "k"))
			_, err := w.store.Send(w.ctx, w.space, letter(bob, "nobody", "hi"))
			w.refused(err, c3po.AgentNotFound)
			books := w.books()
			same(w, "books", books, store.Counters{
				Sent: 8, Pending: 4, Acked: 3, Dead: 1, Agents: 3, EndedBytes: books.EndedBytes, PendingBytes: books.PendingBytes, Seq: books.Seq,
			})
			found := 0
			owners := []c3po.AgentID{alice, bob, carol}
			sizes, err := w.store.InboxSizes(w.ctx, w.space, owners)
			w.must(err)
			for i, id := range owners {
				n, err := w.store.InboxSize(w.ctx, w.space, id)
				w.must(err)
				same(w, "inbox of "+string(id), n, len(w.inbox(id)))
				same(w, "inbox of "+string(id)+" among others", sizes[i], n)
				found += n
			}
			same(w, "found pending", int64(found), books.Pending)
		}},
		{"every space that was written to is listed, in order", nil, func(w *testStore) {
			w.enter(alice)
			_, err := w.store.Register(w.ctx, w.other, store.RegisterStep{Want: alice})
			w.must(err)
			spaces, err := w.store.Spaces(w.ctx)
			w.must(err)
			for _, space := range []c3po.Space{w.space, w.other} {
				if !slices.Contains(spaces, space) {
					w.Errorf("%s is not among %v", space, spaces)
				}
			}
			if !slices.IsSorted(spaces) {
				w.Errorf("not sorted: %v", spaces)
			}
		}},
	}
}
