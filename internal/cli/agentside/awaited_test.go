package agentside

import (
	"testing"

	"github.com/c3po-dev/c3po/internal/host/paths"
)

func TestAClientThatWaitsForASessionIsKnownByItsProcess(t *testing.T) {
	t.Parallel()
	const id, other = "019a2b6e-1b2c-7d3e-8f40-123456789abc", "019a2b6e-1b2c-7d3e-8f40-cba987654321"
	s := paths.Session{Client: "codex", ID: id, Folder: "/project"}
	codex := func(args ...string) []string { return append([]string{"/opt/codex"}, args...) }
	for name, c := range map[string]struct {
		args   []string
		folder string
		serves bool // it has started a session process of ours
		want   bool
	}{
		"it names the session":         {codex("resume", id), "/elsewhere", false, true},
		"it names none, in its folder": {codex("resume", "--last"), "/project", false, true},
		"it names none, elsewhere":     {codex("resume", "--last"), "/elsewhere", false, false},
		"it names another":             {codex("resume", other), "/project", false, false},
		"it has opened one":            {codex("resume", id), "/project", true, false},
		"it begins a new one":          {codex("fix the tests"), "/project", false, false},
		"a script's, or ours":          {codex("exec", "resume", id, "hello"), "/project", false, false},
		"another program":              {[]string{"vim", "resume", id}, "/project", false, false},
	} {
		all := map[int]hostProcess{10: {parent: 1, args: c.args, folder: c.folder}}
		if c.serves {
			all[11] = hostProcess{parent: 10}
			all[12] = hostProcess{parent: 11, args: []string{"/usr/bin/c3po", "mcp", "--client", "codex"}}
		}
		if got := awaits(all, s); got != c.want {
			t.Errorf("%s: awaited %v", name, got)
		}
	}
}
