package engine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Parent is the process that a process was started by; 0 if nobody can say.
func Parent(pid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name, in brackets, may hold anything: what counts follows the last one.
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	const parent = 1 // field 4 of proc(5)
	if len(fields) <= parent {
		return 0
	}
	number, err := strconv.Atoi(fields[parent])
	if err != nil {
		return 0
	}
	return number
}

// Stopped says that a process is halted, by a signal or a debugger.
func Stopped(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	return len(fields) > 0 && (fields[0] == "T" || fields[0] == "t")
}

// Arguments are those a process was started with, its name first; not known if it
// is gone or not ours.
func Arguments(pid int) (args []string, known bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(data) == 0 {
		return nil, false
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00"), true
}

// OnTerminal says whether a process reads from a terminal; not known if it is gone
// or not ours.
func OnTerminal(pid int) (is, known bool) {
	from, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", pid))
	return strings.HasPrefix(from, "/dev/pts/") || strings.HasPrefix(from, "/dev/tty") || from == "/dev/console", err == nil
}
