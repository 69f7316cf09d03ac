package faultrig

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// A process is one run of a program.
type process struct {
	handle *os.Process
	gone   chan struct{} // closed when the process was waited for
	err    error         // of its end; read after gone
}

// run starts cmd and waits for its end in the background. Both are done by one
// goroutine that keeps its thread: the signal that ends the program together
// with this process is tied, on Linux, to the thread that started it.
func run(cmd *exec.Cmd) (*process, error) {
	dieWithParent(cmd)
	p := &process{gone: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.handle = cmd.Process
		}
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.gone)
		}
	}()
	return p, <-started
}

// Freeze stops a process with SIGSTOP: its connections stay, nothing moves. What
// is returned lets it go on.
func Freeze(t testing.TB, pid int) (goOn func()) {
	t.Helper()
	handle, err := os.FindProcess(pid)
	if err == nil {
		err = freeze(handle)
	}
	if err != nil {
		t.Fatalf("freeze %d: %v", pid, err)
	}
	return func() {
		if err := thaw(handle); err != nil {
			t.Errorf("thaw %d: %v", pid, err)
		}
	}
}

// end sends a signal and waits until the process is gone.
func (p *process) end(signal os.Signal) error {
	if err := p.handle.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.gone
	return nil
}
