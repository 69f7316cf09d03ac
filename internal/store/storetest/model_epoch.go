package storetest

import (
	"context"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Sequence implements store.Store.
func (m *Model) Sequence(_ context.Context, name c3po.Space) (store.Sequence, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.space(name).sequence(), nil
}

func (sp *space) sequence() store.Sequence {
	at := store.Sequence{Epoch: sp.epoch + 1, Last: sp.books.Seq, Began: sp.began}
	if len(sp.events) > 0 {
		at.Oldest = sp.events[0].Seq
	}
	return at
}

// RaiseEpoch implements store.Store.
func (m *Model) RaiseEpoch(_ context.Context, name c3po.Space, known store.Sequence) (store.Sequence, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	at := sp.sequence()
	if at.Epoch >= known.Epoch && at.Last >= known.Last {
		return store.Sequence{Epoch: at.Epoch, Last: at.Last}, false, nil
	}
	sp.epoch = max(at.Epoch, known.Epoch)
	sp.books.Seq = max(at.Last, known.Last) + store.EpochMargin
	sp.event(c3po.EventRollback, "", "", m.now())
	sp.began = sp.books.Seq
	return store.Sequence{Epoch: sp.epoch + 1, Last: sp.books.Seq}, true, nil
}

// place is where a reader goes on from: a number from before this epoch means
// nothing.
func (sp *space) place(min int64) int64 {
	if min < sp.began {
		return 0
	}
	return min
}

// Forget loses all that came after a number, as an engine does that comes back
// with an old file: events, and the messages that were accepted since. What
// else has happened to older messages stays.
func (m *Model) Forget(name c3po.Space, after int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	sp.events = slices.DeleteFunc(sp.events, func(e c3po.Event) bool { return e.Seq > after })
	sp.books.Seq = after
	for id, msg := range sp.messages {
		if msg.view.Seq <= after {
			continue
		}
		delete(sp.messages, id)
		sp.books.Sent--
		if msg.state == c3po.StatePending {
			sp.books.Pending--
			sp.books.PendingBytes -= int64(msg.facts.Bytes)
		}
	}
}
