package faultrig_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// maxTurnDelay is how much longer a turn of an agent may take because of us.
const maxTurnDelay = 300 * time.Millisecond

// A workplace is where an agent works: a home of its own, a session process, and commands
// and hooks that reach a coordinator at one address.
type workplace struct {
	*stdio
	dir string
	env []string
}

// newWorkplace starts the session process of a client there.
func newWorkplace(t *testing.T, url, client string, id c3po.AgentID) *workplace {
	t.Helper()
	dir, err := os.MkdirTemp("", "c3w") // short, for the socket in it
	if err != nil {
		t.Fatal(err)
	}
	w := &workplace{stdio: &stdio{t: t}, dir: dir, env: []string{
		"HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "PATH=/usr/bin:/bin", "C3PO_COORDINATOR_URL=" + url, "C3PO_AGENT_ID=" + string(id),
	}}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	w.open(w.command("mcp", "--client", client), client)
	eventually(t, "the session process listens for hooks", func() bool {
		sockets, _ := filepath.Glob(filepath.Join(dir, "*", "run-*.sock"))
		return len(sockets) > 0
	})
	return w
}

func (w *workplace) command(args ...string) *exec.Cmd {
	cmd := exec.Command(faultrig.Binary(w.t), args...)
	cmd.Env, cmd.Dir = w.env, w.dir
	return cmd
}

// hook runs a hook as the client would, and says how long it took. It must
// neither fail nor keep the turn from ending.
func (w *workplace) hook(args ...string) time.Duration {
	w.t.Helper()
	cmd := w.command(append([]string{"hook"}, args...)...)
	cmd.Stdin = bytes.NewReader([]byte(`{"session_id":"s","sessionId":"s","hook_event_name":"SessionStart","source":"startup","cwd":"` + w.dir + `"}`))
	began := time.Now()
	out, err := cmd.Output()
	took := time.Since(began)
	if err != nil || strings.Contains(string(out), "deny") || strings.Contains(string(out), `"block"`) {
		w.t.Errorf("hook %v: %v, or it makes the turn go on: %s", args, err, out)
	}
	return took
}

// run runs a command, and gives what it said and its exit code.
func (w *workplace) run(args ...string) (text string, code int) {
	out, err := w.command(args...).CombinedOutput()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), failed.ExitCode()
	}
	if err != nil {
		return err.Error(), -1
	}
	return string(out), 0
}

// An outage is a coordinator that cannot be reached for a while.
type outage struct {
	name       string
	url        string // where the agents look for it
	well       string // where it can be reached all the same, as long as it runs
	begin, end func()
	code       int    // of a command meanwhile
	prints     string // what that tells a person
	says       string // what a tool tells a model
}

func outages(t *testing.T) []outage {
	t.Helper()
	// The one that takes over is there before the agents are: below an agent none starts.
	redis := redistest.Start(t)
	killed, next, silent := faultrig.Start(t, redis), faultrig.Start(t, redis), faultrig.Start(t, redistest.Start(t))
	address, proxy := faultrig.NewProxy(t, killed.URL()), faultrig.NewProxy(t, silent.URL())
	die := func() {
		address.Refuse()
		killed.Kill()
	}
	takeOver := func() {
		address.Lead(next.URL())
		address.Heal()
	}
	return []outage{
		{"gone", "http://" + address.Addr(), next.URL(), die, takeOver, 3, "can't reach the coordinator at http://", "c3po coordinator is not reachable"},
		// It may have heard what it does not answer.
		{"silent", "http://" + proxy.Addr(), silent.URL(), proxy.BlackHole, proxy.Heal, 5, "it may have done what was asked", "it may have done what was asked"},
	}
}

