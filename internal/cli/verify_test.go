package cli_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// standIn is what `c3po install claude` and `c3po verify` ask of Claude Code.
// test/claude asks the real one.
const standIn = `#!/bin/sh
case "$*" in
"plugin install "*) touch "$HOME/installed" ;;
"plugin list --json")
	[ -e "$HOME/installed" ] || { echo '[]'; exit; }
	printf '[{"id":"c3po@c3po","enabled":true,"readFromFolder":"%s/.local/share/c3po/claude/plugin"}]\n' "$HOME" ;;
esac
`

// A verifiedHost has a coordinator and a Claude Code with the plugin.
type verifiedHost struct {
	t      *testing.T
	home   string
	plugin string
	env    []string
	plain  []string // env, before anything is broken
}

func newVerifiedHost(t *testing.T) *verifiedHost {
	t.Helper()
	params(t) // skips where there is no Redis
	home := faultrig.Home(t)
	h := &verifiedHost{t: t, home: home, plugin: filepath.Join(home, ".local", "share", "c3po", "claude", "plugin")}
	h.write(filepath.Join(home, "bin", "claude"), standIn, 0o700)
	h.env = []string{
		"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "C3PO_LISTEN=127.0.0.1:0",
		"GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + os.Getenv("GOCOVERDIR"), // without it, a program with -cover complains on stderr
	}
	h.plain = slices.Clone(h.env)
	h.must("up")
	t.Cleanup(func() { h.must("down") })
	h.must("install", "claude")
	return h
}

func (h *verifiedHost) write(name, text string, mode os.FileMode) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		h.t.Fatal(err)
	}
}

// rewrite changes a file of the plugin, which must hold what is changed.
func (h *verifiedHost) rewrite(name, old, new string) {
	h.t.Helper()
	full := filepath.Join(h.plugin, name)
	text, err := os.ReadFile(full)
	if err != nil || !strings.Contains(string(text), old) {
		h.t.Fatalf("%s does not hold %q: %v\n%s", name, old, err, text)
	}
	h.write(full, strings.Replace(string(text), old, new, 1), 0o600)
}

func (h *verifiedHost) run(args ...string) (string, int) {
	h.t.Helper()
	cmd := exec.Command("c3po", args...)
	cmd.Env, cmd.Dir = h.env, h.home
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out) + stderr.String(), failed.ExitCode()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return string(out), 0
}

func (h *verifiedHost) must(args ...string) string {
	h.t.Helper()
	out, code := h.run(args...)
	if code != 0 {
		h.t.Fatalf("c3po %v: %d\n%s", args, code, out)
	}
	return out
}

// through puts a proxy between this host and its coordinator, which it can go
// through with the token of the host alone.
func (h *verifiedHost) through(odd func(w http.ResponseWriter, r *http.Request) bool) {
	h.t.Helper()
	mine, err := paths.ReadCredentials(filepath.Join(h.home, ".config", "c3po"))
	if err != nil || mine == nil {
		h.t.Fatalf("no credentials: %v", err)
	}
	target, err := url.Parse(mine.URL)
	if err != nil {
		h.t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, FlushInterval: -1}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !odd(w, r) {
			forward.ServeHTTP(w, r)
		}
	}))
	h.t.Cleanup(func() { proxy.CloseClientConnections(); proxy.Close() })
	// The token of this machine's own agents is for the socket.
	token := strings.TrimSpace(h.must("token", "create", "--agents", "*", "--for", "main,*"))
	h.env = append(h.env, "C3PO_COORDINATOR_URL="+proxy.URL, "C3PO_TOKEN="+token)
}

// everyPath is what a host with the plugin has.
var everyPath = []string{
	"rest", "wait", "claude-code tools", "claude-code hook SessionStart", "claude-code hook UserPromptSubmit", "claude-code hook PreToolUse", "claude-code hook PreToolUse",
	"claude-code hook PermissionRequest", "claude-code hook Notification",
	"claude-code hook PostToolUse", "claude-code hook PostToolUseFailure", "claude-code hook PermissionDenied", "claude-code hook Stop", "claude-code hook StopFailure", "claude-code monitor",
}

