package engine_test

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/engine"
)

func TestAProcessThatIsHaltedIsSeenToBe(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	becomes := func(signal syscall.Signal, want bool) {
		t.Helper()
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for end := time.Now().Add(10 * time.Second); engine.Stopped(cmd.Process.Pid) != want; <-tick.C {
			if time.Now().After(end) {
				t.Fatalf("after %v it is not seen", signal)
			}
		}
	}
	becomes(syscall.SIGSTOP, true)
	becomes(syscall.SIGCONT, false)
}
