package paths

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

func flock(file *os.File) (taken bool, err error) {
	err = windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// Discard gives the lock up and removes its file, unless somebody has taken it in
// between: no file is removed here while it is open.
func (l *Lock) Discard() {
	_ = l.Release()
	_ = os.Remove(l.file.Name())
}
