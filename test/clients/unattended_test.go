package clients_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// A scripted run is what a script sees of one prompt, and what it cost.
type scriptedRun struct {
	stdout, stderr string
	code           int
	requests       int
}

// changing is what differs between two runs of the same: ids, times, counts.
var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]+|\d+(\.\d+)?`)

// script runs a command as a script does, which may give it its prompt on stdin.
func (r *rig) script(stdin string, argv ...string) scriptedRun {
	r.t.Helper()
	// Far more than a run takes: one that is cut off for being slow looks like one that changed.
	ctx, cancel := context.WithTimeout(r.t.Context(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs(r.t, r.client), argv[0]), argv[1:]...)
	cmd.Dir, cmd.Env = r.project(), r.env()
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	before := r.model.count()
	err := cmd.Run()
	if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
		r.t.Fatal(err)
	}
	return scriptedRun{
		changing.ReplaceAllString(out.String(), "N"), changing.ReplaceAllString(complaint.String(), "N"), cmd.ProcessState.ExitCode(), r.model.count() - before,
	}
}

// A script's run must not change because somebody wrote to its agent. The model
// answers mail as soon as it hears of some.
//
// Claims: D1
func TestMailDoesNotChangeAScriptsRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stdin string
		argv        []string
	}{
		{"codex", "", []string{"codex", "exec", "--skip-git-repo-check", "do some work"}},
		{"opencode", "", []string{"opencode", "run", "do some work"}},
		{"gemini", "", []string{"gemini", "-m", "gemini-2.5-flash", "-p", "do some work"}},
		{"gemini from a pipe", "do some work", []string{"gemini", "-m", "gemini-2.5-flash"}},
		{"copilot", "", []string{"copilot", "-s", "-p", "do some work"}},
		{"copilot from a pipe", "do some work", []string{"copilot", "-s"}},
		{"kimi", "", []string{"kimi", "-p", "do some work"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.argv[0], func(*rig) brain { return reading("port 8080", done) })
			if _, err := r.as("api").Ping(t.Context(), c3po.None{}); err != nil {
				t.Fatal(err)
			}
			once := func() scriptedRun { return r.script(c.stdin, c.argv...) }
			want := once()
			if !strings.Contains(want.stdout, "ALL-DONE") || want.code != 0 {
				t.Fatalf("without mail: %+v", want)
			}
			r.ask("Which port?")
			r.ask("Is it urgent?", urgent)
			for i := range faultrig.Size(1, 50) {
				if got := once(); got != want {
					t.Errorf("run %d with mail: %+v\nwithout: %+v", i, got, want)
				}
			}
			pending, err := r.as("api").Pending(t.Context(), c3po.PendingInput{})
			if err != nil || pending.Count != 2 {
				t.Errorf("%d messages wait, want both: %v", pending.Count, err)
			}
		})
	}
}
