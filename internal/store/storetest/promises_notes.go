package storetest

import (
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func notePromises() []promise {
	return []promise{
		{"who was served a message is kept by reader", nil, func(w *testStore) {
			w.enter(alice, bob)
			id, first := w.send(bob, alice, "hello"), w.now()
			w.notes(store.Notes{Served: []store.ServedNote{{ID: id, Reader: "s1", Route: "mcp", At: first}}})
			w.advance(time.Second)
			w.notes(store.Notes{Served: []store.ServedNote{
				{ID: id, Reader: "s1", Route: "rest", At: w.now()}, {ID: id, Reader: "s2", Route: "mcp", At: w.now()},
			}})
			same(w, "served", w.entry(id).Facts.Served, []store.ServedFact{
				{Reader: "s1", Route: "rest", First: first, Last: w.now(), Times: 2},
				{Reader: "s2", Route: "mcp", First: w.now(), Last: w.now(), Times: 1},
			})
		}},
		{"a note that is written twice counts once", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(bob, alice, "hello")
			note := store.Notes{Served: []store.ServedNote{{ID: id, Reader: "s1", Route: "mcp", At: w.now()}}}
			w.notes(note)
			w.notes(note)
			same(w, "times", w.entry(id).Facts.Served[0].Times, 1)
		}},
		{"eight readers of a message are kept", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(bob, alice, "hello")
			for n := range 10 {
				w.notes(store.Notes{Served: []store.ServedNote{{ID: id, Reader: fmt.Sprint("s", n), Route: "mcp", At: w.now()}}})
			}
			same(w, "readers", len(w.entry(id).Facts.Served), store.MaxServedReaders)
		}},
		{"a note does not ack, and one about a message that is gone is dropped", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.tell(bob, alice, "hello")
			w.unchanged(func() {
				w.notes(store.Notes{Served: []store.ServedNote{
					{ID: "box/bob::alice::00000000", Reader: "s1", Route: "mcp", At: w.now()},
					{ID: id, Reader: "s1", Route: "mcp", At: w.now()},
				}})
			})
			same(w, "inbox", w.inbox(alice), []string{"hello"})
			same(w, "the other note", len(w.entry(id).Facts.Served), 1)
			if w.message("box/bob::alice::00000000") != nil {
				w.Error("a note made a message")
			}
		}},
		{"a session is told of all mail up to a number", nil, func(w *testStore) {
			w.enter(alice, bob)
			early := w.sendStep(letter(bob, alice, "one")).Message
			late := w.sendStep(letter(bob, alice, "two")).Message
			told := store.NotifiedNote{Agent: alice, Reader: "s1", Route: "hook", Seq: early.Seq, At: w.now()}
			w.notes(store.Notes{Notified: []store.NotifiedNote{told}})
			same(w, "told of the first", w.entry(early.ID).Facts.Notified, []store.NotifiedNote{told})
			same(w, "told of the second", w.entry(late.ID).Facts.Notified, nil)
		}},
		{"when a session was told of a message does not change when it is told of later ones", nil, func(w *testStore) {
			w.enter(alice, bob)
			first, second := w.sendStep(letter(bob, alice, "one")).Message, w.sendStep(letter(bob, alice, "two")).Message
			var told []store.NotifiedNote
			for n := range int64(store.MaxToldNotices + 1) {
				w.advance(time.Second)
				note := store.NotifiedNote{Agent: alice, Reader: "s1", Route: "hook", Seq: first.Seq, At: w.now()}
				if n > 0 {
					note.Seq = second.Seq + n - 1 // the second message, and others after it
				}
				told = append(told, note)
				w.notes(store.Notes{Notified: []store.NotifiedNote{note}})
				want := told[:1]
				if n == store.MaxToldNotices {
					want = nil // too long ago: nothing is said rather than another time
				}
				same(w, fmt.Sprint("told of the first, after ", n), w.entry(first.ID).Facts.Notified, want)
				if n > 0 {
					same(w, fmt.Sprint("told of the second, after ", n), w.entry(second.ID).Facts.Notified, told[1:2])
				}
			}
		}},
		{"it is kept of eight sessions how far they were told, of those that came furthest", nil, func(w *testStore) {
			w.enter(alice, bob)
			first, last := w.sendStep(letter(bob, alice, "one")).Message, w.sendStep(letter(bob, alice, "two")).Message
			tell := func(reader string, seq int64) {
				w.advance(time.Millisecond)
				w.notes(store.Notes{Notified: []store.NotifiedNote{{Agent: alice, Reader: reader, Route: "hook", Seq: seq, At: w.now()}}})
			}
			told := func(id c3po.MessageID) (readers []string) {
				for _, note := range w.entry(id).Facts.Notified {
					readers = append(readers, note.Reader)
				}
				return readers
			}
			tell("far", last.Seq)
			for n := range 9 {
				tell(fmt.Sprint("s", n), first.Seq)
			}
			same(w, "the first", told(first.ID), []string{"far", "s2", "s3", "s4", "s5", "s6", "s7", "s8"})
			same(w, "the last", told(last.ID), []string{"far"})
			tell("s2", last.Seq)
			tell("behind", first.Seq-1)
			same(w, "one that is known", told(last.ID), []string{"far", "s2"})
			same(w, "one that is behind all", told(first.ID), []string{"far", "s2", "s3", "s4", "s5", "s6", "s7", "s8"})
		}},
		{"a look without a position begins behind what the reader was given", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.send(bob, alice, "one")
			two := w.sendStep(letter(bob, alice, "two")).Message
			three := w.sendStep(letter(bob, alice, "three")).Message
			given := func(seq int64) {
				w.notes(store.Notes{Given: []store.GivenNote{{Agent: alice, Reader: "s1", Seq: seq}}})
			}
			next := func(q store.NextQuery) string {
				text, _ := w.next(alice, q)
				return text
			}
			given(two.Seq)
			given(two.Seq - 1)
			same(w, "it", next(store.NextQuery{Reader: "s1"}), "three")
			same(w, "another", next(store.NextQuery{Reader: "s2"}), "one")
			same(w, "if it says where it is", next(store.NextQuery{Reader: "s1", MinSeq: two.Seq - 1, Positioned: true}), "two")
			same(w, "nobody was told", w.entry(two.ID).Facts.Notified, nil)
			given(three.Seq)
			same(w, "all of it", next(store.NextQuery{Reader: "s1"}), "")
			w.bury(two.ID)
			w.revive(two.ID, "")
			same(w, "what came back", next(store.NextQuery{Reader: "s1"}), "two")
		}},
		{"the mark of a session never goes back", nil, func(w *testStore) {
			w.enter(alice, bob)
			m := w.sendStep(letter(bob, alice, "one")).Message
			told := store.NotifiedNote{Agent: alice, Reader: "s1", Route: "hook", Seq: m.Seq, At: w.now()}
			w.notes(store.Notes{Notified: []store.NotifiedNote{told}})
			w.notes(store.Notes{Notified: []store.NotifiedNote{{Agent: alice, Reader: "s1", Route: "late", Seq: m.Seq - 1, At: w.now()}}})
			same(w, "told", w.entry(m.ID).Facts.Notified, []store.NotifiedNote{told})
		}},
	}
}