func TestVerifyNamesThePathThatIsBrokenAndNoOther(t *testing.T) {
	t.Parallel()
	const hooks, started = "hooks/hooks.json", `\"${CLAUDE_PLUGIN_ROOT}/bin/launch\" hook session-start`
	for name, broken := range map[string]struct {
		by   func(*verifiedHost)
		path string // that fails; none if all is well
		says string
		code int
	}{
		"nothing is broken": {by: func(*verifiedHost) {}},
		"a proxy lets everything pass": {
			by: func(h *verifiedHost) { h.through(func(http.ResponseWriter, *http.Request) bool { return false }) },
		},
		"a proxy refuses": {
			by: func(h *verifiedHost) {
				h.through(func(w http.ResponseWriter, _ *http.Request) bool {
					http.Error(w, "not in this house", http.StatusForbidden)
					return true
				})
			},
			path: "rest", says: "is not a c3po coordinator", code: 1,
		},
		"waits vanish": {
			by: func(h *verifiedHost) {
				h.through(func(_ http.ResponseWriter, r *http.Request) bool {
					if !strings.HasSuffix(r.URL.Path, "/wait_for_message") {
						return false
					}
					_, _ = io.Copy(io.Discard, r.Body) // else nobody notices that the caller has gone
					<-r.Context().Done()
					return true
				})
			},
			path: "wait", says: "the wait did not end", code: 1,
		},
		"the tools are those of another program": {
			by:   func(h *verifiedHost) { h.rewrite(".mcp.json", "${CLAUDE_PLUGIN_ROOT}/bin/launch", "true") },
			path: "claude-code tools", says: "it ended", code: 1,
		},
		"the session process says something else": {
			by: func(h *verifiedHost) {
				h.write(filepath.Join(h.plugin, ".mcp.json"), `{"mcpServers":{"c3po":{"command":"sh","args":["-c","echo hello; cat"]}}}`, 0o600)
			},
			path: "claude-code tools", says: "it does not speak MCP", code: 1,
		},
		"a hook fails": {
			by:   func(h *verifiedHost) { h.rewrite(hooks, started, "echo out of order >&2; exit 1") },
			path: "claude-code hook SessionStart", says: "out of order", code: 1,
		},
		"a hook names what is not there": {
			by:   func(h *verifiedHost) { h.rewrite(hooks, "bin/launch", "bin/lunch") },
			path: "claude-code hook SessionStart", says: "not found", code: 1,
		},
		"a hook says nothing": {
			by:   func(h *verifiedHost) { h.rewrite(hooks, started, "true") },
			path: "claude-code hook SessionStart", says: "does not tell the session", code: 1,
		},
		"a hook is not there": {
			by:   func(h *verifiedHost) { h.rewrite(hooks, `"Stop":`, `"Stopped":`) },
			path: "claude-code hook Stop", says: "is not in", code: 1,
		},
		"a hook calls another tool": {
			by: func(h *verifiedHost) {
				h.rewrite(hooks, `"tool": "c3po_hook", "timeout": 5,
          "input": { "hook_event_name": "PostToolUse"`, `"tool": "ping", "timeout": 5,
          "input": { "hook_event_name": "PostToolUse"`)
			},
			path: "claude-code hook PostToolUse", says: "", code: 1,
		},
		"there is no monitor": {
			by:   func(h *verifiedHost) { _ = os.Remove(filepath.Join(h.plugin, "monitors", "monitors.json")) },
			path: "claude-code monitor", says: "names no monitor", code: 1,
		},
		"the monitor is silent": {
			by: func(h *verifiedHost) {
				h.rewrite("monitors/monitors.json", `exec \"${CLAUDE_PLUGIN_ROOT}/bin/launch\" monitor`, "exec sleep 60")
			},
			path: "claude-code monitor", says: "prints nothing", code: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newVerifiedHost(t)
			broken.by(h)
			out, code := h.run("verify", "--timeout", "15", "--json")
			var proof struct {
				Passed bool
				Paths  []struct{ Path, Verdict, Says, Fix string }
			}
			if err := json.Unmarshal([]byte(out), &proof); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var all, wrong []string
			for _, p := range proof.Paths {
				all = append(all, p.Path)
				if p.Verdict != "failed" {
					continue
				}
				wrong = append(wrong, p.Path)
				if !strings.Contains(p.Says, broken.says) || p.Fix == "" && p.Path != "wait" {
					t.Errorf("of %s it says %q, fix %q", p.Path, p.Says, p.Fix)
				}
			}
			want := []string(nil)
			if broken.path != "" {
				want = []string{broken.path}
			}
			if diff := cmp.Diff(want, wrong); diff != "" || code != broken.code || proof.Passed != (code == 0) {
				t.Errorf("exit code %d, and named as broken (-want +got):\n%s\n%s", code, diff, out)
			}
			if broken.path == "" {
				if diff := cmp.Diff(everyPath, all); diff != "" {
					t.Errorf("paths (-want +got):\n%s", diff)
				}
			}
			h.cleanedUp()
		})
	}
}

// cleanedUp wants no probe to be left, and nobody online.
func (h *verifiedHost) cleanedUp() {
	h.t.Helper()
	h.env = h.plain // straight to the coordinator
	var audit c3po.Audit
	if err := json.Unmarshal([]byte(h.must("fsck", "--json")), &audit); err != nil || audit.Pending != 0 {
		h.t.Errorf("%d probes are left, %v", audit.Pending, err)
	}
	var agents []c3po.Agent
	if err := json.Unmarshal([]byte(h.must("agents", "--json")), &agents); err != nil || len(agents) > 1 {
		h.t.Errorf("the agents are %+v, %v", agents, err)
	}
	for _, a := range agents {
		if a.Status != c3po.Offline {
			h.t.Errorf("%s is still online", a.ID)
		}
	}
}