// It does not run beside other tests: beside an agent's tools, which are children of
// this process here, no coordinator starts.
func TestWithoutACoordinatorATurnGoesOnAndNothingIsLost(t *testing.T) {
	clients := map[string][]string{
		"claude-code": {"session-start"}, "codex": {"--client", "codex", "UserPromptSubmit"}, "gemini": {"--client", "gemini", "AfterAgent"},
	}
	verdict := faultrig.Verdict{Row: "H2", Holds: []faultrig.Invariant{
		faultrig.HooksNeverBlock, faultrig.NothingStoredIsLost, faultrig.OneMessageAKey, faultrig.UnknownIsSaid,
	}}
	times, hooks, slowest := faultrig.Size(5, 101), 0, time.Duration(0)
	for _, o := range outages(t) {
		reader := agent(t, o.well, "reader")
		places := map[string]*workplace{}
		for client := range clients {
			places[client] = newWorkplace(t, o.url, client, c3po.AgentID("with-"+client))
			if answer := places[client].tool("ping", nil); !strings.Contains(answer, "pong") {
				t.Fatalf("%s: %s", client, answer)
			}
			letter := c3po.SendInput{Target: "with-" + client, Message: "before " + o.name, ExpectsReply: new(bool)}
			if _, err := reader.SendMessage(t.Context(), letter); err != nil {
				t.Fatal(err)
			}
		}
		o.begin()
		var acts sync.WaitGroup
		acts.Go(func() { // which a person waits for, not a turn
			if text, code := places["codex"].run("send", "reader", "by command", "--key", "command"); code != o.code || !strings.Contains(text, o.prints) {
				t.Errorf("%s: the command ended with %d: %s", o.name, code, text)
			}
		})
		acts.Go(func() {
			began := time.Now()
			if answer := places["gemini"].tool("send_message", c3po.SendInput{Target: "reader", Message: "by tool", ClientKey: "tool"}); !strings.Contains(answer, o.says) {
				t.Errorf("%s: the tool answered %s", o.name, answer)
			}
			t.Logf("%s: the tool answered after %v", o.name, time.Since(began).Round(time.Millisecond))
		})
		for client, args := range clients {
			// One that begins meanwhile knows nothing yet, and would like to.
			late := newWorkplace(t, o.url, client, c3po.AgentID("late-"+client))
			for when, place := range map[string]*workplace{"that was there before": places[client], "that begins meanwhile": late} {
				var took []time.Duration
				for range times {
					took = append(took, place.hook(args...))
				}
				slices.Sort(took)
				hooks, slowest = hooks+times, max(slowest, took[len(took)/2])
				faultrig.Hold(t, fmt.Sprintf("%s: a hook of %s %s takes, median", o.name, client, when), took[len(took)/2], maxTurnDelay)
			}
		}
		acts.Wait()
		o.end()
		returned := time.Now()
		if text, code := places["codex"].run("send", "reader", "by command", "--key", "command"); code != 0 {
			t.Errorf("%s: back again, the command ended with %d: %s", o.name, code, text)
		}
		var answer string
		eventually(t, "the tools work again", func() bool {
			answer = places["gemini"].tool("send_message", c3po.SendInput{Target: "reader", Message: "by tool", ClientKey: "tool"})
			return !strings.Contains(answer, `"isError":true`)
		})
		verdict.Recovery = max(verdict.Recovery, time.Since(returned))
		for client, place := range places {
			if answer := place.tool("get_messages", nil); !strings.Contains(answer, "before "+o.name) {
				t.Errorf("%s: what %s had before is gone: %s", o.name, client, answer)
				verdict.Lost++
			}
		}
		got, err := reader.GetMessages(t.Context(), c3po.GetMessagesInput{})
		if err != nil {
			t.Fatal(err)
		}
		count := map[string]int{}
		for _, m := range got.Messages {
			count[m.Text()]++
		}
		for _, text := range []string{"by command", "by tool"} {
			switch n := count[text]; {
			case n == 0:
				verdict.Lost++
			case n > 1:
				verdict.Doubled++
			}
		}
		if diff := cmp.Diff(map[string]int{"by command": 1, "by tool": 1}, count); diff != "" {
			t.Errorf("%s: what came of it (-want +got):\n%s", o.name, diff)
		}
	}
	verdict.Size = fmt.Sprintf("%d hooks of %d clients, the median of the slowest %v; 2 sends and %d letters kept", hooks, len(clients), slowest.Round(time.Millisecond), 2*len(clients))
	verdict.Faults = "a coordinator that is gone, and one that is silent"
	verdict.Record(t)
}
