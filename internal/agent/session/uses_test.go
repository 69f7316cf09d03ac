package session

import (
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

// A client without names for its calls says only of which tool it has a result.
func TestOfCallsUnderOneNameNothingIsProvedBeforeTheClientHasThemAll(t *testing.T) {
	t.Parallel()
	var c conversation
	c.begin("s")
	call := func(id c3po.MessageID) {
		u := c.useOf("tool:get_messages")
		u.begun++
		u.messages = append(u.messages, id)
	}
	call("one")
	call("two")
	c.useOf("tool:get_messages").ended++
	c.took("tool:get_messages")
	if len(c.proved) != 0 {
		t.Errorf("%v is proved, and one of two results is not there", c.proved)
	}
	c.useOf("tool:get_messages").ended++
	c.took("tool:get_messages")
	if len(c.proved) != 2 {
		t.Errorf("%v is proved, want both", c.proved)
	}
	c.took("tool:get_messages") // a hook may be repeated
	if len(c.proved) != 2 {
		t.Errorf("%v is proved, and the client took nothing more", c.proved)
	}
	call("cut off")
	call("answered")
	c.useOf("tool:get_messages").ended++
	c.took("tool:get_messages")
	c.took("tool:get_messages")
	if len(c.proved) != 2 {
		t.Errorf("%v is proved, and of the last two calls one had no result", c.proved)
	}
	call("three")
	c.forget("tool:get_messages") // it failed
	c.took("tool:get_messages")
	if len(c.proved) != 2 {
		t.Errorf("%v is proved, and the last call had no result", c.proved)
	}
}
