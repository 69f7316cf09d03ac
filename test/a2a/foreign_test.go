package a2a_test

import (
	"bufio"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// A foreign agent is one on the SDK, in a process of its own.
type foreign struct {
	t    *testing.T
	port int
	cmd  *exec.Cmd

	mu    sync.Mutex
	asked []string
}

func newForeign(t *testing.T) *foreign {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &foreign{t: t, port: free.Addr().(*net.TCPAddr).Port}
	_ = free.Close()
	f.start()
	t.Cleanup(f.kill)
	return f
}

func (f *foreign) start() {
	f.t.Helper()
	f.cmd = script(f.t, "agent.mjs", fmt.Sprint(f.port))
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		f.t.Fatal("the foreign agent did not start")
	}
	go func() {
		for lines.Scan() {
			f.mu.Lock()
			f.asked = append(f.asked, lines.Text())
			f.mu.Unlock()
		}
	}()
}

func (f *foreign) kill() {
	_ = f.cmd.Process.Kill()
	_ = f.cmd.Wait()
}

// times is how often it was asked a text, and under how many ids.
func (f *foreign) times(text string) (times, ids int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := map[string]bool{}
	for _, line := range f.asked {
		if id, said, _ := strings.Cut(line, " "); said == text {
			times++
			seen[id] = true
		}
	}
	return times, len(seen)
}

func TestAnAgentOfAnotherSystemIsAskedThroughC3po(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	s := newSite(t)
	admin := s.as("")
	added, err := admin.AddRemote(t.Context(), c3po.RemoteInput{URL: fmt.Sprintf("http://127.0.0.1:%d", f.port)})
	if err != nil || added.AgentID != "Billing-Bot" {
		t.Fatalf("%+v, %v", added, err)
	}
	known := func() bool {
		agent, err := admin.GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "Billing-Bot"})
		return err == nil && agent.Standing(time.Now(), time.Now()) == "remote, state unknown"
	}
	if !faultrig.Within(30*time.Second, known) {
		t.Fatal("it does not appear among the agents")
	}
	receipt, err := s.as("web").SendMessage(t.Context(), c3po.SendInput{Target: "Billing-Bot", Message: "order 7", WaitSeconds: 60})
	if err != nil || receipt.Reply == nil || receipt.Reply.Response != "Invoice for: order 7" {
		t.Fatalf("the answer is %+v, %v", receipt, err)
	}
	if times, _ := f.times("order 7"); times != 1 {
		t.Errorf("it was asked %d times", times)
	}

	waiting, err := s.as("web").SendMessage(t.Context(), c3po.SendInput{Target: "Billing-Bot", Message: "Wait for it"})
	if err != nil {
		t.Fatal(err)
	}
	// It has said that it has the task: before that, it would be asked again.
	if !faultrig.Within(30*time.Second, func() bool {
		trace, err := s.as("web").Trace(t.Context(), c3po.MessageInput{MessageID: waiting.ID})
		return err == nil && trace.Received != nil
	}) {
		t.Fatal("it was not asked")
	}
	f.kill()
	f.start() // it has forgotten its tasks
	got, err := s.as("web").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: waiting.ID, Timeout: 90})
	if err != nil || got.Status != c3po.ReplyError || !strings.Contains(got.Response, "no longer knows the task") {
		t.Errorf("after it was killed the asker hears %+v, %v", got, err)
	}
	if times, _ := f.times("Wait for it"); times != 1 {
		t.Errorf("it was asked again %d times", times)
	}

	if _, err := admin.RevokeToken(t.Context(), added.KID); err != nil {
		t.Fatal(err)
	}
}
