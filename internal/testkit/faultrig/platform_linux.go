package faultrig

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dieWithParent makes the kernel end cmd when this process ends, however it does.
func dieWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// ownMounts gives cmd a view of the file systems that nobody shares.
func ownMounts(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
}

func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func thaw(p *os.Process) error { return p.Signal(syscall.SIGCONT) }

// inode names a file whatever it is called: Redis writes some files under
// another name first.
func inode(info os.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }

// threadTime is the processor time of the thread that asks.
func threadTime() time.Duration {
	var spent unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &spent) // a clock that there is
	return time.Duration(spent.Nano())
}
