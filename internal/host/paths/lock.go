package paths

import (
	"context"
	"os"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Lock is held by a process until it ends, however it ends.
type Lock struct{ file *os.File }

// TryLock takes the lock that the file of that name stands for; it returns nil
// if somebody else holds it.
func TryLock(name string) (*Lock, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, c3po.Errorf(c3po.InvalidRequest, "cannot open %s: %w", name, err).Suggest("Check who owns its folder.")
	}
	taken, err := flock(file)
	if err == nil && taken {
		return &Lock{file}, nil
	}
	file.Close()
	return nil, err
}

// WaitLock takes the lock as soon as it is free, or gives up when ctx ends.
func WaitLock(ctx context.Context, name string) (*Lock, error) {
	// The lock call itself cannot be cancelled, so it is asked again and again.
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		if lock, err := TryLock(name); lock != nil || err != nil {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
	}
}

// File is the open file that carries the lock. A process that inherits it
// holds the lock too.
func (l *Lock) File() *os.File { return l.file }

// Release gives the lock up for this process; who inherited it still holds it.
func (l *Lock) Release() error { return l.file.Close() }
