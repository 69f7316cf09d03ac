package session

import (
	"testing"

	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/resident"
)

// A hook and the watch look at the same time, and either may be answered first.
func TestAViewFromBeforeDoesNotBringAPauseBack(t *testing.T) {
	t.Parallel()
	because := func(why string) *string { return &why }
	var c conversation
	c.begin("s1")
	c.replace(resident.View{Mail: []hook.Letter{{ID: "a", From: "web", Seq: 3}}, Seq: 4, Paused: because("lunch")})
	if n := len(c.audible()); n != 0 {
		t.Errorf("paused, it hears %d letters", n)
	}
	c.add(resident.View{Seq: 6, Paused: because("")})
	if len(c.audible()) != 1 || !c.arrived["a"] {
		t.Errorf("when the pause is over it hears %v, and %v has arrived", c.audible(), c.arrived)
	}
	c.replace(resident.View{Mail: c.letters(), Seq: 5, Paused: because("lunch")})
	if c.paused.why != "" {
		t.Error("an answer from before the end of the pause has brought it back")
	}
	c.add(resident.View{Seq: 7})
	c.add(resident.View{Seq: 8, Paused: because("again")})
	c.add(resident.View{Seq: 9}) // a coordinator of before says nothing of pauses
	if c.paused.why != "again" {
		t.Error("an answer that says nothing has ended the pause")
	}
}
