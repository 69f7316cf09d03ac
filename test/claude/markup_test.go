package claude_test

import (
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

// Claude Code escapes what a monitor prints. A tool's result it shows as it is.
func TestMailWithMarkupReachesTheModelAsItWasWritten(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", following(reading(always("yes"))...))
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	w.reached("it is idle", c3po.ReachNow)
	const text = `Is "a && b" or x < y shell? R&D`
	question := w.send("web", "api", text)
	got, err := w.as("web").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: question.ID, Timeout: 30})
	if err != nil || got.Response != "yes" {
		t.Errorf("the answer is %q, %v", got.Response, err)
	}
	if read := a.model.Read(); !strings.Contains(read, text) || strings.Contains(read, "&amp;") {
		t.Errorf("the model reads:\n%s", read)
	}
}
