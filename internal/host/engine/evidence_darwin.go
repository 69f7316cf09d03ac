package engine

import (
	"os"

	"golang.org/x/sys/unix"
)

// KnowsProcesses says that this system shows what started a process.
const KnowsProcesses = true

// Names are what a process goes by.
func Names(pid int) []string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return nil
	}
	return []string{unix.ByteSliceToString(info.Proc.P_comm[:])}
}

// Environment knows nothing here.
func Environment(int) []string { return nil }

// Ours are the processes of this user, each with what it was started by.
func Ours() map[int]int {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	if err != nil {
		return nil
	}
	all := map[int]int{}
	for _, info := range list {
		all[int(info.Proc.P_pid)] = int(info.Eproc.Ppid)
	}
	return all
}
