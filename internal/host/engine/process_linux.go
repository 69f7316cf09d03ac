package engine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Started is when a process started, as this machine counts; 0 if there is no
// such process or it has ended. With it a process number names one process and
// not the next one that gets the number.
func Started(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name, in brackets, may hold anything: what counts follows the last one.
	_, rest, _ := strings.Cut(string(data[strings.LastIndexByte(string(data), ')')+1:]), " ")
	fields := strings.Fields(rest)
	const state, start = 0, 19 // fields 3 and 22 of proc(5)
	if len(fields) <= start || fields[state] == "Z" {
		return 0
	}
	started, err := strconv.ParseInt(fields[start], 10, 64)
	if err != nil {
		return 0
	}
	return started
}
