package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
)

// A Codex that mail has resumed ends a moment after its turn has failed: nobody looks at its
// rollout in between.
func TestARefusalThatACodexWritesDownBeforeItEndsIsReported(t *testing.T) {
	t.Parallel()
	c := coordinator(t)
	rollout := filepath.Join(t.TempDir(), "rollout-1.jsonl")
	fails := func(said string) {
		t.Helper()
		file, err := os.OpenFile(rollout, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = file.WriteString(`{"type":"event_msg","payload":{"type":"task_complete","error":{"message":"` + said + `","codex_error_info":"usage_limit_exceeded"}}}` + "\n")
		}
		if err == nil {
			err = file.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	fails("You've hit your usage limit. Try again in 9 hours.") // a run before
	r := startAs(t, c.URL(), "run-1", func(cfg *session.Config) { cfg.Dialect = hook.Codex })
	r.hook(hook.Event{Name: hook.SessionStart, SessionID: "s1", Source: "resume", Transcript: rollout})
	eventually(t, "it is online", func() bool { return r.agents()["api"].Status == c3po.Online })
	question := r.send("web", "Which port?")
	r.hook(hook.Event{Name: hook.UserPromptSubmit, SessionID: "s1", Transcript: rollout})
	fails("You've hit your usage limit. Try again in 30 minutes.")
	r.hangUp()
	is := r.agents()["api"].OutOfQuota
	if is == nil || !is.Exact || !strings.Contains(is.Evidence, "Try again in 30 minutes") || time.Until(is.Until) < 29*time.Minute || time.Until(is.Until) > 30*time.Minute {
		t.Errorf("it is said to be %+v, want out of quota for half an hour", is)
	}
	told, err := r.as("web").GetMessages(t.Context(), c3po.GetMessagesInput{})
	if err != nil || len(told.Messages) != 1 || told.Messages[0].MessageID != question.ID || !strings.Contains(told.Messages[0].Text(), "out of quota") {
		t.Errorf("the asker was told %+v, %v; want one notice of its question", told.Messages, err)
	}
}
