package container

import (
	"os/exec"
	"syscall"
)

// apart puts a program into a group of its own, which a console does not
// interrupt.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// together keeps it in ours, where it can read from the console.
func together(cmd *exec.Cmd) { cmd.SysProcAttr = nil }
