package runner_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
)

var clockBlock = regexp.MustCompile("(?s)```yaml\n(clock:.*?)```")

// Claims: E2, E5, E9
func TestTheExampleOfTheDocumentWorks(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	text, err := os.ReadFile("../../docs/runner.md")
	if err != nil {
		t.Fatal(err)
	}
	block := clockBlock.FindStringSubmatch(string(text))
	if block == nil {
		t.Fatal("docs/runner.md has no such agent")
	}
	workspace := filepath.Join(h.home, "clock")
	if err := errors.Join(os.Mkdir(workspace, 0o755), os.Chown(workspace, 1000, 1000)); err != nil {
		t.Fatal(err)
	}
	// What is remembered is shown by the same agent, in its workspace.
	h.agents(block[1] + "    cp /memory/thread.md thread.md; echo again >> /memory/notes.md; cp /memory/notes.md notes.md\n  memory: thread\n")
	if checked := h.c3po(workspace, "", "agent", "check"); checked.code != 0 || !strings.Contains(checked.stdout, "is right") {
		t.Fatalf("%+v", checked)
	}
	loop := h.start("agent", "run", "clock")
	eventually(t, 2*time.Minute, "the first run has ended", func() bool { return strings.Contains(loop.out.String(), "the run has ended") })
	answer := regexp.MustCompile(`^It is [0-9]{2}:[0-9]{2}\.$`)
	var thread string
	for n, question := range []string{"What time is it?", "And now?"} {
		receipt, err := h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "docker/clock", Message: question, Thread: thread, WaitSeconds: 120})
		if err != nil || receipt.Reply == nil || !answer.MatchString(receipt.Reply.Response) {
			t.Fatalf("%+v, %v\n%s", receipt, err, loop.out)
		}
		thread = receipt.Thread
		// The first run was the one at the start.
		eventually(t, time.Minute, "its notes are kept", func() bool { return len(lines(filepath.Join(workspace, "notes.md"))) >= n+2 })
	}
	remembered, err := os.ReadFile(filepath.Join(workspace, "thread.md"))
	if err != nil || !strings.Contains(string(remembered), "| What time is it?\n") || !strings.Contains(string(remembered), "| It is ") || !strings.Contains(string(remembered), "| And now?\n") {
		t.Errorf("the conversation is not remembered: %v\n%s", err, remembered)
	}
}
