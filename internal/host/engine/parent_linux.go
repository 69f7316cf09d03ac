package engine

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// look reads what there is to know of a process in one go, so that it belongs together.
func look(pid int) (looked, sight) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		if errors.Is(syscall.Kill(pid, 0), syscall.EPERM) {
			return looked{}, hidden
		}
		return looked{}, absent
	}
	// The name, in brackets, may hold anything: what counts follows the last one.
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	const state, parent, start = 0, 1, 19 // fields 3, 4 and 22 of proc(5)
	if len(fields) <= start {
		return looked{}, absent
	}
	above, err := strconv.Atoi(fields[parent])
	began, err2 := strconv.ParseInt(fields[start], 10, 64)
	if err != nil || err2 != nil {
		return looked{}, absent
	}
	return looked{parent: above, start: began, ended: fields[state] == "Z" || fields[state] == "X"}, plain
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

// Folder is the one that a process works in; empty if it is gone or not ours.
func Folder(pid int) string {
	at, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		return ""
	}
	return at
}

// OnTerminal says whether a process reads from a terminal; not known if it is gone
// or not ours.
func OnTerminal(pid int) (is, known bool) {
	from, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", pid))
	return strings.HasPrefix(from, "/dev/pts/") || strings.HasPrefix(from, "/dev/tty") || from == "/dev/console", err == nil
}

// Typed is when something was last typed at the terminal that a process reads from, as
// exactly as the kernel says it: to eight seconds. Not known if it reads from no terminal.
func Typed(pid int) (at time.Time, known bool) {
	if is, _ := OnTerminal(pid); !is {
		return time.Time{}, false
	}
	about, err := os.Stat(fmt.Sprintf("/proc/%d/fd/0", pid))
	if err != nil {
		return time.Time{}, false
	}
	stat, known := about.Sys().(*syscall.Stat_t)
	if !known {
		return time.Time{}, false
	}
	return time.Unix(stat.Atim.Unix()), true
}
