package engine

import (
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Parent is the process that a process was started by; 0 if nobody can say.
func Parent(pid int) int {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(info.Eproc.Ppid)
}

// Stopped says that a process is halted. Nobody looks here.
func Stopped(int) bool { return false }

// Arguments are those a process was started with, its name first, cut where they
// have a space; not known if it is gone.
func Arguments(pid int) (args []string, known bool) {
	out, err := exec.Command("ps", "-ww", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	args = strings.Fields(string(out))
	return args, err == nil && len(args) > 0
}

// OnTerminal knows nothing here: what a process reads from is told by no command that
// is always there.
func OnTerminal(int) (is, known bool) { return false, false }
