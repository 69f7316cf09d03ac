package engine

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// PortHolder is the process of this user that listens on a TCP port of this machine;
// 0 if there is none, or if it is another user's.
func PortHolder(port int) int {
	sockets := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		listeningSockets(table, port, sockets)
	}
	if len(sockets) == 0 {
		return 0
	}
	for pid := range Ours() {
		files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		if err != nil {
			continue
		}
		for _, file := range files {
			if to, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "fd", file.Name())); err == nil && sockets[to] {
				return pid
			}
		}
	}
	return 0
}

// listeningSockets reads from a table of the kernel which sockets listen on a port, as
// the links in /proc/PID/fd name them.
func listeningSockets(table string, port int, into map[string]bool) {
	const local, state, inode, listening = 1, 3, 9, "0A"
	file, err := os.Open(table)
	if err != nil {
		return
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		row := strings.Fields(lines.Text())
		if len(row) > inode && row[state] == listening && strings.HasSuffix(row[local], fmt.Sprintf(":%04X", port)) {
			into["socket:["+row[inode]+"]"] = true
		}
	}
}
