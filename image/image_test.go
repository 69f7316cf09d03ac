package image_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/image"
)

func TestTheHashFollowsWhatTheImageIsBuiltFrom(t *testing.T) {
	t.Parallel()
	pinned := image.Hash("")
	if image.Hash(image.ClaudeVersion) != pinned || len(pinned) != 64 {
		t.Errorf("the pinned version makes another image: %s", pinned)
	}
	if image.Hash("2.0.0") == pinned || image.Hash("2.0.0") == image.Hash("2.0.1") {
		t.Error("another version makes the same image")
	}
}

func TestOneVersionOfClaudeCodeIsPinned(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Dockerfile":         "ARG " + image.VersionArg + "=" + image.ClaudeVersion + "\n",
		"../test/clients.sh": "[claude]=@anthropic-ai/claude-code@" + image.ClaudeVersion + "\n",
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %q", name, want)
		}
	}
}

func TestTheFilesOfTheImageAreWrittenOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(t.TempDir(), "native")
	if err := os.WriteFile(program, []byte("elf"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := image.Write(dir); err != nil {
		t.Fatal(err)
	}
	if err := image.AddClaude(dir, program); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Dockerfile", "entrypoint.sh", "claude"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A launch runs the entrypoint on this host, with programs that only take down
// that they were called.
type launch struct {
	t    *testing.T
	home string
	env  []string
}

func newLaunch(t *testing.T) *launch {
	t.Helper()
	for _, tool := range []string{"bash", "jq", "timeout", "base64"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	l := &launch{t: t, home: t.TempDir()}
	l.write("bin/claude", "#!/bin/sh\necho \"claude $*\" >>$HOME/calls\ncase $1 in plugin) [ ! -e $HOME/offline ] ;; esac\n", 0o755)
	l.write("bin/c3po", "#!/bin/sh\necho \"c3po $*\" >>$HOME/calls\n[ ! -e $HOME/refused ] || { echo 'c3po: the token is not known' >&2; exit 1; }\n", 0o755)
	l.write("calls", "", 0o600)
	l.env = []string{"HOME=" + l.home, "PATH=" + filepath.Join(l.home, "bin") + ":/usr/bin:/bin"}
	return l
}

func (l *launch) write(name, text string, mode os.FileMode) {
	l.t.Helper()
	file := filepath.Join(l.home, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		l.t.Fatal(err)
	}
}

func (l *launch) read(name string) string {
	l.t.Helper()
	data, err := os.ReadFile(filepath.Join(l.home, name))
	if err != nil {
		l.t.Fatal(err)
	}
	return string(data)
}

func (l *launch) init(commands ...string) {
	l.t.Helper()
	data, err := json.Marshal(commands)
	if err != nil {
		l.t.Fatal(err)
	}
	l.env = append(l.env, "AGENT_INIT="+base64.StdEncoding.EncodeToString(data))
}

// run gives what was printed and the exit code.
func (l *launch) run(stdin string, argv ...string) (string, int) {
	l.t.Helper()
	cmd := exec.CommandContext(l.t.Context(), "bash", append([]string{"entrypoint.sh"}, argv...)...)
	cmd.Env, cmd.Stdin = l.env, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		l.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

const twoPlugins = `{"version":2,"plugins":{"c3po@c3po":[{"scope":"user"}],"other@place":[]}}`

// What passes the entrypoint by, a shell and the setup, is shown where it is
// started.
func TestTheModesAreCheckedAsTheTableSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode             string
		offline, refused bool
		code             int
		calls            string
	}{
		{mode: "prompt", calls: "claude plugin update c3po@c3po\nclaude plugin update other@place\nclaude -p hi\n"},
		{mode: "", calls: "claude plugin update c3po@c3po\nclaude plugin update other@place\nclaude -p hi\n"},
		{mode: "prompt", offline: true, calls: "claude plugin update c3po@c3po\nclaude plugin update other@place\nclaude -p hi\n"},
		{mode: "prompt", refused: true, calls: "claude plugin update c3po@c3po\nclaude plugin update other@place\nclaude -p hi\n"},
		{mode: "agent", calls: "claude plugin update c3po@c3po\nclaude plugin update other@place\nc3po whoami\nclaude -p hi\n"},
		{mode: "agent", offline: true, calls: "claude plugin update c3po@c3po\nclaude plugin update other@place\nc3po whoami\nclaude -p hi\n"},
		{mode: "agent", refused: true, code: 78, calls: "claude plugin update c3po@c3po\nclaude plugin update other@place\nc3po whoami\n"},
		{mode: "sleep", code: 64, calls: ""},
	} {
		l := newLaunch(t)
		l.write(".claude/plugins/installed_plugins.json", twoPlugins, 0o600)
		if c.mode != "" {
			l.env = append(l.env, "C3PO_MODE="+c.mode)
		}
		if c.offline {
			l.write("offline", "", 0o600)
		}
		if c.refused {
			l.write("refused", "", 0o600)
		}
		out, code := l.run("", "claude", "-p", "hi")
		if code != c.code || l.read("calls") != c.calls {
			t.Errorf("%+v ended with %d:\n%s%s", c, code, l.read("calls"), out)
		}
		if c.code == 78 && !strings.Contains(out, "the credentials of this agent do not work\nc3po: the token is not known") {
			t.Errorf("it is not said why:\n%s", out)
		}
	}
}

func TestAnAgentDoesNotStartWithoutC3PO(t *testing.T) {
	t.Parallel()
	l := newLaunch(t)
	if err := os.Remove(filepath.Join(l.home, "bin", "c3po")); err != nil {
		t.Fatal(err)
	}
	l.env = append(l.env, "C3PO_MODE=agent")
	if out, code := l.run("", "claude"); code != 78 || !strings.Contains(out, "c3po is not in this container") {
		t.Errorf("%d:\n%s", code, out)
	}
}

func TestInitCommandsHoldForTheClient(t *testing.T) {
	t.Parallel()
	l := newLaunch(t)
	l.write("env.sh", "export FROM_FILE='a \"b\"'\n", 0o600)
	l.init("export ONE=1", "cd $HOME/bin", ". $HOME/env.sh", "cat >/dev/null", "read_me() { :; }; umask 077", `export TWO="it's	$ONE"`)
	out, code := l.run("typed", "bash", "-c", `echo "$ONE|$TWO|$FROM_FILE|${PWD##*/}|$(umask)|$(cat)|${AGENT_INIT:-}|$(trap)"; exit 42`)
	ignored, err := exec.Command("bash", "-c", "trap").Output() // by who started the tests: nohup, for one
	if err != nil {
		t.Fatal(err)
	}
	if want := "1|it's\t1|a \"b\"|bin|0077|typed||" + strings.TrimSpace(string(ignored)) + "\n"; out != want || code != 42 {
		t.Errorf("%q with %d, want %q", out, code, want)
	}
}

func TestAnInitCommandThatFailsEndsTheRunWithItsNumber(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"false":           "c3po: init command 2 failed with 1: false\n",
		"no-such-program": "c3po: init command 2 failed with 127: no-such-program\n",
		"exit 9":          "c3po: init command 2 ended the shell: exit 9\n",
		"(":               "c3po: init command 2 failed with",
	} {
		l := newLaunch(t)
		l.init("true", command, "touch $HOME/third")
		out, code := l.run("", "claude")
		if code != 70 || !strings.Contains(out, want) {
			t.Errorf("%s ended with %d: %s", command, code, out)
		}
		if _, err := os.Stat(filepath.Join(l.home, "third")); err == nil || l.read("calls") != "" {
			t.Errorf("after %s it went on", command)
		}
	}
	for _, bad := range []string{"no base64", base64.StdEncoding.EncodeToString([]byte("no json"))} {
		l := newLaunch(t)
		l.env = append(l.env, "AGENT_INIT="+bad)
		if out, code := l.run("", "claude"); code != 64 || l.read("calls") != "" {
			t.Errorf("%q ended with %d: %s", bad, code, out)
		}
	}
}

func TestTheIdIsHandedOverAsTheContainerHasIt(t *testing.T) {
	t.Parallel()
	l := newLaunch(t)
	l.write("handoff", "", 0o600)
	l.env = append(l.env, "C3PO_AGENT_ID=docker/a", "CLAUDE_DOCKER_TRIGGER_HANDOFF="+filepath.Join(l.home, "handoff"))
	if out, code := l.run("", "claude"); code != 0 || l.read("handoff") != "docker/a\n" {
		t.Errorf("%d, %q:\n%s", code, l.read("handoff"), out)
	}
	l.init("export C3PO_AGENT_ID=docker/b")
	if out, code := l.run("", "claude"); code != 0 || l.read("handoff") != "docker/b\n" {
		t.Errorf("%d, %q:\n%s", code, l.read("handoff"), out)
	}
}

func TestSecretsComeFromAFile(t *testing.T) {
	t.Parallel()
	l := newLaunch(t)
	l.write("secrets", "export TOKEN='hush $HOME'\n", 0o600)
	l.env = append(l.env, "C3PO_ENV_FILE="+filepath.Join(l.home, "secrets"))
	if out, code := l.run("", "bash", "-c", `echo "$TOKEN"`); code != 0 || out != "hush $HOME\n" {
		t.Errorf("%d: %s", code, out)
	}
	l.env = append(l.env, "C3PO_ENV_FILE=/not/there")
	if out, code := l.run("", "claude"); code != 78 || !strings.Contains(out, "cannot be read: /not/there") {
		t.Errorf("%d: %s", code, out)
	}
}

func TestASignalEndsTheChecksAtOnce(t *testing.T) {
	t.Parallel()
	l := newLaunch(t)
	l.write(".claude/plugins/installed_plugins.json", twoPlugins, 0o600)
	l.write("bin/claude", "#!/bin/sh\necho started >>$HOME/calls\nexec sleep 25\n", 0o755)
	cmd := exec.CommandContext(t.Context(), "bash", "entrypoint.sh", "claude")
	cmd.Env = l.env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); l.read("calls") == ""; <-tick.C {
		if time.Now().After(end) {
			t.Fatal("it did not start")
		}
	}
	began := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 143 || time.Since(began) > 15*time.Second {
		t.Errorf("it ended with %d after %v", code, time.Since(began))
	}
}
