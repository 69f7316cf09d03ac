package claude_test

import (
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// Names belong to conversations. Two have ended, and the one that is continued is
// not the one that was written to.
func TestAContinuedSecondSessionAnswersTheMailOfTheFirst(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	h := w.host("pi")
	first := h.agent("api", quiet).open()
	first.idle()
	w.awaitOnline("api")
	second := h.agent("api", quiet).open()
	w.awaitOnline("api-2")
	second.enter("about the birds")
	second.rest()
	for id, term := range map[c3po.AgentID]*terminal{"api": first, "api-2": second} {
		term.enter("/exit")
		eventually(t, 20*time.Second, "it is offline: "+string(id), func() bool { return w.status(id) == c3po.Offline })
	}
	question := w.send("web", "api", "Which port?")

	again := h.agent("api", following(append([]rule{
		on("1 message waits for api, whose session has ended", call("get_messages", map[string]any{"left_by": "api"})),
	}, reading(always("8080"))...)...))
	again.print("hello", "--continue")
	if shown := again.model.Seen()[0].All(); !strings.Contains(shown, "about the birds") || !strings.Contains(shown, "you are api-2. api is another conversation of this folder, which does not run now.") {
		t.Errorf("it is told:\n%s", shown)
	}
	got, err := w.as("web").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: question.ID, Timeout: 10})
	if err != nil || got.Response != "8080" || got.FromAgent != "api" {
		t.Errorf("the answer is %+v, %v", got, err)
	}
}
