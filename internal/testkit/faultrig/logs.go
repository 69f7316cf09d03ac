package faultrig

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// faultMark begins the report of a fault. The gate knows it: no second run excuses such a failure.
const faultMark = "A FAULT OF C3PO IN A LOG"

// faultLine matches what only a fault of c3po writes: a crash of the Go runtime, a panic that was
// caught, a data race, and an error that c3po has no words for, as it is logged and as a caller reads it.
var faultLine = regexp.MustCompile(`(?m)^.*(?:^(?:panic|fatal error): |^SIG[A-Z]+: |"?msg"?[=:]"?panic|DATA RACE|a fault of c3po|"?err"?[=:]"internal error").*$`)

// FaultIn reports the first fault of c3po that a log shows, with the lines after it; it is
// empty if there is none.
func FaultIn(name, log string) string {
	at := faultLine.FindStringIndex(log)
	if at == nil {
		return ""
	}
	const most = 4000
	return faultMark + ": " + name + "\n" + log[at[0]:min(len(log), at[0]+most)]
}

// FaultBelow is FaultIn for all logs below a folder: those of coordinators, and what
// coding agents keep of their sessions and of what these print.
func FaultBelow(dir string) string {
	found := ""
	logs := []string{".log", ".txt"} // a .jsonl is the client's own, and has calls that it gave up
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // its program has removed it
		case entry.IsDir() && entry.Name() == "node_modules":
			return fs.SkipDir
		case entry.Type().IsRegular() && slices.Contains(logs, filepath.Ext(path)):
			text, _ := os.ReadFile(path) // its program may have removed it
			found = FaultIn(path, string(text))
		}
		if found != "" {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// CheckLogs fails a test if a log below a folder shows a fault of c3po.
func CheckLogs(t testing.TB, dir string) {
	t.Helper()
	if fault := FaultBelow(dir); fault != "" {
		t.Error(fault)
	}
}

// CheckLog is CheckLogs for the text of one log.
func CheckLog(t testing.TB, name, log string) {
	t.Helper()
	if fault := FaultIn(name, strings.TrimSpace(log)); fault != "" {
		t.Error(fault)
	}
}
