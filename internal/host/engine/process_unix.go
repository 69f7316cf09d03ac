//go:build unix

package engine

import (
	"os/exec"
	"syscall"
)

// Hostable says why no coordinator can run in the background on this system.
func Hostable() error { return nil }

// Detach gives a process that is about to start a session of its own, so that
// it outlives us and our terminal.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
