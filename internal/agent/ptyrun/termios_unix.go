//go:build unix

package ptyrun

import (
	"os"

	"golang.org/x/sys/unix"
)

// mute keeps a terminal from echoing its input: with a pipe there is no one to see what
// was typed.
func mute(terminal *os.File) {
	onTerminal(terminal, func(fd int) {
		if t, err := unix.IoctlGetTermios(fd, getTermios); err == nil {
			t.Lflag &^= unix.ECHO
			_ = unix.IoctlSetTermios(fd, setTermios, t)
		}
	})
}

// collectsLines says that the terminal gives the program whole lines, up to a maximum
// length.
func collectsLines(terminal *os.File) bool {
	collects := false
	onTerminal(terminal, func(fd int) {
		t, err := unix.IoctlGetTermios(fd, getTermios)
		collects = err == nil && t.Lflag&unix.ICANON != 0
	})
	return collects
}

// inFront says that the process is the one its terminal belongs to, and nothing
// that it has started; also where that cannot be told.
func inFront(terminal *os.File, pid int) bool {
	front := true
	onTerminal(terminal, func(fd int) {
		group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		front = err != nil || group == pid
	})
	return front
}

// onTerminal leaves the file as it is: File.Fd would make reads of it hang.
func onTerminal(terminal *os.File, do func(fd int)) {
	raw, err := terminal.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { do(int(fd)) }) // #nosec G115 -- a file descriptor is small
}
