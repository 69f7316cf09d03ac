package session

import (
	"fmt"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/resident"
)

// A hook and the watch look at the same time, and either may be answered first.
func TestAViewFromBeforeBringsNoMailBackAsNew(t *testing.T) {
	t.Parallel()
	for name, older := range map[string]func(*conversation, resident.View){
		"of everything": (*conversation).replace, "of what is new": (*conversation).add,
	} {
		var c conversation
		c.begin("s1")
		c.add(resident.View{Mail: []hook.Letter{{ID: "a", From: "web", Seq: 3}, {ID: "b", From: "web", Seq: 8}}, Seq: 9})
		c.drop([]c3po.MessageID{"b"})
		clear(c.arrived)
		older(&c, resident.View{Mail: []hook.Letter{{ID: "a", From: "web", Seq: 3}}, Seq: 5})
		if c.seq != 9 {
			t.Errorf("a view %s from before leaves mail known up to %d, want 9", name, c.seq)
		}
		c.markArrived([]hook.Letter{{ID: "b", From: "web", Seq: 8}, {ID: "d", From: "web", Seq: 10}})
		if c.arrived["b"] || !c.arrived["d"] {
			t.Errorf("after a view %s from before, %v has arrived", name, c.arrived)
		}
	}
}

func TestMailOfFailedTurnsIsCalledAgainOnce(t *testing.T) {
	t.Parallel()
	var c conversation
	c.begin("s1")
	c.add(resident.View{Mail: []hook.Letter{{ID: "a", From: "web", Seq: 1}, {ID: "b", From: "web", Seq: 2}}, Seq: 2})
	clear(c.arrived)
	c.memory = c.memory.Read("b")
	c.again = []c3po.MessageID{"a", "b", "gone"}
	c.endTurn(nil)
	if len(c.arrived) != 1 || !c.arrived["a"] {
		t.Errorf("after a turn that ended well %v is called again, want what was not read", c.arrived)
	}
	clear(c.arrived)
	c.endTurn(nil)
	if len(c.arrived) != 0 {
		t.Errorf("after the next turn %v is called again", c.arrived)
	}
}

func TestASessionThatThePersonGoesBackToKnowsWhatItWasTold(t *testing.T) {
	t.Parallel()
	var c conversation
	c.begin("s1")
	c.memory = c.memory.Read("a").Posts(2)
	c.invited, c.prompts = true, 3
	c.begin("s2")
	if c.memory.HasRead("a") || c.invited || c.prompts != 0 {
		t.Error("a new session knows what the last one was told")
	}
	c.memory = c.memory.Read("b")
	c.begin("s1")
	if !c.memory.HasRead("a") || c.memory.HasRead("b") {
		t.Error("the first session does not know what it was told")
	}
	c.begin("s2")
	if c.memory.HasRead("a") || !c.memory.HasRead("b") {
		t.Error("the second session does not know what it was told")
	}
	for n := range maxFormerSessions {
		c.begin(fmt.Sprint("another ", n))
	}
	if n := len(c.former); n > maxFormerSessions {
		t.Errorf("%d sessions are remembered", n)
	}
}

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
