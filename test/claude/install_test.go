package claude_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// command runs a program on the host, as its person would.
func (a *agent) command(name string, args ...string) (string, error) {
	argv := a.onHost(append([]string{name}, args...)...)
	cmd := exec.CommandContext(a.t.Context(), argv[0], argv[1:]...)
	cmd.Dir = a.folder
	cmd.Env = append(a.env(), "PATH="+filepath.Dir(claudeBinary(a.t))+":/usr/local/bin:/usr/bin:/bin")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (a *agent) must(name string, args ...string) string {
	a.t.Helper()
	out, err := a.command(name, args...)
	if err != nil {
		a.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

func TestOneCommandInstallsAndAnotherTakesItBack(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", quiet)
	c3poBinary := strings.TrimPrefix(a.extra[0], "C3PO_BINARY=")
	a.plugin, a.extra = "", a.extra[1:]
	settings := filepath.Join(a.home(), ".claude", "settings.json")
	mine := []byte(`{"model":"opus","permissions":{"allow":["Bash(ls)"]}}`)
	if err := os.WriteFile(settings, mine, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := a.must(c3poBinary, "install", "claude", "--dry-run"); !strings.Contains(out, "would run claude plugin install") {
		t.Errorf("a dry run says:\n%s", out)
	}
	if now, err := os.ReadFile(settings); err != nil || !bytes.Equal(now, mine) {
		t.Fatalf("a dry run has changed the settings: %s, %v", now, err)
	}
	began := time.Now()
	out := a.must(c3poBinary, "install", "claude")
	if !strings.Contains(out, "Claude Code has c3po with 11 tools") || !strings.Contains(out, "answers") {
		t.Errorf("the self-test says:\n%s", out)
	}
	if all := w.ids(); len(all) != 0 {
		t.Errorf("the self-test has registered %v", all)
	}
	a.print("hello")
	faultrig.Hold(t, "from one command to a registered agent", time.Since(began), time.Minute)
	w.onlyHas("api")
	once := readJSON(t, settings)
	a.must(c3poBinary, "install", "claude")
	if diff := cmp.Diff(once, readJSON(t, settings)); diff != "" {
		t.Errorf("installing twice has changed the settings:\n%s", diff)
	}
	for range 2 { // the second has nothing left to do, and says so by succeeding
		a.must(c3poBinary, "uninstall", "claude")
	}
	if list := a.must(claudeBinary(t), "plugin", "list", "--json"); strings.Contains(list, "c3po") {
		t.Errorf("after uninstall there is:\n%s", list)
	}
	left, err := os.ReadFile(settings)
	if err != nil || bytes.Contains(left, []byte("c3po@")) || !bytes.Contains(left, []byte("Bash(ls)")) {
		t.Errorf("the settings are %s, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(a.home(), ".local", "share", "c3po", "claude")); err == nil {
		t.Error("the folder of the plugin is still there")
	}
	a.print("hello")
	if w.status("api") != c3po.Offline {
		t.Error("an agent without the plugin is online")
	}
}

// tree is every file below a folder with its text, and every folder.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case entry.Type().IsRegular():
			text, err := os.ReadFile(path)
			all[name] = string(text)
			return err
		case entry.IsDir():
			all[name] = "a folder"
		default:
			all[name] = "something else"
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestUninstallLeavesAHomeAsItWas(t *testing.T) {
	t.Parallel()
	const mine = `{"model":"opus",   "permissions":{"allow":["Bash(ls)"]}}`
	for name, c := range map[string]struct {
		settings string
		used     bool // before
		between  func(t *testing.T, a *agent, binary, settings string)
		want     string // of the settings
	}{
		"fresh":                        {},
		"with settings":                {settings: mine, want: mine},
		"used before":                  {settings: mine, used: true, want: mine},
		"used with c3po":               {settings: mine, used: true, want: mine, between: func(_ *testing.T, a *agent, _, _ string) { a.print("hello") }},
		"fresh, then used with c3po":   {between: func(_ *testing.T, a *agent, _, _ string) { a.print("hello") }},
		"installed twice, then edited": {settings: mine, want: `{"model":"haiku"}`, between: edited(`{"model":"haiku", "enabledPlugins":{"c3po@c3po":true}}`)},
		"installed by an older version": {settings: mine, between: older,
			want: `{"permissions":{"allow":["Bash(ls)"]},"model":"opus","enabledPlugins":{},"extraKnownMarketplaces":{}}`},
		"edited back": {settings: mine, want: mine, between: edited(`{"permissions":{"allow":["Bash(ls)"]},"model":"opus","enabledPlugins":{"c3po@c3po":true}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTestCoordinator(t)
			a := w.host("pi").agent("api", quiet)
			binary := strings.TrimPrefix(a.extra[0], "C3PO_BINARY=")
			a.plugin, a.extra = "", a.extra[1:]
			folder := filepath.Join(a.home(), ".claude")
			settings := filepath.Join(folder, "settings.json")
			if err := os.RemoveAll(folder); err != nil {
				t.Fatal(err)
			}
			if c.used {
				a.print("hello")
			}
			if c.settings != "" {
				if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(settings, []byte(c.settings), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			before := tree(t, a.home())
			a.must(binary, "install", "claude")
			if c.between != nil {
				a.must(binary, "install", "claude")
				c.between(t, a, binary, settings)
			}
			a.must(binary, "uninstall", "claude")
			after := tree(t, a.home())
			if out := a.must(binary, "uninstall", "claude"); strings.Contains(out, "claude plugin") {
				t.Errorf("the first has left something to do:\n%s", out)
			}
			if c.between == nil {
				after = tree(t, a.home())
			}
			if c.between == nil {
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("what was changed (-before +after):\n%s", diff)
				}
				return
			}
			if got := after[".claude/settings.json"]; squeezed(got) != squeezed(c.want) || c.want == mine && got != mine {
				t.Errorf("the settings are %q, want %q", got, c.want)
			}
			for name := range after {
				if (strings.Contains(name, "c3po") || strings.HasPrefix(name, ".claude/plugins/data")) && before[name] == "" && !strings.HasPrefix(name, ".cache") {
					t.Errorf("%s was left behind", name)
				}
			}
		})
	}
}

func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }

// older makes the installation one of a version that kept nothing.
func older(t *testing.T, a *agent, binary, _ string) {
	t.Helper()
	if err := os.Remove(filepath.Join(a.home(), ".local", "share", "c3po", "claude-before.json")); err != nil {
		t.Fatal(err)
	}
	a.must(binary, "install", "claude")
}

func edited(text string) func(*testing.T, *agent, string, string) {
	return func(t *testing.T, _ *agent, _, settings string) {
		t.Helper()
		if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func readJSON(t *testing.T, name string) (content any) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, &content)
	}
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestOnOneMachineNothingNeedsToBeSet(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", following(append(reading(always("8080")), on("who is there", call("list_agents", nil)))...))
	binary := strings.TrimPrefix(a.extra[0], "C3PO_BINARY=")
	a.extra = append(a.extra[:1], "C3PO_LISTEN=127.0.0.1:0")
	a.must(binary, "up")
	t.Cleanup(func() {
		cmd := exec.Command(binary, "down")
		cmd.Env = a.env()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("c3po down: %v\n%s", err, out)
		}
	})
	a.print("who is there")
	a.must(binary, "send", "api", "Which port?", "--as", "web")
	a.print("hello")
	if out := a.must(binary, "inbox", "--as", "web"); !strings.Contains(out, "8080") {
		t.Errorf("the answer is not in the inbox:\n%s", out)
	}
}

func TestThePluginPassesTheStrictValidation(t *testing.T) {
	t.Parallel()
	w := &testCoordinator{t: t, coordinator: nil}
	binary := claudeBinary(t)
	h := w.host("pi")
	for _, folder := range []string{"../../plugin", "../.."} {
		path, err := filepath.Abs(folder)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), binary, "plugin", "validate", "--strict", path)
		cmd.Env = []string{"HOME=" + h.home(), "TMPDIR=" + h.dir, "PATH=/usr/bin:/bin", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", folder, err, out)
		}
	}
}

func TestWithoutTheBinaryThePersonHearsItOnceADayAndTheSessionIsUndisturbed(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", quiet)
	a.extra = nil
	const words = "c3po is not on this machine"
	first, second := a.print("hello"), a.print("hello")
	if n := strings.Count(first.text(), words); n == 0 {
		t.Errorf("the person was not told:\n%s", first.text())
	}
	if strings.Contains(second.text(), words) {
		t.Errorf("the person was told twice in a day")
	}
	for _, p := range []printed{first, second} {
		if p.result != "OK" || strings.Contains(p.text(), `"outcome":"error"`) || !strings.Contains(p.text(), `"name":"plugin:c3po:c3po","status":"connected"`) {
			t.Errorf("the session was disturbed: %q\n%s", p.result, p.text())
		}
	}
	if strings.Contains(a.model.Read(), words) {
		t.Error("the model was told what is for the person")
	}
}

// A nas is a host with a coordinator that others can join.
type nas struct {
	*agent
	binary, address string
}

// nas starts a coordinator on the host, which listens there with TLS.
func (h *host) nas(listen string, env ...string) nas {
	h.t.Helper()
	a := h.agent("base", quiet)
	n := nas{agent: a, binary: strings.TrimPrefix(a.extra[0], "C3PO_BINARY=")}
	a.extra = append([]string{"C3PO_LISTEN=" + listen + ":0", "C3PO_TLS=on"}, env...)
	_, n.address, _ = strings.Cut(strings.TrimSpace(a.must(n.binary, "up")), "https://")
	h.t.Cleanup(func() {
		argv := a.onHost(n.binary, "down")
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = a.env()
		if out, err := cmd.CombinedOutput(); err != nil {
			h.t.Errorf("c3po down: %v\n%s", err, out)
		}
	})
	return n
}

// joined is an agent on a host that had nothing and ran the one command.
func (n nas) joined(h *host, project string, thinks brain) *agent {
	n.t.Helper()
	lines := strings.Split(strings.TrimSpace(n.must(n.binary, "invite", "--host", h.name, "--at", n.address)), "\n")
	a := h.agent(project, thinks)
	// As root the script would install for the whole machine.
	a.plugin, a.extra = "", []string{"C3PO_BIN=" + filepath.Join(a.home(), ".local", "bin")}
	out := a.must("sh", "-c", lines[1])
	if !strings.Contains(out, "as "+h.name) || !strings.Contains(out, "Claude Code has c3po with 11 tools") {
		n.t.Errorf("the one command says:\n%s", out)
	}
	return a
}

func TestAC5AHostWithoutTheBinaryHasAnAgentAfterOneCommand(t *testing.T) {
	t.Parallel()
	claudeBinary(t)
	w := &testCoordinator{t: t}
	n := w.host("nas").nas("127.0.0.1")
	began := time.Now()
	n.joined(w.host("laptop"), "api", quiet).print("hello")
	faultrig.Hold(t, "from no binary to a registered agent", time.Since(began), time.Minute)
	if agents := n.must(n.binary, "agents"); !strings.Contains(agents, "laptop/api") {
		t.Errorf("the agents are:\n%s", agents)
	}
}

func TestFoldersOfOneNameOnTwoHostsAreTwoAgents(t *testing.T) {
	t.Parallel()
	claudeBinary(t)
	w := &testCoordinator{t: t}
	n := w.host("nas").nas("127.0.0.1")
	for _, host := range []string{"laptop", "desk"} {
		n.joined(w.host(host), "api", quiet).print("hello")
	}
	agents := n.must(n.binary, "agents")
	if !strings.Contains(agents, "laptop/api ") || !strings.Contains(agents, "desk/api ") || strings.Contains(agents, "api-2") {
		t.Errorf("the agents are:\n%s", agents)
	}
}
