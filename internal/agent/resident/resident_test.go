package resident_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/resident"
)

var errAway = errors.New("away")

// inbox is a coordinator that has pages of mail.
type inbox struct {
	c3po.Service
	pages  []c3po.PendingResult
	asked  []c3po.PendingInput
	leaves error
}

func (i *inbox) Pending(_ context.Context, in c3po.PendingInput) (c3po.PendingResult, error) {
	i.asked = append(i.asked, in)
	return i.pages[len(i.asked)-1], nil
}

func (i *inbox) Unregister(context.Context, c3po.None) (c3po.Unregistered, error) {
	return c3po.Unregistered{}, i.leaves
}

func TestAnAgentStaysWhateverTheCoordinatorDoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithTimeout(t.Context(), time.Hour)
		defer leave()
		var settled, watched int
		var firsts []bool
		was := resident.Stay(ctx, func(context.Context) error {
			if settled++; settled == 2 || settled == 3 {
				return errAway
			}
			return nil
		}, func(ctx context.Context) error {
			if watched++; watched == 3 {
				leave()
			}
			return errAway
		}, func(err error, first bool) bool {
			firsts = append(firsts, first)
			return first
		})
		if !was || settled != 5 || !slices.Equal(firsts, []bool{true, false, false, true}) {
			t.Errorf("was there %v, settled %d times, told %v", was, settled, firsts)
		}
	})
}

func TestWhoNeverSettledWasNeverThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		tries := 0
		if resident.Stay(ctx, func(context.Context) error { tries++; return errAway }, nil, func(error, bool) bool { return false }) {
			t.Error("an agent that was never registered was there")
		}
		if tries < 8 || tries > 40 {
			t.Errorf("%d tries in a minute", tries)
		}
	})
}

func TestALookIsKnownUpToItsFirstPage(t *testing.T) {
	t.Parallel()
	paused := "lunch"
	svc := &inbox{pages: []c3po.PendingResult{
		{Pending: c3po.Pending{Count: 3, Messages: []c3po.Message{{ID: "a::b::00000001", Seq: 1}, {ID: "a::b::00000002", Seq: 2}}, Next: "2", Paused: &paused, Seq: 7}},
		{Pending: c3po.Pending{Count: 4, Messages: []c3po.Message{{ID: "a::b::00000009", Seq: 9}}, Seq: 9}},
	}}
	seen, err := resident.Look(t.Context(), svc, c3po.PendingInput{Timeout: 50}, resident.MaxLetters, func(m c3po.Message) bool { return m.Seq == 2 })
	if err != nil {
		t.Fatal(err)
	}
	if seen.Seq != 7 || seen.Count != 3 || len(seen.IDs()) != 3 || len(seen.Texts) != 1 || *seen.Paused != paused {
		t.Errorf("seen %+v", seen)
	}
	if next := svc.asked[1]; next.Timeout != 0 || next.Cursor != "2" || next.Paused == nil {
		t.Errorf("the second page was asked for with %+v", next)
	}
	svc.asked = nil
	if seen, err = resident.Look(t.Context(), svc, c3po.PendingInput{}, 2, nil); err != nil || len(seen.Mail) != 2 || len(svc.asked) != 1 {
		t.Errorf("a look at two has %+v, %v, after %d pages", seen, err, len(svc.asked))
	}
}

func TestAGoodbyeThatNobodyHeardIsNone(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	if !resident.Leave(t.Context(), &inbox{}, log) || resident.Leave(t.Context(), &inbox{leaves: errAway}, log) {
		t.Error("leaving does not say whether it was heard")
	}
}
