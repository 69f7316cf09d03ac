package attend

import (
	"context"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// The question is about what the person has allowed: if that changes, it is no question any
// more, and neither is its answer.
func TestAChangedConsentCountsWhileThePersonIsAskedAndAfter(t *testing.T) {
	t.Parallel()
	url := faultrig.Start(t, redistest.New(t).URL()).URL()
	person, web := client.New(client.Config{URL: url}), client.New(client.Config{URL: url, AgentID: "web"})
	home := t.TempDir()
	folders := paths.Folders{Getenv: func(string) string { return home }}
	consent := func(starts int) {
		t.Helper()
		to := &paths.Consent{Mode: "manual", Starts: starts, At: time.Now()}
		if starts == 0 {
			to = nil
		}
		if _, err := folders.Consent("api", to); err != nil {
			t.Fatal(err)
		}
	}
	if err := folders.KeepSession(paths.Session{ID: "s1", Client: "claude-code", Folder: home, Agent: "api", Space: string(c3po.DefaultSpace), Said: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.New(client.Config{URL: url, AgentID: "api"}).RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
		t.Fatal(err)
	}
	var runs atomic.Int32
	attending, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- New(Config{
			Folders: folders, Lives: func(string) bool { return false }, ReportEnded: func(context.Context, paths.Session) error { return nil },
			Client: func(s paths.Session) (*client.Client, error) {
				return client.New(client.Config{URL: url, AgentID: s.Agent, Closed: true}), nil
			},
			Command: func(paths.Session, string, string) (*exec.Cmd, string, error) {
				runs.Add(1)
				return exec.Command("false"), "manual", nil
			},
		}).Run(attending)
	}()
	question := func(want bool) (asked c3po.MessageID) {
		t.Helper()
		if !faultrig.Within(time.Minute, func() bool {
			list, err := person.HumanList(t.Context(), c3po.GetMessagesInput{})
			if err != nil || (len(list.Messages) > 0) != want {
				return false
			}
			if want {
				asked = list.Messages[0].ID
			}
			return true
		}) {
			t.Fatalf("after %d starts the person is asked: %v", runs.Load(), !want)
		}
		return asked
	}
	started := func(times int32) {
		t.Helper()
		if !faultrig.Within(time.Minute, func() bool { return runs.Load() >= times }) {
			t.Fatalf("mail has started it %d times, want %d", runs.Load(), times)
		}
	}
	consent(1)
	sent, err := web.SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "Which port has the printer?"})
	if err != nil {
		t.Fatal(err)
	}
	question(true)
	consent(2)
	started(2)
	asked := question(true)
	if _, err := person.HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: asked, Response: stayClosed}); err != nil {
		t.Fatal(err)
	}
	question(false)
	consent(3)
	started(3)
	question(true)
	if !faultrig.Within(time.Minute, func() bool {
		trace, err := web.Trace(t.Context(), c3po.MessageInput{MessageID: sent.ID})
		return err == nil && len(trace.Started) == 3
	}) {
		t.Error("the trace of the message has not all three starts")
	}
	consent(0)
	question(false)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
