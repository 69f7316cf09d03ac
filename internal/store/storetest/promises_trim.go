package storetest

import (
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

func (w *testStore) trim(limit int) int {
	w.Helper()
	forgotten, err := w.store.Trim(w.ctx, w.space, limit)
	w.must(err)
	return forgotten
}

func (w *testStore) known(ids ...c3po.MessageID) (known []bool) {
	w.Helper()
	for _, id := range ids {
		known = append(known, w.message(id) != nil)
	}
	return known
}

// keySent sends with a key that is forgotten when the test says so, unlike
// what a store keeps of drafts without one.
func (w *testStore) keySent(from, to c3po.AgentID, text string) c3po.MessageID {
	w.Helper()
	return w.sendStep(keyed(letter(from, to, text), "key of "+text)).Message.ID
}

// fourEnded lets 4 messages of 100 bytes fit the budget of ended mail.
func fourEnded(l *c3po.Limits) { l.EndedBytes = 4 * endedWeight(100) }

// endedWeight is what an ordinary message weighs once it has ended.
func endedWeight(length int) int {
	step := letter(bob, alice, strings.Repeat("x", length))
	return step.Bytes() - step.KeyBytes()
}

func trimPromises() []promise {
	return []promise{
		{"ended messages are forgotten after their life, pending ones never", nil, func(w *testStore) {
			w.enter(alice, bob)
			acked, pending := w.send(bob, alice, "acked"), w.send(bob, alice, "pending")
			w.ack(alice, acked)
			w.live(w.limits.EndedLife - time.Minute)
			w.trim(100)
			same(w, "before", w.known(acked, pending), []bool{true, true})
			w.live(time.Minute)
			w.trim(100)
			same(w, "after", w.known(acked, pending), []bool{false, true})
			thread, err := w.store.Thread(w.ctx, w.space, string(acked), 0, 10)
			w.must(err)
			same(w, "its thread", len(thread), 0)
		}},
		{"a clock jump forgets nothing", nil, func(w *testStore) {
			w.enter(alice, bob)
			acked, dead := w.keySent(bob, alice, "acked"), w.keySent(bob, alice, "dead")
			w.ack(alice, acked)
			w.bury(dead)
			w.tick(time.Minute)
			w.advance(w.limits.DeadLife * 2)
			w.tick(time.Minute)
			same(w, "forgotten", w.trim(100), 0)
			same(w, "known", w.known(acked, dead), []bool{true, true})
		}},
		{"dead letters live longer than ended mail", nil, func(w *testStore) {
			w.enter(alice, bob)
			dead := w.send(bob, alice, "dead")
			w.bury(dead)
			w.live(w.limits.DeadLife - time.Minute)
			w.trim(100)
			same(w, "before", len(w.letters(0, 10)), 1)
			w.live(time.Minute)
			w.trim(100)
			same(w, "after", len(w.letters(0, 10)), 0)
			same(w, "known", w.known(dead), []bool{false})
		}},
		{"trimming forgets so many at a time and says how many", func(l *c3po.Limits) { l.KeyLife = l.DeadLife * 2 }, func(w *testStore) {
			w.enter(alice, bob)
			var acked, dead []c3po.MessageID
			for _, n := range []string{"1", "2", "3"} {
				acked = append(acked, w.keySent(bob, alice, "acked "+n))
				dead = append(dead, w.keySent(bob, alice, "dead "+n))
			}
			w.ack(alice, acked...)
			for _, id := range dead {
				w.bury(id)
			}
			w.live(w.limits.DeadLife)
			same(w, "two of each", w.trim(2), 4)
			same(w, "oldest first", w.known(acked...), []bool{false, false, true})
			same(w, "oldest first", w.known(dead...), []bool{false, false, true})
			same(w, "the rest", w.trim(2), 2)
			same(w, "nothing left", w.trim(2), 0)
		}},
		{"the books do not lose what is forgotten", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.ack(alice, w.fill(bob, alice, 3)...)
			w.bury(w.send(bob, alice, "dead"))
			w.live(w.limits.DeadLife)
			before := w.books()
			w.trim(100)
			before.EndedBytes = 0
			same(w, "books", w.books(), before)
		}},
		{"old keys are forgotten", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.keySent(bob, alice, "one")
			w.keySent(bob, alice, "two")
			w.live(w.limits.KeyLife)
			w.keySent(bob, alice, "three")
			same(w, "one at a time", w.trim(1), 1)
			same(w, "the other", w.trim(10), 1)
			same(w, "not the new one", w.trim(10), 0)
		}},
		{"ended mail beyond the budget is forgotten by who acks, oldest first", fourEnded, func(w *testStore) {
			w.enter(alice, bob)
			var ids []c3po.MessageID
			for _, text := range []string{"a", "b", "c", "d", "e", "f"} {
				ids = append(ids, w.send(bob, alice, strings.Repeat(text, 100)))
			}
			w.ack(alice, ids[1], ids[0], ids[2], ids[3])
			same(w, "all fit", w.known(ids...), []bool{true, true, true, true, true, true})
			w.ack(alice, ids[4])
			same(w, "the first that ended went", w.known(ids...), []bool{true, false, true, true, true, true})
			w.reply(alice, ids[5], "yes")
			same(w, "and the next", w.known(ids...), []bool{false, false, true, true, true, true})
			same(w, "bytes", w.books().EndedBytes, int64(w.limits.EndedBytes))
		}},
		{"who acks pays with at most two of its own", fourEnded, func(w *testStore) {
			w.enter(alice, bob, carol)
			var of []c3po.MessageID
			for _, text := range []string{"a", "b", "c", "d"} {
				of = append(of, w.send(bob, alice, strings.Repeat(text, 100)))
			}
			big := w.send(bob, carol, strings.Repeat("x", 2000))
			w.ack(alice, of...)
			w.ack(carol, big)
			same(w, "only its own", w.known(append(of, big)...), []bool{true, true, true, true, false})
			last := w.send(bob, alice, strings.Repeat("y", 1400))
			w.ack(alice, last)
			same(w, "at most two", w.known(append(of, last)...), []bool{false, false, true, true, true})
		}},
		{"trimming brings ended mail under its budget, the oldest of all agents first", fourEnded, func(w *testStore) {
			w.enter(alice, bob, carol)
			oldest := w.send(bob, carol, strings.Repeat("c", 100))
			w.ack(carol, oldest)
			var own []c3po.MessageID
			for _, text := range []string{"1", "2", "3"} {
				own = append(own, w.send(bob, alice, strings.Repeat(text, 100)))
			}
			w.ack(alice, own...)
			big := w.send(bob, alice, strings.Repeat("x", 1400))
			w.ack(alice, big)
			same(w, "the acker paid with two", w.known(own...), []bool{false, false, true})
			same(w, "forgotten", w.trim(100), 1)
			same(w, "the oldest went", w.known(oldest, own[2], big), []bool{false, true, true})
			same(w, "bytes", w.books().EndedBytes, int64(endedWeight(100)+endedWeight(1400)))
		}},
	}
}
