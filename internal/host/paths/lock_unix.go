//go:build unix

package paths

import (
	"errors"
	"os"
	"syscall"
)

func flock(file *os.File) (taken bool, err error) {
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Discard gives the lock up and removes its file, first: who took it in between would
// hold the lock of a file that is gone.
func (l *Lock) Discard() {
	_ = os.Remove(l.file.Name())
	_ = l.Release()
}
