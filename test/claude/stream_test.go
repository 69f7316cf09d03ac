package claude_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/runner/streamfmt"
)

// recordTo is the variable that names a folder for the streams of this test, made
// anonymous: internal/runner/streamfmt/testdata is filled with it.
const recordTo = "C3PO_RECORD"

func TestTheFormatterKnowsEveryRecordOfTheRealStream(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	h := w.host("box")
	for name, run := range map[string]struct {
		thinks brain
		more   []string
		want   []string
	}{
		"plain": {
			thinks: func(request) step { return say("There are two topics.") },
			want:   []string{"There are two topics."},
		},
		"tools": {
			thinks: inTurn(
				call("Write", map[string]any{"file_path": filepath.Join(h.dir, "tools", "a.txt"), "content": "one\ntwo\n"}),
				call("Bash", map[string]any{"command": "wc -l a.txt && sleep 0.3", "description": "Count the lines"}),
				call("Bash", map[string]any{"command": "echo broken >&2; exit 3"}),
				call("Read", map[string]any{"file_path": filepath.Join(h.dir, "tools", "missing.txt")}),
				call("whoami", nil),
				say("Done: two lines.\nThe second command failed."),
			),
			more: []string{"--dangerously-skip-permissions"},
			want: []string{"Write a.txt", "Bash wc -l a.txt", "Bash echo broken", "Done: two lines."},
		},
		"partial": {
			thinks: inTurn(call("Bash", map[string]any{"command": "true"}), say("Well.")),
			more:   []string{"--dangerously-skip-permissions", "--include-partial-messages", "--include-hook-events"},
			want:   []string{"Bash true", "Well."},
		},
		"turns": {
			thinks: func(request) step { return call("Bash", map[string]any{"command": "true"}) },
			more:   []string{"--dangerously-skip-permissions", "--max-turns", "2"},
			want:   []string{"Bash true"},
		},
		"denied": {
			thinks: inTurn(call("Bash", map[string]any{"command": "rm -f a.txt"}), say("I may not.")),
			want:   []string{"Bash rm -f a.txt", "I may not."},
		},
		"subagent": {
			thinks: func(r request) step {
				if !strings.Contains(r.All(), "what is there?") { // the subagent is given only its task
					return inTurn(call("Bash", map[string]any{"command": "ls"}), say("Nothing."))(r)
				}
				return inTurn(call("Task", map[string]any{"description": "Look around", "prompt": "List the files.", "subagent_type": "general-purpose"}), say("Empty."))(r)
			},
			more: []string{"--dangerously-skip-permissions"},
			want: []string{"Task Look around", "Empty."},
		},
		"down": {
			more: []string{"--model", "opus"},
			want: []string{"✗ failed after"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := h.agent(name, run.thinks)
			a.extra = append(a.extra, "IS_SANDBOX=1") // root may skip permissions only in one
			if run.thinks == nil {
				a.extra = append(a.extra, "ANTHROPIC_BASE_URL=http://127.0.0.1:1") // nobody is there
			}
			stream := a.stream("what is there?", run.more...)
			if folder := os.Getenv(recordTo); folder != "" {
				keep(t, filepath.Join(folder, name+".jsonl"), a, stream)
			}
			var out strings.Builder
			summary, err := streamfmt.Copy(&out, strings.NewReader(stream), streamfmt.Config{})
			if err != nil || summary.Unknown > 0 || summary.Records == 0 {
				t.Errorf("%d of %d records are unknown to the formatter (%v):\n%s", summary.Unknown, summary.Records, err, stream)
			}
			for _, want := range run.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not shown:\n%s", want, out.String())
				}
			}
		})
	}
}

// inTurn is a brain that takes its steps one after the other.
func inTurn(steps ...step) brain {
	return func(r request) step {
		n := 0
		for _, m := range r.Messages {
			if m.Role == "assistant" {
				n++
			}
		}
		return steps[min(n, len(steps)-1)]
	}
}

var (
	aSocket  = regexp.MustCompile(`/tmp/cc-socks/[0-9]+\.sock`)
	aMessage = regexp.MustCompile(`"api_message_id":"[^"]*"`) // which scanners take for a secret
	aUUID    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// stream is what `claude -p` writes, however it ends.
func (a *agent) stream(prompt string, more ...string) string {
	ctx, cancel := context.WithTimeout(a.t.Context(), 2*time.Minute)
	defer cancel()
	argv := a.onHost(a.arguments(append([]string{"-p", prompt, "--output-format", "stream-json", "--verbose"}, more...)...)...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = a.folder, a.env()
	out, _ := cmd.Output() // a run that was told to end early ends badly
	return string(out)
}

// keep writes a stream down without what belongs to this machine.
func keep(t *testing.T, name string, a *agent, stream string) {
	t.Helper()
	stream = strings.NewReplacer(a.plugin, "/home/ada/plugin", a.dir, "/home/ada").Replace(stream)
	stream = aSocket.ReplaceAllString(strings.ReplaceAll(stream, strings.ReplaceAll(a.dir, "/", "-"), "-home-ada"), "/tmp/cc.sock")
	stream = aUUID.ReplaceAllString(stream, "00000000-0000-4000-8000-000000000000")
	stream = aMessage.ReplaceAllString(stream, `"api_message_id":"msg_1"`)
	if err := os.WriteFile(name, []byte(stream), 0o600); err != nil {
		t.Fatal(err)
	}
}
