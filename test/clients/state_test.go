package clients_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// What a sender is told of a session follows what it really does, as far as its
// client gives evidence of it: the rows of the table in docs/guides/clients.md.
func TestSendersAreToldWhatEachClientReallyDoes(t *testing.T) {
	t.Parallel()
	for name, idle := range map[string]c3po.Reachability{
		"codex": c3po.ReachNow, "opencode": c3po.ReachNow,
		"gemini": c3po.ReachPersonReturns, "copilot": c3po.ReachPersonReturns, "kimi": c3po.ReachPersonReturns,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			r := newTestAgent(t, name, func(q llm.Request) llm.Step {
				if strings.Contains(q.Fresh(), "think long") {
					select {
					case <-release:
					case <-t.Context().Done():
					}
				}
				return done(q)
			})
			// tmux goes on with a program of its own that is stopped; one below it is left alone.
			r.Within = []string{"sh", "-c", `"$@"; exit $?`, "sh"}
			term := r.at()
			term.Rest()
			is := func(what string, want c3po.Reachability) {
				t.Helper()
				r.c.Reached("api", what, want)
			}
			term.Enter("think long")
			is("a turn", c3po.ReachNextStep)
			close(release)
			is("its end", idle)

			goOn := faultrig.Freeze(t, clientPID(r))
			is("stopped", c3po.ReachUnknown)
			goOn()
			is("going on", idle)

			const off = ".local/state/c3po/off/all"
			r.Write(off, "")
			is("switched off", c3po.ReachOff)
			if err := os.Remove(filepath.Join(r.Home(), off)); err != nil {
				t.Fatal(err)
			}
			is("switched on", idle)

			clientrig.Kill(t, clientPID(r))
			is("killed", c3po.ReachOffline)
		})
	}
}

// clientPID is the process that has started the session process.
func clientPID(r *testAgent) (pid int) {
	r.T.Helper()
	clientrig.Eventually(r.T, 10*time.Second, "a session process runs", func() bool {
		for _, session := range r.Processes(" mcp --client ") {
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", session))
			for field := range strings.Lines(string(status)) {
				if parent, ok := strings.CutPrefix(field, "PPid:"); ok {
					pid, _ = strconv.Atoi(strings.TrimSpace(parent))
				}
			}
		}
		return pid > 1
	})
	return pid
}
