package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheProgramAnswersAsClaudeDocker(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ args, want []string }{
		{[]string{"what is this?"}, []string{"agent", "prompt", "what is this?"}},
		{[]string{"-sj", "what is this?"}, []string{"agent", "prompt", "-sj", "what is this?"}},
		{[]string{"-b", "--no-stream", "x"}, []string{"agent", "prompt", "-b", "--no-stream", "x"}},
		{[]string{"shell"}, []string{"agent", "shell"}},
		{[]string{"setup"}, []string{"agent", "setup"}},
		{[]string{"setup-c3po", "http://nas", "token"}, []string{"agent", "setup-c3po", "http://nas", "token"}},
		{[]string{"agent", "list"}, []string{"agent", "list"}},
		{[]string{"agent", "reviewer"}, []string{"agent", "reviewer"}},
		{[]string{"agent", "run", "reviewer", "--once"}, []string{"agent", "run", "reviewer", "--once"}},
		{[]string{"-b", "agent", "reviewer"}, []string{"agent", "reviewer", "-b"}},
		{[]string{"--help"}, []string{"agent", "--help"}},
		{nil, []string{"agent"}},
	} {
		for _, name := range []string{"claude-docker", "/usr/local/bin/claude-docker", "claude-docker.exe"} {
			if diff := cmp.Diff(row.want, calledAs(name, row.args)); diff != "" {
				t.Errorf("%s %q (-want +got):\n%s", name, row.args, diff)
			}
		}
	}
	if got := calledAs("c3po", []string{"send"}); len(got) != 1 {
		t.Errorf("our own name gives %q", got)
	}
}

func TestTheProgramAnswersAsC2C(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"send": "send", "list": "agents", "poll-inbox": "inbox", "monitor": "tail"} {
		if diff := cmp.Diff([]string{want, "--json"}, calledAs("/usr/bin/c2c", []string{name, "--json"})); diff != "" {
			t.Error(diff)
		}
	}
}
