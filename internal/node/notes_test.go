package node

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// slowNotes is a store that writes no note until take is closed.
type slowNotes struct {
	store.Store
	take chan struct{}
}

func (s *slowNotes) WriteNotes(context.Context, c3po.Space, store.Notes) error {
	<-s.take
	return nil
}

// A session dies once it was shown a message, and the next one reads it while the note of
// that is on its way to the store.
func TestMailIsShownAgainAlsoWhileTheNoteOfItIsOnItsWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := &slowNotes{take: make(chan struct{})}
		n := NewNotes(slow, slog.New(slog.DiscardHandler), NewLastCalls(c3po.DefaultLimits()))
		again := func() bool {
			_, again := n.TimesServed("main", store.ServedNote{ID: "ann::bob::1", Reader: "next"})
			return again
		}
		if again() {
			t.Error("what nobody was shown is shown again")
		}
		n.AddServed("main", store.ServedNote{ID: "ann::bob::1", Reader: "first"})
		go n.Flush(t.Context(), false)
		synctest.Wait()
		if !again() {
			t.Error("while the note is written, the message counts as new")
		}
		close(slow.take)
		synctest.Wait()
		if !again() {
			t.Error("to who has looked into the store before the note was there, the message is new")
		}
		n.Flush(t.Context(), false)
		if again() {
			t.Error("once the store must know, this still says so")
		}
	})
}
