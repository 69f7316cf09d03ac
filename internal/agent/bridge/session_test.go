package bridge

import (
	"testing"

	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// A hook and the watch look at the same time, and either may be answered first.
func TestAViewFromBeforeDoesNotBringAPauseBack(t *testing.T) {
	t.Parallel()
	because := func(why string) *string { return &why }
	var s session
	s.begin("s1")
	s.replace(view{mail: []hook.Letter{{ID: "a", From: "web", Seq: 3}}, seq: 4, paused: because("lunch")})
	if n := len(s.audible()); n != 0 {
		t.Errorf("paused, it hears %d letters", n)
	}
	s.add(view{seq: 6, paused: because("")})
	if len(s.audible()) != 1 || !s.arrived["a"] {
		t.Errorf("when the pause is over it hears %v, and %v has arrived", s.audible(), s.arrived)
	}
	s.replace(view{mail: s.letters(), seq: 5, paused: because("lunch")})
	if s.paused.why != "" {
		t.Error("an answer from before the end of the pause has brought it back")
	}
	s.add(view{seq: 7})
	s.add(view{seq: 8, paused: because("again")})
	s.add(view{seq: 9}) // a coordinator of before says nothing of pauses
	if s.paused.why != "again" {
		t.Error("an answer that says nothing has ended the pause")
	}
}
