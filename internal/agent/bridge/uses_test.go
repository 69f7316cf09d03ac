package bridge

import (
	"testing"

	"github.com/c3po-dev/c3po"
)

// A client without names for its calls says only of which tool it has a result.
func TestOfCallsUnderOneNameNothingIsProvedBeforeTheClientHasThemAll(t *testing.T) {
	t.Parallel()
	var s session
	s.begin("s")
	call := func(id c3po.MessageID) {
		u := s.useOf("tool:get_messages")
		u.begun++
		u.messages = append(u.messages, id)
	}
	call("one")
	call("two")
	s.useOf("tool:get_messages").ended++
	s.took("tool:get_messages")
	if len(s.proved) != 0 {
		t.Errorf("%v is proved, and one of two results is not there", s.proved)
	}
	s.useOf("tool:get_messages").ended++
	s.took("tool:get_messages")
	if len(s.proved) != 2 {
		t.Errorf("%v is proved, want both", s.proved)
	}
	call("three")
	s.forget("tool:get_messages") // it failed
	s.took("tool:get_messages")
	if len(s.proved) != 2 {
		t.Errorf("%v is proved, and the last call had no result", s.proved)
	}
}
