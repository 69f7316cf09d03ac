package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
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
	h := home{t, faultrig.Home(t), filepath.Dir(program)}
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

// An editor starts tools in one process of its own and terminals in another, and its
// agents type into the same terminals as the person: nobody can tell them apart.
func TestATerminalInsideAnEditorThatRunsAgentsIsTheirs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.person("c3po up")
	for name, text := range map[string]string{
		"editor.sh": `trap 'touch over; wait' EXIT; ./editor tools.sh & until [ -e ready ]; do sleep 0.05; done; ./editor terminal.sh; true`,
		"tools.sh":  session + "touch ready; until [ -e over ]; do sleep 0.05; done; exec 3>&-; wait",
		// What a person types in the editor's terminal, and in their own meanwhile.
		"terminal.sh": "bash -c 'c3po on; true'",
		"own.sh":      "AGENT=alice ./editor editor.sh & until [ -e ready ]; do sleep 0.05; done; echo own; c3po on; wait",
	} {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := h.person(`cp "$(command -v bash)" editor; bash own.sh`)
	for _, want := range []string{"reserved for people", "editor", "has started c3po mcp", "outside the program that runs the agent", "c3po is on"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in %s", want, out)
		}
	}
	if strings.Count(out, "reserved for people") != 1 {
		t.Errorf("the person's own terminal is refused too: %s", out)
	}
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

// The setting may stand in a file that somebody else has written.
func TestWhoStartsAnOpenCoordinatorIsToldOnTheTerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	config := filepath.Join(h.dir, ".config", "c3po")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "c3po.yaml"), []byte("auth: none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"c3po up", "c3po up", "c3po status"} {
		if out := h.person(line); !strings.Contains(out, "authentication is off") || line == "c3po up" && !strings.Contains(out, "c3po.yaml:1") {
			t.Errorf("%s says %s", line, out)
		}
	}
}

// Who can write to Redis can take everything away.
func TestAnAuditThatIsEmptyIsNoProof(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.person("c3po up")
	h.person("c3po audit verify")
	state := filepath.Join(h.dir, ".local", "state", "c3po")
	password, err := os.ReadFile(filepath.Join(state, "redis", "password.conf"))
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(password))
	redis := "redis-cli -s " + filepath.Join(state, "redis.sock") + " -a " + strings.Trim(words[len(words)-1], `"`) + " --no-auth-warning "
	h.person("rm " + filepath.Join(state, "audit.json"))
	if out := h.person(redis + "del 'c3po:1:{_}:audit' 'c3po:1:{_}:chain'"); out != "2\n" {
		t.Fatalf("of the audit and its chain these were taken away: %s", out)
	}
	if out, ok := h.shell("c3po audit verify"); ok || !strings.Contains(out, "nothing to verify: the audit is empty") {
		t.Errorf("an empty audit is answered %s", out)
	}
}

// Agents that share a token are one caller; a token for each parts them.
func TestAgentsWithTokensOfTheirOwnCannotActAsEachOther(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.person("c3po up")
	token := func(agents string) string {
		var made struct{ Token string }
		if err := json.Unmarshal([]byte(h.person("c3po token create --role agent --agents '"+agents+"' --json")), &made); err != nil || made.Token == "" {
			t.Fatalf("the token is %q, %v", made.Token, err)
		}
		return made.Token
	}
	call := func(token, as, op string) string {
		return h.person(`curl -s -H 'Content-Type: application/json' -H 'Authorization: Bearer ` + token + `' -H 'X-Agent-ID: ` + as + `' -d '{}' ` +
			`$(sed -n 's/.*"url": *"\([^"]*\)".*/\1/p' .local/state/c3po/coordinator.json | head -1)/api/op/` + op)
	}
	alice, bob, shared := token("desk/alice"), token("desk/bob"), token("desk/*")
	for _, op := range []string{"ping", "peek", "get_messages", "ack_messages", "send_message", "rename"} {
		if answer := call(alice, "desk/bob", op); !strings.Contains(answer, "FORBIDDEN") {
			t.Errorf("alice's token is answered as bob, %s: %s", op, answer)
		}
	}
	for name, answer := range map[string]string{"bob's own token": call(bob, "desk/bob", "peek"), "a token of both": call(shared, "desk/bob", "peek")} {
		if strings.Contains(answer, `"code"`) {
			t.Errorf("%s is answered %s", name, answer)
		}
	}
}
