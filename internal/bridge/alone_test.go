package bridge_test

import (
	"strings"
	"testing"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/hook"
)

// Claims: D1
func TestNoHookSpeaksOfMailToASessionThatAScriptRuns(t *testing.T) {
	t.Parallel()
	c := coordinator(t)
	r := start(t, c.URL(), "box:1:1")
	r.as("api").Ping(t.Context(), c3po.None{})
	r.send("web", "Which port?")
	if _, err := r.as("web").SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "The disk is full", Priority: c3po.Urgent}); err != nil {
		t.Fatal(err)
	}
	begun := r.hook(hook.Event{Name: hook.SessionStart, SessionID: "s1", Source: "startup", Attended: "0"})
	eventually(t, "it is greeted", func() bool {
		if !strings.Contains(begun, "you are api") {
			begun = r.prompt()
		}
		return strings.Contains(begun, "you are api")
	})
	said := begun + r.prompt() + r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1"}) + r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"})
	if strings.Contains(said, "message") || strings.Contains(said, "Online") {
		t.Errorf("the script's session is told %s", said)
	}
	// The same with a person in front of it.
	told := r.hook(hook.Event{Name: hook.SessionStart, SessionID: "s2", Source: "startup", Attended: "1"})
	if !strings.Contains(told, "2 messages are not acked") {
		t.Errorf("the person's session is told %s", told)
	}
}
