package claude_test

import (
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A model that waits or reads in its turn is handed what its person writes, and nothing else,
// while the person has paused it.
func TestAPausedSessionReadsItsPersonAloneUntilItIsResumed(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", following(
		on("wait for mail", call("wait_for_message", map[string]any{"timeout": 2})),
		on(unread.String(), call("get_messages", nil)),
	))
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	if _, err := w.as("").Pause(t.Context(), c3po.PauseInput{AgentID: "api", Reason: "lunch"}); err != nil {
		t.Fatal(err)
	}
	w.reached("paused", c3po.ReachResumed)
	w.send("web", "api", "TEXT-OF-WEB")
	term.enter("wait for mail")
	eventually(t, 30*time.Second, "the wait has ended", func() bool {
		return strings.Contains(a.model.Read(), "paused") && len(a.model.Seen()) >= 2
	})
	term.rest()
	if strings.Contains(a.model.Read(), "TEXT-OF-WEB") {
		t.Errorf("while it is paused its model reads:\n%s", a.model.Read())
	}
	if _, err := w.as(c3po.Human).SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "TEXT-OF-THE-PERSON"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, "its person's words arrive", func() bool { return strings.Contains(a.model.Read(), "TEXT-OF-THE-PERSON") })
	if strings.Contains(a.model.Read(), "TEXT-OF-WEB") {
		t.Errorf("while it is paused its model reads:\n%s", a.model.Read())
	}
	if _, err := w.as("").Resume(t.Context(), c3po.PauseInput{AgentID: "api"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, "the rest arrives once it is resumed", func() bool { return strings.Contains(a.model.Read(), "TEXT-OF-WEB") })
}
