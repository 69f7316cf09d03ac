package hook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

func TestWhoIsPausedHearsItsPersonAlone(t *testing.T) {
	t.Parallel()
	mail := []hook.Letter{
		{ID: "a", From: c3po.Human, Seq: 1}, {ID: "b", From: "web", Seq: 2, Urgent: true}, {ID: "c", From: "web", Seq: 3}, {ID: "d", From: c3po.Human, Seq: 4, Reply: true},
	}
	if diff := cmp.Diff([]hook.Letter{mail[0], mail[3]}, hook.Audible(mail, c3po.PausedForHuman)); diff != "" {
		t.Errorf("paused it hears (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(mail, hook.Audible(mail, "")); diff != "" {
		t.Errorf("otherwise it hears (-want +got)\n%s", diff)
	}
	// It was told of the last, but not of those before it.
	for paused, want := range map[string]int64{"lunch": 1, "": 4} {
		if got := hook.KnownUpTo(4, mail, paused); got != want {
			t.Errorf("paused %q, it is said to know all up to %d, want %d", paused, got, want)
		}
	}
}
