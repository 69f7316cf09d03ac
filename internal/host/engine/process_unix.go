//go:build unix

package engine

import (
	"os/exec"
	"syscall"
)

// Detach gives a process that is about to start a session of its own, so that
// it outlives us and our terminal.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
