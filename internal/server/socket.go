package server

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// listenSocket listens on a unix socket that only this user can open. One that
// a coordinator left behind is replaced. One that a coordinator listens on is
// not: two home folders may share the folder of their sockets.
func listenSocket(ctx context.Context, path string) (net.Listener, error) {
	if other, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path); err == nil {
		_ = other.Close()
		return nil, c3po.Errorf(c3po.InvalidRequest, "another coordinator listens on the socket %s", path).
			Suggest("Stop it, or set XDG_RUNTIME_DIR to a folder of your own.")
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, socketRefused(path, err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, socketRefused(path, err)
	}
	// Its folder has kept others out so far.
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(socketRefused(path, err), listener.Close())
	}
	return listener, nil
}

func socketRefused(path string, cause error) error {
	return c3po.Errorf(c3po.InvalidRequest, "cannot listen on the socket %s: %w", path, cause).
		Suggest("Check who owns its folder.")
}
