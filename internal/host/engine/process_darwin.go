package engine

import "golang.org/x/sys/unix"

// Started is when a process started, as this machine counts; 0 if there is no
// such process. With it a process number names one process and not the next
// one that gets the number.
func Started(pid int) int64 {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return info.Proc.P_starttime.Nano()
}
