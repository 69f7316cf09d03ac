package clients_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// What a sender is told of a session follows what it really does, as far as its
// client gives evidence of it: the rows of the table in docs/clients.md.
//
// Claims: C13
func TestSendersAreToldWhatEachClientReallyDoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		argv  []string
		ready []string // what its terminal shows; Enter goes from one to the next
		idle  c3po.Reachability
	}{
		"codex":    {nil, []string{"Ask Codex"}, c3po.ReachNow},
		"opencode": {nil, []string{"Ask anything"}, c3po.ReachNow},
		"gemini":   {[]string{"-m", "gemini-2.5-flash"}, []string{"Type your message"}, c3po.ReachPersonReturns},
		"copilot":  {nil, []string{"❯"}, c3po.ReachPersonReturns},
		"kimi":     {[]string{"--auto"}, []string{"Trust this folder", "No session yet"}, c3po.ReachPersonReturns},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			r := newRig(t, name, func(r *rig) brain {
				return func(asked request) step {
					if strings.Contains(asked.fresh, "think long") {
						select {
						case <-release:
						case <-r.t.Context().Done():
						}
					}
					return done(asked)
				}
			})
			// tmux goes on with a program of its own that is stopped; one below it is left alone.
			term := r.open(append([]string{"sh", "-c", `"$@"; exit $?`, "sh", name}, c.argv...)...)
			for i, text := range c.ready {
				if i > 0 {
					term.tmux("send-keys", "Enter")
				}
				term.see(text)
			}
			term.rest()
			term.enter("hello")
			term.see("ALL-DONE")
			term.rest()
			is := func(what string, want c3po.Reachability) {
				t.Helper()
				t.Log(what)
				r.reached(want)
			}
			term.enter("think long")
			is("a turn", c3po.ReachNextStep)
			close(release)
			is("its end", c.idle)

			goOn := faultrig.Freeze(t, r.clientPID())
			is("stopped", c3po.ReachUnknown)
			goOn()
			is("going on", c.idle)

			off := filepath.Join(r.home(), ".local", "state", "c3po", "off", "all")
			r.write(".local/state/c3po/off/all", "")
			is("switched off", c3po.ReachOff)
			if err := os.Remove(off); err != nil {
				t.Fatal(err)
			}
			is("switched on", c.idle)

			client, err := os.FindProcess(r.clientPID())
			if err == nil {
				err = client.Kill()
			}
			if err != nil {
				t.Fatal(err)
			}
			is("killed", c3po.ReachOffline)
		})
	}
}

// clientPID is the process that has started the bridge.
func (r *rig) clientPID() int {
	r.t.Helper()
	var found int
	if !faultrig.Within(10*time.Second, func() bool {
		folders, _ := filepath.Glob("/proc/[0-9]*")
		for _, folder := range folders {
			line, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
			environment, _ := os.ReadFile(filepath.Join(folder, "environ"))
			if !bytes.Contains(line, []byte("\x00mcp\x00--client\x00")) || !bytes.Contains(environment, []byte("HOME="+r.home()+"\x00")) {
				continue
			}
			status, _ := os.ReadFile(filepath.Join(folder, "status"))
			for field := range strings.Lines(string(status)) {
				if parent, ok := strings.CutPrefix(field, "PPid:"); ok {
					found, _ = strconv.Atoi(strings.TrimSpace(parent))
				}
			}
		}
		return found > 1
	}) {
		r.t.Fatalf("no bridge of %s runs", r.client)
	}
	return found
}
