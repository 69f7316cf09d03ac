package engine

import "golang.org/x/sys/unix"

// Parent is the process that a process was started by; 0 if nobody can say.
func Parent(pid int) int {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(info.Eproc.Ppid)
}
