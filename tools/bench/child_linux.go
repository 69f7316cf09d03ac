package bench

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// dieWithParent makes the kernel end cmd when this process ends, however it does. A
// terminal interrupts this process alone, which then ends cmd.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// tick is the unit in which Linux tells programs about processor time, on
// every architecture Go knows.
const tick = 10 * time.Millisecond

// cpuTime is the processor time a process has used, all its threads together.
func cpuTime(pid int) (time.Duration, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The name, in brackets, may hold anything: what counts follows the last one.
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	const user, system = 11, 12 // fields 14 and 15 of proc(5)
	if len(fields) <= system {
		return 0, false
	}
	var ticks int64
	for _, field := range fields[user : system+1] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, false
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, true
}

// residentMemory is how much memory a process really has.
func residentMemory(pid int) (int64, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, false
	}
	var all, resident int64
	if _, err := fmt.Sscan(string(data), &all, &resident); err != nil {
		return 0, false
	}
	return resident * int64(os.Getpagesize()), true
}
