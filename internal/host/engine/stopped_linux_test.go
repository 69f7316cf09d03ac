package engine_test

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/host/engine"
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

func TestAProcessThatReadsFromAPipeIsNotOnATerminal(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]func(*exec.Cmd) error{
		"a pipe":      func(cmd *exec.Cmd) error { _, err := cmd.StdinPipe(); return err },
		"/dev/null":   func(*exec.Cmd) error { return nil },
		"no terminal": func(cmd *exec.Cmd) error { cmd.Stdin = strings.NewReader("x"); return nil },
	} {
		cmd := exec.Command("sleep", "60")
		if err := on(cmd); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if is, known := engine.OnTerminal(cmd.Process.Pid); is || !known {
			t.Errorf("%s: a terminal: %v, known: %v", name, is, known)
		}
		if at, known := engine.Typed(cmd.Process.Pid); known {
			t.Errorf("%s: somebody typed at %v", name, at)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	if _, known := engine.OnTerminal(-1); known {
		t.Error("it is known of a process that is not there")
	}
}
