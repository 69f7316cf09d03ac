package claude_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// A scripted run is what a script sees of one `claude -p`, and what it cost.
type scriptedRun struct {
	stdout, stderr string
	code           int
	requests       int
}

// script runs `claude -p` as a script does, for its output.
func (a *agent) script(prompt string, more ...string) scriptedRun {
	a.t.Helper()
	// Far more than a run takes: one that is cut off for being slow looks like one that changed.
	ctx, cancel := context.WithTimeout(a.t.Context(), 8*time.Minute)
	defer cancel()
	argv := a.onHost(a.arguments(append([]string{"-p", prompt}, more...)...)...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = a.folder, a.env()
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	before := len(a.model.Seen())
	err := cmd.Run()
	if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
		a.t.Fatal(err)
	}
	return scriptedRun{out.String(), complaint.String(), cmd.ProcessState.ExitCode(), len(a.model.Seen()) - before}
}

// A script's claude -p must not change because somebody wrote to its agent. The
// model here answers mail as soon as it hears of some.
func TestMailDoesNotChangeAScriptsRunOfClaude(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"plain": nil, "one turn": {"--max-turns", "1"}, "with a tool": {"--allowedTools", "Bash"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTestCoordinator(t)
			write := func() {}
			a := w.host("pi").agent("api", following(append(reading(always("port 8080")),
				rule{"capital of France", func(request, []string) step {
					write()
					if name == "with a tool" {
						return call("Bash", map[string]any{"command": "true", "description": "a step"})
					}
					return say("Paris")
				}},
				on("", say("Paris")))...))
			// Two turns are one run: the second begins when the first has said goodbye.
			ask := func() scriptedRun { return a.script("What is the capital of France?", flags...) }
			want := ask()
			if want.stdout != "Paris\n" || want.stderr != "" || want.code != 0 {
				t.Fatalf("without mail: %+v", want)
			}
			times := faultrig.Size(3, 50)
			for i := range times - 1 {
				if got := ask(); got != want {
					t.Errorf("run %d without mail: %+v, the first: %+v", i, got, want)
				}
			}
			w.send("web", "api", "Which port?")
			w.send("web", "api", "The disk is full", urgent, noReply)
			for i := range times {
				if got := ask(); got != want {
					t.Errorf("run %d with mail that waits: %+v, without mail: %+v", i, got, want)
				}
			}
			write = func() { w.send("web", "api", "And the host?", urgent) }
			if got := ask(); got != want {
				t.Errorf("with mail that comes during the run: %+v, without mail: %+v", got, want)
			}
			if left := w.unacked("api"); len(left) != 3 {
				t.Errorf("%d messages wait, want all 3", len(left))
			}
		})
	}
}

func TestARunnerThatAsksForItHasMailAnsweredWithoutAPerson(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", following(append(reading(always("port 8080")), on("", say("Paris")))...))
	a.extra = append(a.extra, "C3PO_UNATTENDED=answer")
	if _, err := w.as("api").Ping(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	question := w.send("web", "api", "Which port?")
	if got := a.script("What is the capital of France?"); got.code != 0 || got.stderr != "" {
		t.Errorf("%+v", got)
	}
	got, err := w.as("web").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: question.ID, Timeout: 1})
	if err != nil || got.Response != "port 8080" {
		t.Errorf("the answer is %q, %v", got.Response, err)
	}
}

func TestTheEndOfASessionShowsNoErrorOfOurs(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", quiet)
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	term.tmux("set-option", "-g", "remain-on-exit", "on")
	term.enter("/exit")
	eventually(t, 20*time.Second, "it has ended", func() bool { return term.tmux("display-message", "-p", "#{pane_dead}") == "1" })
	if screen := term.screen(); strings.Contains(screen, "hook") {
		t.Errorf("the end shows:\n%s", screen)
	}
	eventually(t, 5*time.Second, "it is offline", func() bool { return w.status("api") == c3po.Offline })
}
