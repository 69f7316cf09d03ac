package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// KnowsProcesses says that this system shows what started a process.
const KnowsProcesses = true

// Names are what a process goes by: the file it runs and what it calls itself.
// What it was started by cannot change them.
func Names(pid int) []string {
	var names []string
	if file, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil {
		names = append(names, strings.TrimSuffix(file, " (deleted)"))
	}
	if own, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil {
		names = append(names, strings.TrimSpace(string(own)))
	}
	return names
}

// Environment is what a process was started with; nothing if it is not ours.
func Environment(pid int) []string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return nil
	}
	return strings.Split(string(data), "\x00")
}

// Ours are the processes of this user, each with what it was started by.
func Ours() map[int]int {
	folders, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	all := map[int]int{}
	for _, folder := range folders {
		pid, err := strconv.Atoi(folder.Name())
		if err != nil {
			continue
		}
		var info syscall.Stat_t
		if syscall.Stat(filepath.Join("/proc", folder.Name()), &info) == nil && int(info.Uid) == os.Getuid() {
			all[pid] = Parent(pid)
		}
	}
	return all
}
