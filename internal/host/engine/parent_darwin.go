package engine

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// zombie is the state of a process that has ended and was not waited for.
const zombie = 5 // SZOMB of sys/proc.h

// look reads what there is to know of a process in one go, so that it belongs together.
func look(pid int) (looked, sight) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		if errors.Is(unix.Kill(pid, 0), unix.EPERM) {
			return looked{}, hidden
		}
		return looked{}, absent
	}
	return looked{parent: int(info.Eproc.Ppid), start: info.Proc.P_starttime.Nano(), ended: info.Proc.P_stat == zombie}, plain
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

// Folder knows nothing here: what a process works in is told by no command that is always there.
func Folder(int) string { return "" }

// OnTerminal knows nothing here: what a process reads from is told by no command that
// is always there.
func OnTerminal(int) (is, known bool) { return false, false }

// Typed knows nothing here.
func Typed(int) (at time.Time, known bool) { return time.Time{}, false }
