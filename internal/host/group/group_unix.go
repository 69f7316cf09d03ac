//go:build unix

// Package group ends a program together with what it has started.
package group

import (
	"os/exec"
	"syscall"
)

// Own puts a command and what it starts into a new group of processes, with no
// terminal above it.
func Own(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// Ask asks a command and what it has started to end.
func Ask(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// End ends them at once. An error says that none of them was left.
func End(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
