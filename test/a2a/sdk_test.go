// Package a2a_test asks agents of c3po with the official SDKs of A2A.
package a2a_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// installed is the variable that says where run.sh has put the SDK.
const installed = "C3PO_A2A"

// goClient says where run.sh has put the client on the SDK for Go, which speaks 0.3; goSDK
// stands for it in place of a version.
const (
	goClient = "C3PO_A2A_GO"
	goSDK    = "go"
)

func TestMain(m *testing.M) { faultrig.Main(m) }

// script puts a program of testdata beside the SDK, and gives the command that runs it.
func script(t *testing.T, name string, arguments ...string) *exec.Cmd {
	t.Helper()
	folder := os.Getenv(installed)
	if folder == "" {
		t.Skip(installed + " is not set: make -C test a2a runs this")
	}
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(folder, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(folder, "node_modules", ".bin", "node"), append([]string{filepath.Join(dir, name)}, arguments...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	return cmd
}

// A peer is a client on the SDK, in a process of its own.
type peer struct {
	t    *testing.T
	to   io.WriteCloser
	from *bufio.Reader
}

// newPeer connects to an agent, in a version of the protocol or with the SDK for Go.
func newPeer(t *testing.T, coordinator, agent, version string) *peer {
	t.Helper()
	card := coordinator + "/a2a/" + url.PathEscape(agent) + "/.well-known/agent-card.json"
	cmd := script(t, "client.mjs", card, version)
	if version == goSDK {
		cmd = exec.CommandContext(t.Context(), os.Getenv(goClient), card)
		cmd.Stderr = os.Stderr
	}
	to, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = to.Close()
		_ = cmd.Wait()
	})
	return &peer{t, to, bufio.NewReader(from)}
}

// A task is what the client has made of one.
type task struct {
	ID      string   `json:"id"`
	State   string   `json:"state"`
	Answer  string   `json:"answer"`
	Seen    []string `json:"seen"` // of a stream
	History []string `json:"history"`
}

// say gives a command; hear gives what came back.
func (p *peer) say(command map[string]string) {
	p.t.Helper()
	line, err := json.Marshal(command)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(p.to, "%s\n", line); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) hear() (ok json.RawMessage, wrong string) {
	p.t.Helper()
	line, err := p.from.ReadBytes('\n')
	if err != nil {
		p.t.Fatalf("the client ended: %v", err)
	}
	var got struct {
		OK                    json.RawMessage
		Error, Message, Cause string
	}
	if err := json.Unmarshal(line, &got); err != nil {
		p.t.Fatal(err)
	}
	if got.Error != "" {
		return nil, got.Error + ": " + got.Message + " " + got.Cause
	}
	return got.OK, ""
}

func (p *peer) task(command map[string]string) task {
	p.t.Helper()
	p.say(command)
	return p.nextTask()
}

func (p *peer) nextTask() task {
	p.t.Helper()
	ok, wrong := p.hear()
	var got task
	if wrong != "" {
		p.t.Fatal(wrong)
	}
	if err := json.Unmarshal(ok, &got); err != nil {
		p.t.Fatalf("%v: %s", err, ok)
	}
	return got
}

// A site is a coordinator, with agents that the tests play.
type site struct {
	*faultrig.Coordinator
	t *testing.T
}

func newSite(t *testing.T) site {
	t.Helper()
	return site{faultrig.Start(t, redistest.New(t).URL()), t}
}

func (s site) as(id c3po.AgentID) *client.Client {
	return client.New(client.Config{URL: s.URL(), AgentID: id, ClientName: "test"})
}

// away makes an agent known that is offline.
func (s site) away(id c3po.AgentID) {
	s.t.Helper()
	if _, err := s.as(id).RegisterAgent(s.t.Context(), c3po.RegisterInput{}); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.as(id).Unregister(s.t.Context(), c3po.None{}); err != nil {
		s.t.Fatal(err)
	}
}

