package clients_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A hosted prompt is one that the plugin of OpenCode has made.
type hostedPrompt struct{ Session, Agent, Model, Text string }

func TestANoticeThatStartsNoTurnOfOpenCodeIsSentAgain(t *testing.T) {
	t.Parallel()
	a := alone(t, "opencode", done)
	install(a)
	// In the place of c3po, one that has mail at once.
	const line = "c3po: 1 new message expecting an answer from 'web'. get_messages shows it."
	fake := filepath.Join(a.Dir, "fake")
	script := "#!/bin/sh\nif [ \"$1\" = monitor ]; then echo \"" + line + "\"; exec sleep 60; fi\ncat >/dev/null\n"
	if err := os.WriteFile(fake, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	installed := filepath.Join(".config", "opencode", "plugin", "c3po.ts")
	var text []string
	for line := range strings.Lines(a.Text(installed)) {
		if strings.HasPrefix(line, "const c3po = ") {
			line = "const c3po = \"" + fake + "\"\n"
		}
		text = append(text, line)
	}
	a.Write(installed, strings.Join(text, ""))
	compile(a, filepath.Join(a.Home(), installed), filepath.Join(a.Dir, "js"))
	if err := os.WriteFile(filepath.Join(a.Dir, "js", "package.json"), []byte(`{"type": "module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	host, err := filepath.Abs("testdata/opencode-host.mjs")
	if err != nil {
		t.Fatal(err)
	}
	// With the agent and the model of the person, and never in a subagent.
	prompt := hostedPrompt{"s", "plan", "big", line}
	for starts, want := range map[string]struct {
		prompts  []hostedPrompt
		warnings int
	}{
		"1": {[]hostedPrompt{prompt}, 0},
		"2": {[]hostedPrompt{prompt, prompt}, 0},
		"0": {[]hostedPrompt{prompt, prompt, prompt}, 1}, // no turn ever starts
	} {
		out := a.Must("node", host, filepath.Join(a.Dir, "js", "c3po.js"), starts, strconv.Itoa(len(want.prompts)))
		var got struct {
			Prompts  []hostedPrompt
			Warnings int
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if diff := cmp.Diff(want.prompts, got.Prompts); diff != "" || got.Warnings != want.warnings {
			t.Errorf("a turn starts at prompt %s: %d warnings\n%s", starts, got.Warnings, diff)
		}
	}
}
