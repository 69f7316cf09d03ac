package claude_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// alone starts a coordinator on the agent's own host, as a person does there, and
// gives the program that did.
func (a *agent) alone() (binary string) {
	a.t.Helper()
	binary = strings.TrimPrefix(a.extra[0], "C3PO_BINARY=")
	a.extra = append(a.extra[:1], "C3PO_LISTEN=127.0.0.1:0")
	a.must(binary, "up")
	a.t.Cleanup(func() {
		cmd := exec.Command(binary, "down")
		cmd.Env = a.env()
		if out, err := cmd.CombinedOutput(); err != nil {
			a.t.Errorf("c3po down: %v\n%s", err, out)
		}
	})
	return binary
}

// told waits until a person of the host is told that of an agent, and says how long
// that took.
func (a *agent) told(binary string, id c3po.AgentID, want c3po.Reachability) time.Duration {
	a.t.Helper()
	began, last := time.Now(), ""
	eventually(a.t, 20*time.Second, "c3po agents says "+string(want), func() bool {
		last = a.must(binary, "agents", "--json")
		var all []c3po.Agent
		if err := json.Unmarshal([]byte(last), &all); err != nil {
			a.t.Fatal(err, last)
		}
		return slices.ContainsFunc(all, func(agent c3po.Agent) bool { return agent.ID == id && agent.Reachability == want })
	})
	return time.Since(began)
}

// Ctrl-Z halts Claude Code and the process of its session, and not the monitor.
func TestASuspendedSessionIsNotSaidToWake(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", following(reading(always("8080"))...))
	binary := a.alone()
	// tmux goes on with a program of its own that is stopped; one below it is left alone.
	a.within = []string{"sh", "-c", `"$@"; exit $?`, "sh"}
	term := a.open()
	term.idle()
	clients := a.processes("--permission-mode manual")
	clients = slices.DeleteFunc(clients, func(pid int) bool { return pid == term.pid })
	a.told(binary, "api", c3po.ReachNow)
	sessions := a.processes("c3po mcp")
	if len(sessions) != 1 || len(clients) != 1 {
		t.Fatalf("the processes of the session are %v, of Claude Code %v", sessions, clients)
	}

	client, session := faultrig.Freeze(t, clients[0]), faultrig.Freeze(t, sessions[0])
	faultrig.Hold(t, "suspended: no longer said to wake after", a.told(binary, "api", c3po.ReachUnknown), 5*time.Second)
	if out := a.must(binary, "send", "api", "Which port?", "--as", "web"); !strings.Contains(out, "when it reads this is unknown") {
		t.Errorf("the receipt says %s", out)
	}
	session()
	client()
	eventually(t, 30*time.Second, "it goes on, and answers", func() bool { return strings.Contains(a.must(binary, "inbox", "--as", "web"), "8080") })
	a.told(binary, "api", c3po.ReachNow)

	goOn := faultrig.Freeze(t, sessions[0])
	faultrig.Hold(t, "its process alone is halted: no longer said to wake after", a.told(binary, "api", c3po.ReachUnknown), 5*time.Second)
	goOn()
	a.told(binary, "api", c3po.ReachNow)
}
