package storetest

import (
	"fmt"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// pages reads an inbox to its end.
func (w *testStore) pages(owner c3po.AgentID, q store.InboxQuery) [][]string {
	w.Helper()
	var all [][]string
	for {
		page := w.page(owner, q)
		all = append(all, texts(page.Entries))
		if page.Next == 0 {
			return all
		}
		q.After = page.Next
	}
}

func inboxPromises() []promise {
	return []promise{
		{"mail is read in the order it was accepted", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.send(bob, alice, "one")
			w.send(carol, alice, "two")
			w.send(bob, alice, "three")
			same(w, "inbox", w.inbox(alice), []string{"one", "two", "three"})
		}},
		{"urgent mail is read first, each priority in order", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.send(bob, alice, "n1")
			w.sendStep(urgent(letter(bob, alice, "u1")))
			w.send(bob, alice, "n2")
			w.sendStep(urgent(letter(bob, alice, "u2")))
			same(w, "inbox", w.inbox(alice), []string{"u1", "u2", "n1", "n2"})
		}},
		{"reading changes nothing", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.send(bob, alice, "one")
			w.unchanged(func() {
				first := w.page(alice, store.InboxQuery{})
				same(w, "again", w.page(alice, store.InboxQuery{}), first)
			})
		}},
		{"a page says how much there is and at which number", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.fill(bob, alice, 3)
			page := w.page(alice, store.InboxQuery{Limit: 1})
			same(w, "count", page.Count, 3)
			same(w, "seq", page.Seq, w.books().Seq)
			same(w, "now", page.Now, w.now())
			empty := w.page(bob, store.InboxQuery{})
			same(w, "an empty one", empty, store.InboxPage{Seq: w.books().Seq, Now: w.now()})
		}},
		{"pages by count miss and repeat nothing", nil, func(w *testStore) {
			w.enter(alice, bob)
			for i := range 5 {
				w.send(bob, alice, fmt.Sprint("n", i))
			}
			w.sendStep(urgent(letter(bob, alice, "u")))
			same(w, "twos", w.pages(alice, store.InboxQuery{Limit: 2}), [][]string{{"u", "n0"}, {"n1", "n2"}, {"n3", "n4"}})
			same(w, "fives", w.pages(alice, store.InboxQuery{Limit: 5}), [][]string{{"u", "n0", "n1", "n2", "n3"}, {"n4"}})
			same(w, "all", len(w.pages(alice, store.InboxQuery{Limit: 6})), 1)
		}},
		{"pages end before they weigh too much, but have one message", nil, func(w *testStore) {
			w.enter(alice, bob)
			for _, text := range []string{"a", "b", "c"} {
				w.send(bob, alice, strings.Repeat(text, 100))
			}
			weight := weight(bob, alice, 100)
			sizes := func(bytes int) (n []int) {
				for _, page := range w.pages(alice, store.InboxQuery{Bytes: bytes}) {
					n = append(n, len(page))
				}
				return n
			}
			same(w, "two fit", sizes(2*weight), []int{2, 1})
			same(w, "two do not fit", sizes(2*weight-1), []int{1, 1, 1})
			same(w, "one does not fit", sizes(1), []int{1, 1, 1})
		}},
		{"a page goes on where the one before ended, whatever was acked or came", nil, func(w *testStore) {
			w.enter(alice, bob)
			ids := w.fill(bob, alice, 4)
			page := w.page(alice, store.InboxQuery{Limit: 2})
			w.ack(alice, ids[0], ids[1])
			w.send(bob, alice, "new")
			rest := w.page(alice, store.InboxQuery{After: page.Next})
			same(w, "the rest", len(rest.Entries), 3)
			same(w, "first", rest.Entries[0].Message.ID, ids[2])
		}},
		{"mail up to a number can be left out", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.sendStep(urgent(letter(bob, alice, "old and urgent")))
			mark := w.sendStep(letter(bob, alice, "old")).Message.Seq
			w.send(bob, alice, "n1")
			w.sendStep(urgent(letter(bob, alice, "u1")))
			w.send(bob, alice, "n2")
			same(w, "all", texts(w.page(alice, store.InboxQuery{MinSeq: mark}).Entries), []string{"u1", "n1", "n2"})
			same(w, "pages", w.pages(alice, store.InboxQuery{MinSeq: mark, Limit: 1}), [][]string{{"u1"}, {"n1"}, {"n2"}})
			same(w, "count", w.page(alice, store.InboxQuery{MinSeq: mark}).Count, 5)
			same(w, "none", w.page(alice, store.InboxQuery{MinSeq: w.books().Seq}).Entries, nil)
		}},
		{"only the holder reads an inbox", nil, func(w *testStore) {
			w.register(alice, "r1")
			_, err := w.store.Inbox(w.ctx, w.space, alice, store.InboxQuery{Run: "r2", Limit: 1, Bytes: 1})
			w.refused(err, c3po.Superseded)
			w.page(alice, store.InboxQuery{Run: "r1"})
			w.page(alice, store.InboxQuery{})
		}},
		{"the mail of one space is not in another", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(bob, alice, "here")
			_, err := w.store.Register(w.ctx, w.other, store.RegisterStep{Want: alice})
			w.must(err)
			page, err := w.store.Inbox(w.ctx, w.other, alice, store.InboxQuery{Limit: 10, Bytes: 1000})
			w.must(err)
			same(w, "count", page.Count, 0)
			entry, err := w.store.Message(w.ctx, w.other, id)
			w.must(err)
			if entry != nil {
				w.Errorf("%s is known in another space", id)
			}
			outcomes, err := w.store.Ack(w.ctx, w.other, alice, "", []c3po.MessageID{id})
			w.must(err)
			same(w, "ack", outcomes, []store.AckOutcome{store.AckUnknown})
		}},
	}
}

