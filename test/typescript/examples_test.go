package typescript_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/workerrig"
)

// example runs one of the package's examples to its end, and gives what it prints.
func example(t *testing.T, folder, name string) string {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	out, err := exec.CommandContext(ctx, "node", filepath.Join(folder, name+".js")).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

func doesWhatItsExamplesSay(t *testing.T, folder string) {
	start(t)
	expect := func(name, got, want string) {
		if got != want {
			t.Errorf("%s prints %q, want %q", name, got, want)
		}
	}
	expect("tell", example(t, folder, "tell"), "nobody is called api; repeat it: false\n")
	watcher, err := client.Open(t.Context(), client.Config{Agent: "watcher"})
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { expect("serve", example(t, folder, "serve"), "web asks: Which port does the gateway use?\n") })
	if !faultrig.Within(30*time.Second, func() bool {
		_, err := watcher.Service().GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "api"})
		return err == nil
	}) {
		t.Fatal("api does not serve")
	}
	expect("ask", example(t, folder, "ask"), "8443\n")
	serving.Wait()
	expect("tell", example(t, folder, "tell"), "stored in memory\n")
	expect("room", example(t, folder, "room"), "build: 1.4 is out\n")
	expect("events", example(t, folder, "events"), "newcomer registered\n")
}

// worksThroughKills has workers and their coordinator killed, and wants one answer to every task.
func worksThroughKills(t *testing.T, folder string) {
	workerrig.Kill(t, start(t), faultrig.Size(4, 50), func(id string) *exec.Cmd {
		return exec.Command("node", filepath.Join(folder, "worker.js"), id)
	})
}
