package redistest

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel end cmd when this process ends, however it does.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
