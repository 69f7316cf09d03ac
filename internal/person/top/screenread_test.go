package top_test

import (
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestAPersonFiltersAndWritesFromTheScreen(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.play()
	term := s.open(80, 24)
	term.see("── Flow")
	term.press("/")
	term.press("-l", "reviewer")
	term.golden("filter-80x24")
	term.press("Enter")
	term.press("2")
	term.press("w")
	term.press("-l", "How far are you?")
	term.golden("write-80x24")
	term.press("Enter")
	term.see("Sent to reviewer.")
	mail := must(s.as("reviewer").Peek(t.Context(), c3po.GetMessagesInput{}))(s).Messages
	if last := mail[len(mail)-1]; last.FromAgent != c3po.Human || last.Text() != "How far are you?" {
		t.Errorf("the agent got %+v", last)
	}
	term.press("Escape")
	term.see("tester")
}
