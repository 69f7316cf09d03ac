package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A session is a shell that has started c3po mcp, as a coding agent does, and runs
// commands of its model.
const session = `
mkfifo mouth-$$; c3po mcp --as $AGENT <mouth-$$ >ears-$$ 2>&1 & exec 3>mouth-$$
echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}' >&3
echo '{"jsonrpc":"2.0","method":"notifications/initialized"}' >&3
echo '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ping","arguments":{}}}' >&3
for i in $(seq 1200); do grep -q '"id":2' ears-$$ && break; sleep 0.05; done
S=$HOME/.local/state/c3po
nested() { if [ $1 -gt 0 ]; then n=$(($1 - 1)); shift; (nested $n "$@"; exit $?); else shift; "$@"; fi; }
`

// A home is an empty one of a person, with a coordinator.
type home struct {
	t   *testing.T
	dir string
	bin string
}

func newHome(t *testing.T) home {
	t.Helper()
	params(t) // skips where there is no Redis
	program, err := exec.LookPath("c3po")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "c3d") // short, for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	h := home{t, dir, filepath.Dir(program)}
	t.Cleanup(func() { h.person("c3po down") })
	return h
}

func (h home) shell(line string, more ...string) (string, bool) {
	h.t.Helper()
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir = h.dir
	cmd.Env = append([]string{
		"HOME=" + h.dir, "PATH=" + h.bin + ":" + os.Getenv("PATH"), "TMPDIR=" + h.dir, "C3PO_LISTEN=127.0.0.1:0", "GORACE=atexit_sleep_ms=0",
		topVariable + "=" + strconv.Itoa(os.Getpid()),
	}, more...)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// person runs a line in a terminal of the person.
func (h home) person(line string) string {
	h.t.Helper()
	out, ok := h.shell(line)
	if !ok {
		h.t.Errorf("the person's %s: %s", line, out)
	}
	return out
}

// model runs a line as the model of a session does.
func (h home) model(line string) (string, bool) {
	h.t.Helper()
	return h.shell(session+"("+line+"); code=$?; exec 3>&-; wait; exit $code", "AGENT=alice")
}

// What an agent can move away or set is no evidence that there is none.
func TestAnAgentIsKnownByItsProcessesAndNotByItsFiles(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.person("c3po up")
	h.person("c3po off")
	for name, line := range map[string]string{
		"as it is":                        `c3po on`,
		"with its socket moved away":      `mv $S/run-*.sock $HOME/moved; c3po on`,
		"a backup so":                     `mv $S/run-*.sock $HOME/moved2; c3po backup $HOME/all.c3po`,
		"with folders of its own":         `mkdir -p $HOME/own/c3po; ln -s $S/coordinator.* $S/redis $S/redis.sock $HOME/own/c3po; XDG_STATE_HOME=$HOME/own c3po backup $HOME/all.c3po`,
		"to end the coordinator so":       `mkdir -p $HOME/own2/c3po; ln -s $S/coordinator.* $S/redis $S/redis.sock $HOME/own2/c3po; XDG_STATE_HOME=$HOME/own2 c3po down`,
		"a coordinator of its own":        `XDG_STATE_HOME=$HOME/new XDG_CONFIG_HOME=$HOME/newc XDG_RUNTIME_DIR=$HOME/newr c3po up && XDG_STATE_HOME=$HOME/new XDG_CONFIG_HOME=$HOME/newc XDG_RUNTIME_DIR=$HOME/newr c3po down`,
		"a hundred shells further down":   `XDG_STATE_HOME=$HOME/new nested 100 c3po on`,
		"from a session of the kernel's":  `XDG_STATE_HOME=$HOME/new setsid -w c3po on`,
		"without a variable that says so": `mv $S/run-*.sock $HOME/moved3; env -i HOME=$HOME PATH=$PATH ` + topVariable + `=$` + topVariable + ` c3po on`,
	} {
		if out, ok := h.model(line); ok || !strings.Contains(out, "reserved for people") {
			t.Errorf("%s: answered %s", name, out)
		}
	}
	h.person("c3po on") // what the person's own terminal is not refused
}

// An agent that takes others out keeps the person's word from them.
func TestAnAgentTakesNobodyOutOfC3PO(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.person("c3po up; mkdir bob")
	for _, line := range []string{"c3po off --all", "c3po off", "cd bob && c3po off", "c3po off $HOME/bob"} {
		if out, ok := h.model(line); ok || !strings.Contains(out, "reserved for people") {
			t.Errorf("%s: answered %s", line, out)
		}
	}
	if marks, _ := os.ReadDir(filepath.Join(h.dir, ".local", "state", "c3po", "off")); len(marks) > 0 {
		t.Errorf("%d are switched off", len(marks))
	}
}

// It would give itself other tools and hooks than its person has looked at.
func TestAnAgentInstallsAndUninstallsNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, line := range []string{"c3po install codex", "c3po uninstall codex", "c3po install bridge --dir $HOME", "c3po uninstall bridge --dir $HOME", "c3po install --all"} {
		if out, ok := h.model(line); ok || !strings.Contains(out, "reserved for people") {
			t.Errorf("%s: answered %s", line, out)
		}
	}
}
