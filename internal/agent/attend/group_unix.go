//go:build unix

package attend

import (
	"os/exec"
	"syscall"
)

// group puts a command and what it starts into a new group of processes.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// endGroup ends a command with what it has started: it may take a moment, or at once.
func endGroup(cmd *exec.Cmd, atOnce bool) {
	signal := syscall.SIGTERM
	if atOnce {
		signal = syscall.SIGKILL
	}
	_ = syscall.Kill(-cmd.Process.Pid, signal) // none of it may be left
}
