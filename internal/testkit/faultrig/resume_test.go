package faultrig_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A session is one life of an agent: a process that is the client, with the real
// session process below it.
type session struct {
	*stdio
	client *exec.Cmd
}

// newSession starts one that wants to be id.
func newSession(t *testing.T, url string, id c3po.AgentID) *session {
	t.Helper()
	// The last command keeps the shell from becoming the session process.
	s := &session{&stdio{t: t}, exec.Command("sh", "-c", `"$0" mcp --as "$1"; :`, faultrig.Binary(t), string(id))}
	s.client.Env = []string{"HOME=" + faultrig.Home(t), "PATH=" + os.Getenv("PATH"), "C3PO_COORDINATOR_URL=" + url}
	s.open(s.client, "shell")
	return s
}

// die kills the client. Its session process finds that nobody speaks to it any more.
func (s *session) die() {
	s.t.Helper()
	if err := s.client.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	_ = s.in.Close()
}

// An agent reads a message and dies before it does anything about it. Whoever
// goes on as the same agent is shown it again, and told that it was shown before;
// what was acked never comes again.
func TestWhatADeadSessionHadReadIsShownToTheNextUntilItIsAcked(t *testing.T) {
	t.Parallel()
	rounds := faultrig.Size(3, 100)
	node := faultrig.Start(t, redistest.Start(t))
	sender, watcher := agent(t, node.URL(), "sender"), agent(t, node.URL(), "watcher")
	dead := func() {
		t.Helper()
		eventually(t, "the death of the session is known", func() bool {
			bob, err := watcher.GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "bob"})
			return err == nil && bob.Alive != nil && !*bob.Alive
		})
	}
	lost, returned := 0, 0
	first := newSession(t, node.URL(), "bob")
	first.tool("ping", nil)
	for n := range rounds {
		text := fmt.Sprintf("task %d of many", n)
		expects := false // else the sender has mail too: that its question was left unanswered
		receipt, err := sender.SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: text, ExpectsReply: &expects})
		if err != nil {
			t.Fatal(err)
		}
		if answer := first.tool("get_messages", nil); !strings.Contains(answer, text) || strings.Contains(answer, "redelivered") {
			t.Fatalf("the first session was shown %s", answer)
		}
		// Beside a session that lives, another is somebody else.
		if n == 0 {
			other := newSession(t, node.URL(), "bob")
			if answer := other.tool("get_messages", nil); strings.Contains(answer, text) {
				t.Errorf("the mail of a living session was shown to another: %s", answer)
			}
			if _, err := watcher.GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "bob-2"}); err != nil {
				t.Errorf("a second session is not somebody else: %v", err)
			}
			_ = other.in.Close()
		}
		first.die()
		dead()
		second := newSession(t, node.URL(), "bob")
		if answer := second.tool("get_messages", nil); !strings.Contains(answer, text) || !strings.Contains(answer, "redelivered") {
			t.Errorf("the next session was shown %s", answer)
			lost++
		}
		if answer := second.tool("ack_messages", c3po.AckInput{MessageIDs: []c3po.MessageID{receipt.ID}}); strings.Contains(answer, `"isError":true`) {
			t.Errorf("the ack was answered with %s", answer)
		}
		second.die()
		dead()
		first = newSession(t, node.URL(), "bob")
		if answer := first.tool("get_messages", nil); strings.Contains(answer, "task") {
			t.Errorf("what was acked came again: %s", answer)
			returned++
		}
	}
	if audit := balanced(t, sender); audit.Acked != int64(rounds) || audit.Pending != 0 {
		t.Errorf("%+v", audit)
	}
	faultrig.Verdict{
		Row: "H1", Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost, faultrig.AckIsFinal, faultrig.BooksBalance},
		Size:   fmt.Sprintf("%d messages, each read before a death and after it", rounds),
		Faults: fmt.Sprintf("%d sessions killed, another resumed as the same agent", 2*rounds),
		Lost:   lost, Doubled: returned,
	}.Record(t)
}
