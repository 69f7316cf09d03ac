//go:build unix

package container

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a program into a group of its own, which a terminal does not
// interrupt.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// together keeps it in ours: a program that reads from the terminal must be in
// the group that the terminal listens to.
func together(cmd *exec.Cmd) { cmd.SysProcAttr = nil }
