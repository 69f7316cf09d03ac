package attend

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/resident"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/transport/rest"
)

func TestMain(m *testing.M) { faultrig.Main(m) }

// patience keeps a slow Redis from failing a call: a start that cannot be recorded is made again,
// and would count twice.
const patience = time.Minute

// A testHost is a host that attends to the closed session of the agent api.
type testHost struct {
	t      *testing.T
	url    string
	person *client.Client
	runs   atomic.Int32
}

// attended has a session that is resumed by what run makes of the number of the start.
func attended(t *testing.T, run func(r *testHost, n int32) *exec.Cmd) *testHost {
	t.Helper()
	r := &testHost{t: t, url: faultrig.Start(t, redistest.New(t).URL()).URL()}
	r.person = client.New(client.Config{URL: r.url})
	home := t.TempDir()
	folders := paths.Folders{Getenv: func(string) string { return home }}
	session := paths.Session{ID: "s1", Client: "claude-code", Folder: home, Agent: "api", Space: string(c3po.DefaultSpace), Said: true}
	if err := folders.KeepSession(session); err != nil {
		t.Fatal(err)
	}
	if _, err := folders.Consent("api", &paths.Consent{Mode: "manual", Starts: 100}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.as("api").RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.as("api").Unregister(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	attending, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() {
		ended <- New(Config{
			Folders: folders, Lives: func(string) bool { return false }, ReportEnded: func(context.Context, paths.Session) error { return nil },
			Client: func(s paths.Session) (*client.Client, error) {
				return client.New(client.Config{URL: r.url, AgentID: s.Agent, Closed: true, Patience: patience}), nil
			},
			Command: func(paths.Session, string, string) (*exec.Cmd, string, error) {
				cmd := run(r, r.runs.Load()+1)
				r.runs.Add(1)
				return cmd, "manual", nil
			},
		}).Run(attending)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *testHost) as(id c3po.AgentID) *client.Client {
	return client.New(client.Config{URL: r.url, AgentID: id, Patience: patience})
}

func (r *testHost) ask(text string) {
	r.t.Helper()
	if _, err := r.as("web").SendMessage(r.t.Context(), c3po.SendInput{Target: "api", Message: text}); err != nil {
		r.t.Fatal(err)
	}
}

// asked is what the person is asked.
func (r *testHost) asked() (id c3po.MessageID, words string) {
	r.t.Helper()
	isAsked := func() bool {
		list, err := r.person.HumanList(r.t.Context(), c3po.GetMessagesInput{})
		if err != nil || len(list.Messages) == 0 {
			return false
		}
		id = list.Messages[0].ID
		return true
	}
	if !faultrig.Within(time.Minute, isAsked) {
		r.t.Fatalf("after %d runs nobody is asked", r.runs.Load())
	}
	question, err := r.person.HumanShow(r.t.Context(), c3po.MessageInput{MessageID: id})
	if err != nil {
		r.t.Fatal(err)
	}
	return id, question.Message.Context + question.Message.Text()
}

// A client may refuse the way it is started: Claude Code does so for root in some modes.
// It would refuse for ever: the person hears what it says, and decides.
func TestThePersonIsToldWhyASessionCannotBeResumedAndDecides(t *testing.T) {
	t.Parallel()
	r := attended(t, func(*testHost, int32) *exec.Cmd {
		return exec.Command("sh", "-c", "echo it is not for root >&2; exit 1")
	})
	r.ask("Which port has the printer?")
	id, words := r.asked()
	if n := r.runs.Load(); n != maxFailures {
		t.Errorf("it was resumed %d times before, want %d", n, maxFailures)
	}
	if !strings.Contains(words, "it is not for root") {
		t.Errorf("the person reads %s", words)
	}
	if _, err := r.person.HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: id, Response: goOn}); err != nil {
		t.Fatal(err)
	}
	if !faultrig.Within(time.Minute, func() bool { return r.runs.Load() > maxFailures }) {
		t.Error("the person wants it to be tried again, and it is not")
	}
}

// Otherwise its mail would wait for the next message, and its asker would never know.
func TestARunThatDoesNotReadItsMailHasFailed(t *testing.T) {
	t.Parallel()
	r := attended(t, func(*testHost, int32) *exec.Cmd { return exec.Command("true") })
	r.ask("Which port has the printer?")
	if _, words := r.asked(); !strings.Contains(words, "it ended without reading its mail") {
		t.Errorf("the person reads %s", words)
	}
}

// The client of a session ends right after it has read, and a coordinator whose Redis is slow
// takes its time to write that down.
func TestMailCountsAsReadBeforeTheCoordinatorHasWrittenItDown(t *testing.T) {
	t.Parallel()
	redis, err := redisstore.Open(t.Context(), redisstore.Config{URL: redistest.New(t).URL(), Limits: c3po.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(redis.Close)
	// Only a hub that runs writes notes.
	coordinator := httptest.NewServer(rest.New(rest.Config{Hub: hub.New(hub.Config{Store: redis}), Auth: auth.New(auth.Config{Mode: auth.None})}))
	t.Cleanup(coordinator.Close)
	r := &testHost{t: t, url: coordinator.URL}
	if _, err := r.as("api").RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
		t.Fatal(err)
	}
	r.ask("Which port has the printer?")
	attending := client.New(client.Config{URL: r.url, AgentID: "api", Closed: true})
	mail, err := resident.Look(t.Context(), attending, c3po.PendingInput{State: c3po.SessionClosed}, maxLetters, nil)
	if err != nil || len(mail.Mail) != 1 {
		t.Fatalf("there are %d messages, %v", len(mail.Mail), err)
	}
	k := keeperOf(t)
	if !k.unread(t.Context(), attending, mail.Mail) {
		t.Error("mail counts as read before anybody reads it")
	}
	if _, err := r.as("api").GetMessages(t.Context(), c3po.GetMessagesInput{}); err != nil {
		t.Fatal(err)
	}
	if k.unread(t.Context(), attending, mail.Mail) {
		t.Error("mail that was read counts as unread")
	}
}

func TestMailThatWasReadAndLeftUnansweredStartsNothingWithTheNext(t *testing.T) {
	t.Parallel()
	r := attended(t, func(r *testHost, n int32) *exec.Cmd {
		reader := r.as("api")
		if list, err := reader.GetMessages(r.t.Context(), c3po.GetMessagesInput{}); err != nil || len(list.Messages) != int(n) {
			r.t.Errorf("start %d finds %d messages, %v", n, len(list.Messages), err)
		}
		return exec.Command("true")
	})
	starts := func(n int32) {
		t.Helper()
		if !faultrig.Within(time.Minute, func() bool {
			agent, err := r.as("web").GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "api"})
			return err == nil && agent.Reachability == c3po.ReachStarts && r.runs.Load() >= n
		}) {
			t.Fatalf("%d starts, want %d", r.runs.Load(), n)
		}
	}
	for n := int32(1); n <= 3; n++ {
		r.ask(fmt.Sprintf("Which port has printer %d?", n))
		starts(n)
	}
	// What comes in their wake would have come by the time of the next.
	if got := r.runs.Load(); got != 3 {
		t.Errorf("3 messages started it %d times", got)
	}
}
