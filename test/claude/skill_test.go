package claude_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

var (
	typed  = regexp.MustCompile("Your user typed `/c3po:coordinate ([a-z]+) ?([^`]*)`")
	toRun  = regexp.MustCompile("run `([^`]+)`")
	toCall = regexp.MustCompile("`(list_agents|send_message)`")
)

// obedient is a model that does what the skill says for the word its person typed:
// the command or the tool is taken from that line of it.
func obedient(r request) step {
	match := typed.FindStringSubmatch(r.Fresh())
	if match == nil {
		return say("REPORT %s", r.Fresh())
	}
	for line := range strings.Lines(r.Fresh()) {
		if !strings.HasPrefix(line, "- `"+match[1]) {
			continue
		}
		if command := toRun.FindStringSubmatch(line); command != nil {
			return call("Bash", map[string]any{"command": command[1], "description": "as told"})
		}
		tool := toCall.FindStringSubmatch(line)
		if tool == nil {
			continue
		}
		if tool[1] == "list_agents" {
			return call("list_agents", nil)
		}
		target, question, _ := strings.Cut(match[2], " ")
		return call("send_message", map[string]any{"target": target, "message": question, "wait_seconds": 120})
	}
	return say("the skill does not know %q", match[1])
}

func TestThePersonsWordsAfterCoordinateDoWhatTheySay(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("homeassistant", obedient)
	bin := filepath.Join(a.home(), "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(strings.TrimPrefix(a.extra[0], "C3PO_BINARY="), filepath.Join(bin, "c3po")); err != nil {
		t.Fatal(err)
	}
	a.extra = append(a.extra, "PATH="+bin+":/usr/local/bin:/usr/bin:/bin")
	answering := w.as("meshtastic")
	if _, err := answering.Ping(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	go func() {
		got, err := answering.WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 120})
		if err == nil && got.Message.Message == "What topics do you use?" {
			_, _ = answering.Reply(t.Context(), c3po.ReplyInput{MessageID: got.ID, Response: "mesh/#"})
		}
	}()
	for _, line := range []struct{ words, report string }{
		{"status", w.coordinator.URL()},
		{"agents", "| meshtastic"},
		{"ask meshtastic What topics do you use?", "| mesh/#"},
		{"auto", "| meshtastic"},
		{"off", "| meshtastic"},             // a script is no person
		{"on", "c3po is switched off here"}, // nor here
	} {
		t.Run(line.words, func(t *testing.T) {
			if line.words == "on" {
				a.must(filepath.Join(bin, "c3po"), "off")
			}
			p := a.print("/c3po:coordinate "+line.words, "--allowedTools", "Bash")
			if !strings.Contains(p.result, line.report) {
				t.Errorf("it reported %q, want %q\n%s", p.result, line.report, a.model.Last().Fresh())
			}
		})
	}
}