// answers answers the mail that an agent has, as it does when it starts, and ends it again.
func (s site) answers(id c3po.AgentID) (answered int) {
	s.t.Helper()
	me := s.as(id)
	list, err := me.GetMessages(s.t.Context(), c3po.GetMessagesInput{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range list.Messages {
		if _, err := me.Reply(s.t.Context(), c3po.ReplyInput{MessageID: m.ID, Response: "You asked: " + m.Text()}); err != nil {
			s.t.Fatal(err)
		}
		answered++
	}
	if _, err := me.Unregister(s.t.Context(), c3po.None{}); err != nil {
		s.t.Fatal(err)
	}
	return answered
}

func TestTheOfficialClientsAskAnAgentThatIsOffline(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, version := range []string{"1.0", "0.3", goSDK} {
		agent := c3po.AgentID("box/api-" + version)
		s.away(agent)
		p := newPeer(t, s.URL(), string(agent), version)
		sent := p.task(map[string]string{"do": "send", "id": "m-" + version, "text": "Which topics?"})
		if sent.State != "TASK_STATE_SUBMITTED" || len(sent.History) != 1 || sent.History[0] != "m-"+version {
			t.Errorf("%s: sent, it is %+v", version, sent)
		}
		if again := p.task(map[string]string{"do": "send", "id": "m-" + version, "text": "Which topics?"}); again.ID != sent.ID {
			t.Errorf("%s: sent again it is another task", version)
		}
		if waiting := p.task(map[string]string{"do": "get", "id": sent.ID}); waiting.State != "TASK_STATE_SUBMITTED" {
			t.Errorf("%s: while the agent is away it is %s", version, waiting.State)
		}
		if first := p.task(map[string]string{"do": "subscribe", "id": sent.ID}); first.State != "TASK_STATE_SUBMITTED" {
			t.Errorf("%s: the stream begins with %+v", version, first)
		}
		if n := s.answers(agent); n != 1 {
			t.Errorf("%s: the agent had %d questions", version, n)
		}
		if streamed := p.nextTask(); streamed.Seen[len(streamed.Seen)-1] != "TASK_STATE_COMPLETED" {
			t.Errorf("%s: the stream told %+v", version, streamed)
		}
		if done := p.task(map[string]string{"do": "get", "id": sent.ID}); done.State != "TASK_STATE_COMPLETED" || done.Answer != "You asked: Which topics?" {
			t.Errorf("%s: answered, it is %+v", version, done)
		}
		withdrawn := p.task(map[string]string{"do": "send", "id": "n-" + version, "text": "And which queues?"})
		if got := p.task(map[string]string{"do": "cancel", "id": withdrawn.ID}); got.State != "TASK_STATE_CANCELED" {
			t.Errorf("%s: withdrawn, it is %s", version, got.State)
		}
		p.say(map[string]string{"do": "cancel", "id": sent.ID})
		if _, wrong := p.hear(); !strings.HasPrefix(wrong, "TaskNotCancelableError") && !strings.Contains(wrong, "task cannot be canceled") {
			t.Errorf("%s: to withdraw what was answered: %s", version, wrong)
		}
		p.say(map[string]string{"do": "get", "id": "no::such::00000000"})
		if _, wrong := p.hear(); !strings.HasPrefix(wrong, "TaskNotFoundError") && !strings.Contains(wrong, "task not found") {
			t.Errorf("%s: a task that is not there: %s", version, wrong)
		}
		p.say(map[string]string{"do": "push", "id": sent.ID, "push": "https://example.com/hook"})
		if ok, wrong := p.hear(); !strings.Contains(strings.ToLower(wrong), "push notification") {
			t.Errorf("%s: a push config: %s %s", version, ok, wrong)
		}
		if version == "1.0" {
			p.say(map[string]string{"do": "list"})
			var list []task
			ok, wrong := p.hear()
			if err := json.Unmarshal(ok, &list); err != nil || len(list) != 2 {
				t.Errorf("the list is %s %s", ok, wrong)
			}
		}
	}
}

func TestEachTaskCompletesOnceWhenTheCoordinatorIsKilledAfterItWasSent(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.away("api")
	p := newPeer(t, s.URL(), "api", "1.0")
	rounds := faultrig.Size(3, 100)
	var sent []task
	for i := range rounds {
		command := map[string]string{"do": "send", "id": fmt.Sprintf("m-%d", i), "text": fmt.Sprintf("Question %d", i)}
		p.say(command)
		if i%2 == 1 {
			s.Kill() // perhaps before the answer was written: then the client cannot know
		}
		ok, wrong := p.hear()
		s.Restart()
		if wrong != "" {
			p.say(command)
			if ok, wrong = p.hear(); wrong != "" {
				t.Fatalf("after the restart: %s", wrong)
			}
		}
		var got task
		if err := json.Unmarshal(ok, &got); err != nil {
			t.Fatal(err)
		}
		if again := p.task(command); again.ID != got.ID {
			t.Errorf("the repeat of %s is %s", got.ID, again.ID)
		}
		if now := p.task(map[string]string{"do": "get", "id": got.ID}); now.State != "TASK_STATE_SUBMITTED" {
			t.Errorf("after the restart %s is %s", got.ID, now.State)
		}
		sent = append(sent, got)
	}
	answered := 0
	for more := 1; more > 0; answered += more {
		more = s.answers("api")
	}
	if answered != rounds {
		t.Errorf("%d messages became %d tasks", rounds, answered)
	}
	for i, was := range sent {
		if done := p.task(map[string]string{"do": "get", "id": was.ID}); done.State != "TASK_STATE_COMPLETED" || done.Answer != fmt.Sprintf("You asked: Question %d", i) {
			t.Errorf("%s ended as %+v", was.ID, done)
		}
	}
	t.Logf("%d tasks over %d kills, %d answered", len(sent), rounds, answered)
}
