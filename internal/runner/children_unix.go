//go:build unix

package runner

import (
	"os/exec"
	"syscall"
)

// endWithChildren lets the end of a command's context also be that of what it
// has started.
func endWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
