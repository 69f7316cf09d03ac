package bench

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// endTimeout is how long a process may take to end in its own time.
const endTimeout = 15 * time.Second

// A child is a process that lives no longer than we do.
type child struct {
	process *os.Process
	gone    chan struct{} // closed when it was waited for
}

// startChild starts cmd and waits for its end in the background. Both are done
// by one goroutine that keeps its thread: the signal that ends the child with
// us is tied, on Linux, to the thread that started it.
func startChild(cmd *exec.Cmd) (*child, error) {
	dieWithParent(cmd)
	c := &child{gone: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		c.process = cmd.Process
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(c.gone)
		}
	}()
	return c, <-started
}

func (c *child) pid() int { return c.process.Pid }

func (c *child) hasEnded() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// stop asks it to end, and ends it if it does not.
func (c *child) stop() {
	late := time.AfterFunc(endTimeout, func() { _ = c.process.Kill() })
	defer late.Stop()
	if c.process.Signal(syscall.SIGTERM) != nil {
		_ = c.process.Kill()
	}
	<-c.gone
}

func (c *child) kill() {
	_ = c.process.Kill()
	<-c.gone
}
