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
	// start is when that process started; 0 if it had ended before it was looked at. Then
	// any process may hold the connection.
	start int64
}

// peerKey is under which the context of a connection has its peer, if that is a
// process of the same user.
type peerKey struct{}

// WithPeer is for http.Server.ConnContext: it marks a connection over a unix
// socket whose other end is a process of the user this one runs as, or of root,
// who may become that user anyway: `sudo HOME=/var/lib/c3po c3po invite`. Started
// is when a process started, 0 if there is none.
func WithPeer(started func(pid int) int64) func(context.Context, net.Conn) context.Context {
	return func(ctx context.Context, conn net.Conn) context.Context {
		if conn.LocalAddr().Network() != "unix" {
			return ctx
		}
		raw, ok := conn.(syscall.Conn)
		if !ok {
			return ctx
		}
		uid, pid, ok := peerOf(raw)
		if !ok || uid != os.Getuid() && uid != 0 {
			return ctx
		}
		found := peer{pid: pid}
		if started != nil && pid > 0 {
			found.start = started(pid)
			// Only of one that lives after that was it the start, and not of the next
			// process with its number.
			if peerEnded(raw) {
				found.start = 0
			}
		}
		return context.WithValue(ctx, peerKey{}, found)
	}
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

// pidIn is the number of that process; 0 if it is not known.
func pidIn(ctx context.Context) int {
	found, _ := peerIn(ctx)
	return found.pid
}

// peerIn is the process whose connection a request came over, if it came over
// our own socket.
func peerIn(ctx context.Context) (peer, bool) {
	found, ok := ctx.Value(peerKey{}).(peer)
	return found, ok
}
