package server_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A session that is killed while its coordinator is away says no goodbye, and nobody sees
// its process end. One that was never seen on this host may live where nobody looks.
func TestARunThatEndedWhileNoCoordinatorLookedIsOver(t *testing.T) {
	t.Parallel()
	cfg := server.Config{RedisURL: redistest.Start(t), Auth: auth.None, Started: engine.Started}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.CommandContext(t.Context(), "sleep", "600")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	pid := process.Process.Pid
	runs := map[string]c3po.ProcessRun{
		"killed":    {Host: host, PID: pid, Start: engine.Started(pid)},
		"living":    {Host: host, PID: os.Getpid(), Start: engine.Started(os.Getpid())},
		"container": {Host: host, PID: 1<<22 + 1, Start: 7},
		"far":       {Host: host + "-2", PID: pid, Start: engine.Started(pid)},
	}
	first := start(t, cfg)
	for id, run := range runs {
		curl(t, first.url+"/api/op/register_agent", "-H", "X-Agent-ID: "+id, "-H", "X-C3PO-Run: "+run.String(), "-H", "Content-Type: application/json", "-d", `{}`)
	}
	first.stop()
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait()
	second := start(t, cfg)
	status := func(id string) string {
		t.Helper()
		return curl(t, second.url+"/api/op/get_agent_status", "-H", "Content-Type: application/json", "-d", fmt.Sprintf(`{"agent_id":%q}`, id))
	}
	for deadline := time.Now().Add(longEnough); !strings.Contains(status("killed"), `"status":"offline"`); {
		if time.Now().After(deadline) {
			t.Fatalf("it is still said to be there: %s", status("killed"))
		}
	}
	for _, id := range []string{"living", "container", "far"} {
		if said := status(id); strings.Contains(said, `"status":"offline"`) {
			t.Errorf("%s is said to be offline: %s", id, said)
		}
	}
}
