package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

func TestTheFolderOfClaudeDockerIsUsedWhereItIs(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	own := FindPlaces(home, "/config", "/state")
	want := Places{
		AgentFile: "/config/agents.yaml", Template: "/config/claude", Homes: "/state/agent/homes",
		Settings: "/state/agent/claude-docker.yaml", Login: "/config/oauth-token", Personal: filepath.Join(home, ".claude", ".credentials.json"),
		Handoffs: "/state/agent/handoff", State: "/state/agent", Shared: "/state/agent/claude", Own: []string{"/config", "/state"},
	}
	if diff := cmp.Diff(want, own); diff != "" {
		t.Errorf("our own places (-want +got):\n%s", diff)
	}
	old := filepath.Join(home, ".claude-docker")
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	// What containers write is never in it.
	want.AgentFile, want.Settings, want.Login = old+"/agents.yaml", old+"/claude-docker.yaml", old+"/.oauth-token"
	want.Shared, want.Own = old, append(want.Own, old)
	if diff := cmp.Diff(want, FindPlaces(home, "/config", "/state")); diff != "" {
		t.Errorf("those of claude-docker (-want +got):\n%s", diff)
	}
}

func TestTheEnvironmentBeatsTheTokenFileAndThatTheCredentials(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	env := map[string]string{}
	r := New(Config{Places: FindPlaces(home, filepath.Join(home, "config"), filepath.Join(home, "state")), Getenv: func(name string) string { return env[name] }})
	claude := agentfile.Agent{Client: agentfile.DefaultClient}
	if _, err := r.login(claude); !errors.Is(err, c3po.InvalidRequest) || !strings.Contains(c3po.AsError(err).Suggestion, "agent setup") {
		t.Errorf("without anything: %v", err)
	}
	personal := r.cfg.Places.Personal
	if err := errors.Join(os.MkdirAll(filepath.Dir(personal), 0o700), os.WriteFile(personal, []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if in, err := r.login(claude); err != nil || in.file != personal || in.env != nil {
		t.Errorf("with credentials: %v %v", in, err)
	}
	if err := r.StoreLogin("from-file\n"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(r.cfg.Places.Login); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token is kept as %v, %v", info, err)
	}
	if in, err := r.login(claude); err != nil || in.file != "" || len(in.env) != 1 || in.env[0] != (variable{loginVariable, "from-file"}) {
		t.Errorf("with a token file: %v %v", in, err)
	}
	env[loginVariable] = "from-environment"
	if in, err := r.login(claude); err != nil || len(in.env) != 1 || in.env[0].value != "from-environment" {
		t.Errorf("with a variable: %v %v", in, err)
	}
	if in, err := r.login(agentfile.Agent{Client: "shell"}); err != nil || in.env != nil {
		t.Errorf("an agent of another program gets %v, %v", in, err)
	}
	for _, bad := range []string{"", "two words", "two\nlines"} {
		if r.StoreLogin(bad) == nil {
			t.Errorf("%q was stored", bad)
		}
	}
}

func TestVariablesAreExportedWhateverIsInThem(t *testing.T) {
	t.Parallel()
	got := string(exports([]variable{{"A", "it's $HOME `x` \\ \"q\"\nline"}, {"B", ""}}))
	want := "export A='it'\\''s $HOME `x` \\ \"q\"\nline'\nexport B=''\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAContainerReachesTheCoordinatorOfItsHost(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		address, system, want string
		near                  bool
	}{
		{"http://localhost:8420", "linux", "http://localhost:8420", true},
		{"http://127.0.0.1:8420", "darwin", "http://host.docker.internal:8420", true},
		{"https://nas.example:8420", "linux", "https://nas.example:8420", false},
		{"http://[::1]:8420", "linux", "http://[::1]:8420", true},
	} {
		if got, near := inside(row.address, "host.docker.internal", row.system); got != row.want || near != row.near {
			t.Errorf("%s on %s: %s %v", row.address, row.system, got, near)
		}
	}
}
