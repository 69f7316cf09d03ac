package auth

import (
	"context"
	"net"
	"os"
	"syscall"
)

// A peer is the process at the other end of a connection, as the kernel says.
type peer struct {
	pid int // 0 if it cannot be told, as for a process of another container
}

// peerKey is under which the context of a connection has its peer, if that is a
// process of the same user.
type peerKey struct{}

// WithPeer is for http.Server.ConnContext: it marks a connection over a unix
// socket whose other end is a process of the user this one runs as, or of root,
// who may become that user anyway: `sudo HOME=/var/lib/c3po c3po invite`.
func WithPeer(ctx context.Context, conn net.Conn) context.Context {
	if conn.LocalAddr().Network() != "unix" {
		return ctx
	}
	raw, ok := conn.(syscall.Conn)
	if !ok {
		return ctx
	}
	if uid, pid, ok := peerOf(raw); ok && (uid == os.Getuid() || uid == 0) {
		return context.WithValue(ctx, peerKey{}, peer{pid})
	}
	return ctx
}

// PeerPID is the process at the other end of a unix socket; 0 if it cannot be told.
func PeerPID(conn net.Conn) int {
	if raw, ok := conn.(syscall.Conn); ok {
		if _, pid, ok := peerOf(raw); ok {
			return pid
		}
	}
	return 0
}

// KnowsPeers says that this system tells who is at the other end of a socket.
const KnowsPeers = knowsPeers

// peerIn is the process whose connection a request came over, if it came over
// our own socket.
func peerIn(ctx context.Context) (peer, bool) {
	found, ok := ctx.Value(peerKey{}).(peer)
	return found, ok
}
