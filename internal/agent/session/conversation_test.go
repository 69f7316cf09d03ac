package session

import (
	"testing"

	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// A hook and the watch look at the same time, and either may be answered first.
func TestAViewFromBeforeDoesNotBringAPauseBack(t *testing.T) {
	t.Parallel()
	because := func(why string) *string { return &why }
	var c conversation
	c.begin("s1")
	c.replace(view{mail: []hook.Letter{{ID: "a", From: "web", Seq: 3}}, seq: 4, paused: because("lunch")})
	if n := len(c.audible()); n != 0 {
		t.Errorf("paused, it hears %d letters", n)
	}
	c.add(view{seq: 6, paused: because("")})
	if len(c.audible()) != 1 || !c.arrived["a"] {
		t.Errorf("when the pause is over it hears %v, and %v has arrived", c.audible(), c.arrived)
	}
	c.replace(view{mail: c.letters(), seq: 5, paused: because("lunch")})
	if c.paused.why != "" {
		t.Error("an answer from before the end of the pause has brought it back")
	}
	c.add(view{seq: 7})
	c.add(view{seq: 8, paused: because("again")})
	c.add(view{seq: 9}) // a coordinator of before says nothing of pauses
	if c.paused.why != "again" {
		t.Error("an answer that says nothing has ended the pause")
	}
}
