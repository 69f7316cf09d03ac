package server_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// waitAs waits for mail in a process of its own, as the process of a session does.
func waitAs(t *testing.T, id string, arguments ...string) *exec.Cmd {
	t.Helper()
	process := exec.CommandContext(t.Context(), "curl", append([]string{"-s", "-H", "X-Agent-ID: " + id, "-H", "X-C3PO-Run: a-run", "-H", "Content-Type: application/json",
		"-d", `{"timeout":60,"state":"idle","after":0}`}, arguments...)...)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	return process
}

// reached asks over and over until senders are told that of api.
func (c *coordinator) reached(t *testing.T, what string, want c3po.Reachability) {
	t.Helper()
	last, word := "", `"reachability":"`+string(want)+`"`
	for end := time.Now().Add(longEnough); !strings.Contains(last, word); {
		if time.Now().After(end) {
			t.Fatalf("%s: senders are told %s, want %s", what, last, word)
		}
		// Before it has called for the first time there is no such agent, which is no error here.
		out, err := exec.CommandContext(t.Context(), "curl", "-sk", c.url+"/api/op/get_agent_status", "-H", "Content-Type: application/json", "-d", `{"agent_id":"api"}`).Output()
		if err != nil {
			t.Fatal(err)
		}
		last = string(out)
	}
}

// A halted process keeps its connection, and reads nothing that comes over it.
func TestASessionWhoseProcessIsHaltedIsOutOfReach(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(shortFolder(t), "s")
	c := start(t, server.Config{RedisURL: redistest.Start(t), Socket: socket, Started: engine.Started, Stopped: engine.Stopped})
	process := waitAs(t, "api", "--unix-socket", socket, "http://localhost/api/op/pending")
	c.reached(t, "it waits", c3po.ReachNow)
	if err := process.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c.reached(t, "it is halted", c3po.ReachUnknown)
	var receipt c3po.Receipt
	if status, err := c.op(t.Context(), "web", "send_message", c3po.SendInput{Target: "api", Message: "Which port?"}, &receipt); err != nil {
		t.Fatal(status, err)
	}
	if receipt.Reachability != c3po.ReachUnknown {
		t.Errorf("the receipt says %q", receipt.Reachability)
	}
	if err := process.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	c.reached(t, "it has read that, and ended", c3po.ReachNextCall)
}

// Of a process on another host a coordinator has nothing but its connection.
func TestAConnectionThatAnswersNoPingHoldsNobodyOnline(t *testing.T) {
	t.Parallel()
	c := start(t, server.Config{RedisURL: redistest.Start(t), TLS: server.TLSOn, Config: t.TempDir(), PingEvery: time.Second})
	process := waitAs(t, "api", "-k", "--http2", c.url+"/api/op/pending")
	c.reached(t, "it waits", c3po.ReachNow)
	if err := process.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c.reached(t, "it is halted", c3po.ReachOffline)
}
