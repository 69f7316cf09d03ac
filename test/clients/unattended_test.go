package clients_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// changing is what differs between two runs of the same: ids, times, counts.
var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]+|\d+(\.\d+)?`)

// ownTimings is what Gemini CLI writes of its own start now and then, with or without mail.
var ownTimings = regexp.MustCompile(`(?m)^\[STARTUP\] .*\n?`)

// A script's run must not change because somebody wrote to its agent. The model
// answers mail as soon as it hears of some.
func TestMailDoesNotChangeAScriptsRun(t *testing.T) {
	t.Parallel()
	for _, run := range []struct {
		name  string
		piped []string // the command line, if the prompt comes from a pipe
	}{
		{"codex", nil},
		{"opencode", nil},
		{"gemini", nil},
		{"gemini from a pipe", []string{"gemini", "-m", "gemini-2.5-flash"}},
		{"copilot", nil},
		{"copilot from a pipe", []string{"copilot", "-s"}},
		{"kimi", nil},
	} {
		t.Run(run.name, func(t *testing.T) {
			t.Parallel()
			client, _, _ := strings.Cut(run.name, " ")
			r := newTestAgent(t, client, answering)
			r.c.Exists("api")
			once := func() clientrig.Outcome {
				var got clientrig.Outcome
				if run.piped != nil {
					got = r.Run("do some work", run.piped...)
				} else {
					got = r.Run("", r.Once("do some work")...)
				}
				got.Stderr = ownTimings.ReplaceAllString(got.Stderr, "")
				got.Stdout, got.Stderr = changing.ReplaceAllString(got.Stdout, "N"), changing.ReplaceAllString(got.Stderr, "N")
				return got
			}
			want := once()
			if !strings.Contains(want.Stdout, "ALL-DONE") || want.Code != 0 {
				t.Fatalf("without mail: %+v", want)
			}
			r.ask("Which port?")
			r.ask("Is it urgent?", clientrig.Urgent)
			for i := range faultrig.Size(1, 50) {
				if got := once(); got != want {
					t.Errorf("run %d with mail: %+v\nwithout: %+v", i, got, want)
				}
			}
			if left := r.c.Unacked("api"); len(left) != 2 {
				t.Errorf("%d messages wait, want both", len(left))
			}
		})
	}
}
