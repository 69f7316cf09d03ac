package attend

import (
	"context"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestMain(m *testing.M) { faultrig.Main(m) }

// A client may refuse to run as it is told to, as Claude Code does for root in some modes.
// It would refuse for ever: the person hears what it says, and decides.
func TestThePersonIsToldWhyASessionCannotBeResumedAndDecides(t *testing.T) {
	t.Parallel()
	coordinator := faultrig.Start(t, redistest.New(t).URL())
	as := func(id c3po.AgentID) *client.Client {
		return client.New(client.Config{URL: coordinator.URL(), AgentID: id})
	}
	home := t.TempDir()
	folders := paths.Folders{Getenv: func(string) string { return home }}
	session := paths.Session{ID: "s1", Client: "claude-code", Folder: home, Agent: "api", Space: string(c3po.DefaultSpace), Said: true}
	if err := folders.KeepSession(session); err != nil {
		t.Fatal(err)
	}
	if _, err := folders.Consent("api", &paths.Consent{Mode: "manual", Starts: 100}); err != nil {
		t.Fatal(err)
	}
	var runs atomic.Int32
	attending, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- New(Config{
			Folders: folders, Lives: func(string) bool { return false }, ReportEnded: func(context.Context, paths.Session) error { return nil },
			Client: func(s paths.Session) (*client.Client, error) { return as(s.Agent), nil },
			Command: func(paths.Session, string, string) (*exec.Cmd, string, error) {
				runs.Add(1)
				return exec.Command("sh", "-c", "echo it is not for root >&2; exit 1"), "manual", nil
			},
		}).Run(attending)
	}()
	if _, err := as("api").RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
		t.Fatal(err)
	}
	if _, err := as("web").SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "Which port has the printer?"}); err != nil {
		t.Fatal(err)
	}
	person := client.New(client.Config{URL: coordinator.URL()})
	var asked c3po.Message
	isAsked := func() bool {
		list, err := person.HumanList(t.Context(), c3po.GetMessagesInput{})
		if err != nil || len(list.Messages) == 0 {
			return false
		}
		asked = list.Messages[0]
		return true
	}
	if !faultrig.Within(time.Minute, isAsked) {
		t.Fatalf("after %d runs that failed nobody is asked", runs.Load())
	}
	if n := runs.Load(); n != maxFailures {
		t.Errorf("it was resumed %d times before, want %d", n, maxFailures)
	}
	question, err := person.HumanShow(t.Context(), c3po.MessageInput{MessageID: asked.ID})
	if err != nil || !strings.Contains(question.Message.Context+question.Message.Text(), "it is not for root") {
		t.Errorf("the person reads %+v (%v)", question.Message, err)
	}
	if _, err := person.HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: asked.ID, Response: goOn}); err != nil {
		t.Fatal(err)
	}
	if !faultrig.Within(time.Minute, func() bool { return runs.Load() > maxFailures }) {
		t.Error("the person wants it to be tried again, and it is not")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
