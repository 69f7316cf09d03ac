package runner_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

var clockBlock = regexp.MustCompile("(?s)```yaml\n(clock:.*?)```")

func TestTheExampleOfTheDocumentWorks(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	text, err := os.ReadFile("../../docs/guides/runner.md")
	if err != nil {
		t.Fatal(err)
	}
	block := clockBlock.FindStringSubmatch(string(text))
	if block == nil {
		t.Fatal("docs/guides/runner.md has no such agent")
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

func TestTheExampleOfATriggeredContainerWorks(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	workspace := h.workspace("work")
	for _, name := range []string{"a", "b", "c"} {
		if err := writeFile(filepath.Join(workspace, name)); err != nil {
			t.Fatal(err)
		}
	}
	h.extra = append(h.extra, "WORKSPACE="+workspace, "PATH="+filepath.Dir(binary())+":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	got := h.run(exec.CommandContext(ctx, "../../examples/triggered-container.sh"), "", "")
	if got.code != 0 || !strings.Contains(got.stdout, "| There are 3 files.") {
		t.Errorf("it ends with %d and says\n%s%s", got.code, got.stdout, got.stderr)
	}
	if left := h.containers(); len(left) != 0 {
		t.Errorf("containers are left: %v", left)
	}
	if _, err := os.Stat(filepath.Join(h.home, ".config", "c3po", "agents.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its agents.yaml is left: %v", err)
	}
}
