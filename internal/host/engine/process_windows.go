package engine

import (
	"os/exec"

	"golang.org/x/sys/windows"

	"github.com/c3po-dev/c3po/c3po"
)

// Hostable says why no coordinator can run in the background here: there is no Redis
// for Windows.
func Hostable() error {
	return c3po.Errorf(c3po.InvalidRequest, "a coordinator cannot be hosted on Windows").
		Suggest("Run `c3po up` on Linux, macOS or in WSL, and join it from here: c3po join")
}

// Detach does nothing here.
func Detach(*exec.Cmd) {}

// Started is when a process started, in units of 100 ns; 0 if there is no such process,
// it has ended or is not shown to us.
func Started(pid int) int64 {
	if pid <= 0 {
		return 0
	}
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid)) // #nosec G115 -- not negative, and Windows has no larger ones
	if err != nil {
		return 0
	}
	defer func() { _ = windows.CloseHandle(process) }()
	// Whoever holds a handle of a process that has ended keeps its number.
	const stillActive = 259
	var code uint32
	if windows.GetExitCodeProcess(process, &code) != nil || code != stillActive {
		return 0
	}
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(process, &created, &exited, &kernel, &user) != nil {
		return 0
	}
	return int64(created.HighDateTime)<<32 | int64(created.LowDateTime)
}