// serve notes that a reader was given messages.
func (w *testStore) serve(reader string, ids ...c3po.MessageID) {
	w.Helper()
	var n store.Notes
	for _, id := range ids {
		n.Served = append(n.Served, store.ServedNote{ID: id, Reader: reader, Route: "mcp", At: w.now()})
	}
	w.notes(n)
}

func nextPromises() []promise {
	return []promise{
		{"the next message is the first a reader was not given", nil, func(w *testStore) {
			w.enter(alice, bob)
			one, two := w.send(bob, alice, "one"), w.send(bob, alice, "two")
			expect := func(reader, want string) {
				w.Helper()
				got, _ := w.next(alice, store.NextQuery{Reader: reader})
				same(w, "next of "+reader, got, want)
			}
			expect("s1", "one")
			expect("s1", "one")
			w.serve("s1", one)
			expect("s1", "two")
			expect("s2", "one")
			w.serve("s1", two)
			expect("s1", "")
			w.ack(alice, one)
			expect("s2", "two")
		}},
		{"what a node gave but has not noted is not given again", nil, func(w *testStore) {
			w.enter(alice, bob)
			one, two := w.send(bob, alice, "one"), w.send(bob, alice, "two")
			text, seq := w.next(alice, store.NextQuery{Reader: "s1", Given: []c3po.MessageID{one}})
			same(w, "next", text, "two")
			same(w, "seq", seq, w.books().Seq)
			text, _ = w.next(alice, store.NextQuery{Reader: "s1", Given: []c3po.MessageID{two, one}})
			same(w, "next", text, "")
		}},
		{"what was served with a later place than the reader says it has is given again", nil, func(w *testStore) {
			w.enter(alice, bob)
			one := w.sendStep(letter(bob, alice, "one")).Message
			w.notes(store.Notes{Served: []store.ServedNote{{ID: one.ID, Reader: "s1", Cursor: one.Seq, At: one.Timestamp}}})
			expect := func(q store.NextQuery, want string) {
				w.Helper()
				q.Reader = "s1"
				got, _ := w.next(alice, q)
				same(w, "next", got, want)
			}
			expect(store.NextQuery{}, "")
			expect(store.NextQuery{Positioned: true, MinSeq: one.Seq - 1}, "one")
			expect(store.NextQuery{Positioned: true, MinSeq: one.Seq}, "")
			two := w.sendStep(letter(bob, alice, "two")).Message
			w.notes(store.Notes{Served: []store.ServedNote{{ID: two.ID, Reader: "s1", Cursor: one.Seq, At: two.Timestamp}}})
			expect(store.NextQuery{Positioned: true, MinSeq: one.Seq}, "") // it was served with just this place
		}},
		{"the next message is urgent before it is old", nil, func(w *testStore) {
			w.enter(alice, bob)
			old := w.sendStep(letter(bob, alice, "old")).Message
			w.sendStep(urgent(letter(bob, alice, "urgent")))
			text, seq := w.next(alice, store.NextQuery{Reader: "s1"})
			same(w, "next", text, "urgent")
			same(w, "everything before the old one was given", seq, old.Seq-1)
			w.ack(alice, old.ID)
			second := w.sendStep(urgent(letter(bob, alice, "urgent too"))).Message
			w.send(bob, alice, "normal")
			_, seq = w.next(alice, store.NextQuery{Reader: "s1"})
			same(w, "everything before the second urgent one was given", seq, second.Seq-1)
		}},
		{"the number says up to where a reader was given everything", nil, func(w *testStore) {
			w.enter(alice, bob)
			one := w.sendStep(letter(bob, alice, "one")).Message
			two := w.sendStep(letter(bob, alice, "two")).Message
			w.sendStep(letter(bob, alice, "three"))
			_, seq := w.next(alice, store.NextQuery{Reader: "s1"})
			same(w, "with one given", seq, two.Seq-1)
			w.serve("s1", one.ID, two.ID)
			_, seq = w.next(alice, store.NextQuery{Reader: "s1"})
			same(w, "with all given", seq, w.books().Seq)
			w.send(alice, bob, "elsewhere")
			_, seq = w.next(alice, store.NextQuery{Reader: "s1", MinSeq: two.Seq + 1})
			same(w, "with nothing left", seq, w.books().Seq)
		}},
		{"the next message can leave replies out, which are then not given", nil, func(w *testStore) {
			w.enter(alice, bob)
			question := w.send(alice, bob, "why?")
			w.reply(bob, question, "because")
			reply := w.page(alice, store.InboxQuery{}).Entries[0].Message
			w.send(bob, alice, "by the way")
			text, seq := w.next(alice, store.NextQuery{Reader: "s1", Incoming: true})
			same(w, "next", text, "by the way")
			same(w, "seq", seq, reply.Seq-1)
			text, _ = w.next(alice, store.NextQuery{Reader: "s1"})
			same(w, "with replies", text, "because")
		}},
		{"the next message comes after a number", nil, func(w *testStore) {
			w.enter(alice, bob)
			one := w.sendStep(urgent(letter(bob, alice, "one"))).Message
			w.send(bob, alice, "two")
			text, _ := w.next(alice, store.NextQuery{Reader: "s1", MinSeq: one.Seq})
			same(w, "next", text, "two")
			text, _ = w.next(alice, store.NextQuery{Reader: "s1", MinSeq: w.books().Seq})
			same(w, "nothing", text, "")
		}},
		{"the next message is found behind many that were given", func(l *c3po.Limits) { l.InboxMessages, l.InboxBytes, l.SenderShare = 300, 1<<20, 1 }, func(w *testStore) {
			w.enter(alice, bob)
			ids := w.fill(bob, alice, 150)
			w.serve("s1", ids...)
			w.send(bob, alice, "news")
			next, err := w.store.Next(w.ctx, w.space, alice, store.NextQuery{Reader: "s1"})
			w.must(err)
			same(w, "next", next.Entry.Message.Message, "news")
			same(w, "count", next.Count, 151)
			same(w, "seq", next.Seq, w.books().Seq)
		}},
		{"only the holder is given the next message", nil, func(w *testStore) {
			w.register(alice, "r1")
			_, err := w.store.Next(w.ctx, w.space, alice, store.NextQuery{Run: "r2", Reader: "s1"})
			w.refused(err, c3po.Superseded)
		}},
	}
}
