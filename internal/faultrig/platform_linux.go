package faultrig

import (
	"os"
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel end cmd when this process ends, however it does.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func thaw(p *os.Process) error { return p.Signal(syscall.SIGCONT) }

// inode names a file whatever it is called: Redis writes some files under
// another name first.
func inode(info os.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }
