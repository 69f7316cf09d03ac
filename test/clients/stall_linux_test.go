package clients_test

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// stalledAfter is how long the session of this test may make no step.
const stalledAfter = 4 * time.Second

// namesIt wants a question to be marked as stalled soon, its asker to hear so once, and the
// mark to go when the agent goes on and answers.
func namesIt(t *testing.T, r *testAgent, question c3po.Receipt, since time.Time, told int, goOn func()) {
	t.Helper()
	stalled := func() bool {
		trace, err := r.c.As("web").Trace(t.Context(), c3po.MessageInput{MessageID: question.ID})
		return err == nil && trace.Stalled != nil
	}
	hears := func() int { return notices(r.c, "has made no step") }
	clientrig.Eventually(t, 3*time.Minute, "the question is marked as stalled", stalled)
	faultrig.Hold(t, "until its question is marked, beyond the time it has", time.Since(since)-stalledAfter, 30*time.Second)
	clientrig.Eventually(t, 10*time.Second, "who asked was told", func() bool { return hears() == told })
	if faultrig.Within(2*time.Second, func() bool { return !stalled() }) {
		t.Error("the mark is gone though nothing has moved")
	}
	goOn()
	moved := time.Now()
	clientrig.Eventually(t, time.Minute, "the mark goes", func() bool { return !stalled() })
	faultrig.Hold(t, "from the next step until the mark is gone", time.Since(moved), 5*time.Second)
	r.c.Answered("web", question, "port 8080", 60)
	if n := hears(); n != told {
		t.Errorf("the asker was told %d times, want %d", n, told)
	}
}

// A question of its own tool, and one of its own process: each stands still until the test
// lets it go on.
func TestAQuestionIsStalledWhileItsReaderStandsStill(t *testing.T) {
	t.Parallel()
	c := clientrig.Start(t)
	r := &testAgent{Agent: c.Machine("").Agent("claude", "api", nil), c: c}
	r.Env = append(r.Env, "C3PO_STALLED_AFTER="+stalledAfter.String())
	// tmux goes on with a program of its own that is stopped; one below it is left alone.
	r.Within = []string{"sh", "-c", `"$@"; exit $?`, "sh"}
	r.Write(".claude/settings.json", `{"permissions": {"allow": ["Bash(cat:*)"]}}`)
	welcomed(r.Agent)
	pipe := filepath.Join(r.Folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	var inTool atomic.Bool
	working, release := make(chan c3po.MessageID, 1), make(chan struct{})
	reply := func(id string) llm.Step {
		return llm.Call("reply", map[string]any{"message_id": id, "response": "port 8080"})
	}
	var asked string
	r.Model.Script = llm.Following(
		llm.When(llm.ToAnswer.String(), func(_ llm.Request, match []string) llm.Step {
			asked = match[1]
			working <- c3po.MessageID(asked)
			if inTool.Load() {
				return llm.Shell("cat " + pipe) // which ends when somebody has written to it
			}
			select {
			case <-release:
			case <-t.Context().Done():
			}
			return reply(asked)
		}),
		llm.On(llm.Unread.String(), llm.Call("get_messages", nil)),
		llm.When("written to the pipe", func(llm.Request, []string) llm.Step { return reply(asked) }),
		llm.Else(done))
	term := r.Open()
	said(term, "do some work")
	c.Online("api")
	c.Reached("api", "idle", c3po.ReachNow)
	t.Run("in a tool that does not end", func(t *testing.T) {
		inTool.Store(true)
		question := r.ask("Which port?")
		<-working
		namesIt(t, r, question, time.Now(), 1, func() {
			if err := os.WriteFile(pipe, []byte("written to the pipe\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		})
		inTool.Store(false)
		term.Rest()
	})
	t.Run("in a process that is stopped", func(t *testing.T) {
		question := r.ask("And which host?")
		<-working
		goOn := faultrig.Freeze(t, clientPID(r))
		close(release)
		namesIt(t, r, question, time.Now(), 2, goOn)
	})
}
