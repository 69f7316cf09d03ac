package storetest

import (
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (w *testStore) sequence() store.Sequence {
	w.Helper()
	at, err := w.store.Sequence(w.ctx, w.space)
	w.must(err)
	return at
}

func (w *testStore) raise(epoch, last int64) (store.Sequence, bool) {
	w.Helper()
	now, raised, err := w.store.RaiseEpoch(w.ctx, w.space, store.Sequence{Epoch: epoch, Last: last})
	w.must(err)
	return now, raised
}

func epochPromises() []promise {
	return []promise{
		{"a space that knows as much as its caller keeps its epoch", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.fill(bob, alice, 3)
			for _, last := range []int64{0, 4, 5} {
				now, raised := w.raise(1, last)
				same(w, "now", now, store.Sequence{Epoch: 1, Last: 5})
				same(w, "raised", raised, false)
			}
			same(w, "events", len(w.events(0)), 5)
		}},
		{"the event of what was stored has its number and its moment", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.joinRoom(lobby, alice)
			sent := w.sendStep(letter(alice, bob, "why"))
			answered, err := w.store.Reply(w.ctx, w.space, answer(bob, sent.Message.ID, "because"))
			w.must(err)
			posted, err := w.store.Post(w.ctx, w.space, saying(alice, lobby, "heard"))
			w.must(err)
			for _, stored := range []struct {
				seq int64
				at  time.Time
			}{{sent.Message.Seq, sent.Now}, {answered.Message.Seq, answered.Now}, {posted.Post.Message.Seq, posted.Now}} {
				event := w.events(stored.seq - 1)[0]
				same(w, "number", event.Seq, stored.seq)
				same(w, "moment", event.At, stored.at)
			}
		}},
		{"a space that has forgotten numbers is taken beyond them, once", nil, func(w *testStore) {
			w.enter(alice, bob)
			want := store.Sequence{Epoch: 2, Last: 40 + store.EpochMargin + 1}
			now, raised := w.raise(1, 40)
			same(w, "now", now, want)
			same(w, "raised", raised, true)
			// Another node has seen less, this one asks again: both were heard.
			for _, last := range []int64{40, 30} {
				now, raised = w.raise(1, last)
				same(w, "now", now, want)
				same(w, "raised again", raised, false)
			}
			events := w.events(2)
			same(w, "events", events, []c3po.Event{{Seq: want.Last, Kind: c3po.EventRollback, At: w.now()}})
			id := w.send(alice, bob, "hi")
			same(w, "the next number", w.entry(id).Message.Seq, want.Last+1)
		}},
		{"a node that has seen more raises the epoch once more", nil, func(w *testStore) {
			w.enter(alice)
			w.raise(1, 40)
			now, raised := w.raise(1, 5000)
			same(w, "now", now, store.Sequence{Epoch: 3, Last: 5000 + store.EpochMargin + 1})
			same(w, "raised", raised, true)
		}},
		{"an epoch never goes back", nil, func(w *testStore) {
			w.enter(alice)
			now, raised := w.raise(7, 0)
			same(w, "now", now, store.Sequence{Epoch: 8, Last: 1 + store.EpochMargin + 1})
			same(w, "raised", raised, true)
			same(w, "sequence", w.sequence(), store.Sequence{Epoch: 8, Last: now.Last, Oldest: 1, Began: now.Last})
		}},
		{"a listener hears that the epoch was raised", nil, func(w *testStore) {
			w.enter(alice)
			wakes := w.listen()
			now, _ := w.raise(1, 10)
			same(w, "wake", wait(w, wakes, "a wake"), store.Wake{Seq: now.Last})
		}},
		{"a reader's place of an earlier epoch hides nothing", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.send(bob, alice, "after the loss, before it was noticed")
			query := store.InboxQuery{MinSeq: 40, Limit: 10, Bytes: 1 << 20}
			same(w, "beyond the end", len(w.page(alice, query).Entries), 0)
			now, _ := w.raise(1, 40)
			same(w, "from a place that was forgotten", texts(w.page(alice, query).Entries), []string{"after the loss, before it was noticed"})
			text, seq := w.next(alice, store.NextQuery{Reader: "s1", MinSeq: 40})
			same(w, "next", text, "after the loss, before it was noticed")
			same(w, "place", seq, now.Last)
			query.MinSeq = now.Last
			same(w, "from a place of this epoch", len(w.page(alice, query).Entries), 0)
		}},
		{"a place of an earlier epoch does not say that a message was given", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(bob, alice, "served before the loss")
			w.notes(store.Notes{Served: []store.ServedNote{{ID: id, Reader: "s1", Route: "mcp", Cursor: 30, At: w.now()}}})
			query := store.NextQuery{Reader: "s1", MinSeq: 2, Positioned: true}
			text, _ := w.next(alice, query)
			same(w, "to a reader before it", text, "served before the loss")
			w.raise(1, 40)
			query.MinSeq = 40
			text, _ = w.next(alice, query)
			same(w, "to a reader whose place was forgotten", text, "served before the loss")
		}},
		{"the oldest unacked message is known by its time", nil, func(w *testStore) {
			oldest := func() time.Time {
				at, err := w.store.Oldest(w.ctx, w.space)
				w.must(err)
				return at
			}
			w.enter(alice, bob)
			same(w, "of an empty space", oldest(), time.Time{})
			began := w.now()
			first := w.send(alice, bob, "one")
			w.live(5 * time.Minute)
			later := w.now()
			w.send(alice, bob, "two")
			same(w, "of two", oldest(), began)
			w.ack(bob, first)
			same(w, "of one", oldest(), later)
		}},
	}
}
