package storetest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/storetest"
)

func openModel(_ *testing.T, limits c3po.Limits) storetest.Harness {
	m := storetest.NewModel(limits)
	m.SetNow(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	return storetest.Harness{Store: m, Advance: m.Advance}
}

func TestTheModelKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	storetest.Run(t, openModel)
}

func TestTheModelDoesNotDivergeFromItself(t *testing.T) {
	t.Parallel()
	storetest.Compare(t, openModel)
}

func register(t *testing.T, m *storetest.Model, id c3po.AgentID) store.Registration {
	t.Helper()
	reg, err := m.Register(t.Context(), "main", store.RegisterStep{Want: id})
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

func TestTheClockOfTheModelIsTheBubbles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewModel(c3po.DefaultLimits())
		first := register(t, m, "ana").Now
		<-time.After(time.Hour)
		if passed := register(t, m, "ana").Now.Sub(first); passed != time.Hour {
			t.Errorf("%s passed in the model, want an hour", passed)
		}
	})
}

// listen collects what a listener is told until the test ends.
func listen(t *testing.T, m *storetest.Model) (ready func() int, wakes func() []int64) {
	t.Helper()
	var times int
	var seqs []int64
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	go func() {
		_ = m.Listen(ctx, "main", func() { times++ }, func(w store.Wake) { seqs = append(seqs, w.Seq) })
	}()
	synctest.Wait()
	return func() int { synctest.Wait(); return times }, func() []int64 { synctest.Wait(); return seqs }
}

func TestDroppedWakesAreNotHeardAndLaterOnesAre(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewModel(c3po.DefaultLimits())
		_, wakes := listen(t, m)
		m.DropWakes(2)
		for _, id := range []c3po.AgentID{"a", "b", "c"} {
			register(t, m, id)
		}
		if diff := cmp.Diff([]int64{3}, wakes()); diff != "" {
			t.Errorf("wakes (-want +got):\n%s", diff)
		}
	})
}

func TestALostSubscriptionStandsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewModel(c3po.DefaultLimits())
		ready, _ := listen(t, m)
		m.Lose()
		if got := ready(); got != 2 {
			t.Errorf("ready was called %d times, want 2", got)
		}
	})
}

func TestASpoiltMessageShowsNoText(t *testing.T) {
	t.Parallel()
	m := storetest.NewModel(c3po.DefaultLimits())
	register(t, m, "ana")
	stored, err := m.Send(t.Context(), "main", store.SendStep{Draft: store.Draft{From: "ana", To: "ana", Kind: c3po.KindMessage, Text: "truth"}})
	if err != nil {
		t.Fatal(err)
	}
	m.Spoil("main", stored.Message.ID)
	e, err := m.Message(t.Context(), "main", stored.Message.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !e.Corrupt || e.Message.Message != "" {
		t.Errorf("a spoilt message reads %q, corrupt %v", e.Message.Message, e.Corrupt)
	}
}

func TestNoCallerCanChangeWhatTheModelHolds(t *testing.T) {
	t.Parallel()
	m := storetest.NewModel(c3po.DefaultLimits())
	metadata := []byte(`{"a":1}`)
	register(t, m, "ana")
	stored, err := m.Send(t.Context(), "main", store.SendStep{Draft: store.Draft{From: "ana", To: "ana", Text: "x", Metadata: metadata}})
	if err != nil {
		t.Fatal(err)
	}
	metadata[0], stored.Message.Metadata[0] = 'X', 'Y'
	e, err := m.Message(t.Context(), "main", stored.Message.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(e.Message.Metadata); got != `{"a":1}` {
		t.Errorf("metadata became %s", got)
	}
}

func TestASpaceThatWasOnlyLookedAtIsNotListed(t *testing.T) {
	t.Parallel()
	m := storetest.NewModel(c3po.DefaultLimits())
	register(t, m, "ana")
	if _, err := m.Counters(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	spaces, err := m.Spaces(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]c3po.Space{"main"}, spaces); diff != "" {
		t.Errorf("spaces (-want +got):\n%s", diff)
	}
}
