package clients_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// What the end of a turn waits for, measured by itself: a turn of a client takes
// longer or shorter by more than that from one time to the next.
func TestWithoutACoordinatorTheEndOfATurnWaitsHardlyAnyLonger(t *testing.T) {
	dir, err := os.MkdirTemp("", "c3d") // short, for the socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := faultrig.Binary(t)
	env := []string{"HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "PATH=/usr/bin:/bin", "C3PO_COORDINATOR_URL=http://127.0.0.1:1"}
	events := map[string]string{"codex": "Stop", "gemini": "AfterAgent", "copilot": "agentStop", "kimi": "Stop", "opencode": "Stop"}
	for client, event := range events {
		session := exec.Command(program, "mcp", "--client", client)
		session.Env, session.Dir = env, dir
		open, err := session.StdinPipe() // it ends when this is closed
		if err == nil {
			err = session.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		// The session process says that it listens by the socket it makes.
		if !faultrig.Within(20*time.Second, func() bool {
			sockets, _ := filepath.Glob(filepath.Join(dir, "*", "run-*.sock"))
			return len(sockets) > 0
		}) {
			t.Fatal("the session process does not listen")
		}
		ask := func() { // Codex and OpenCode need no process for it, so theirs is less
			hook := exec.Command(program, "hook", "--client", client, event)
			hook.Env, hook.Dir = env, dir
			hook.Stdin = bytes.NewReader([]byte(`{"session_id":"s","sessionId":"s"}`))
			out, err := hook.Output()
			if err != nil || strings.Contains(string(out), "deny") || strings.Contains(string(out), "block") {
				t.Errorf("%s: %v, or it makes the turn go on: %s", client, err, out)
			}
		}
		var took []time.Duration
		for range 11 {
			began := time.Now()
			ask()
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		faultrig.Hold(t, client+": the end of a turn waits, median", took[len(took)/2], 300*time.Millisecond)
		_ = open.Close()
		_ = session.Wait() // how it ends is not what is measured
	}
}
