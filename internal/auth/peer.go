package auth

import (
	"context"
	"net"
	"os"
	"syscall"
)

// peerKey is under which the context of a connection says that the same user is
// at its other end.
type peerKey struct{}

// WithPeer is for http.Server.ConnContext: it marks a connection over a unix
// socket whose other end is a process of the user this one runs as.
func WithPeer(ctx context.Context, conn net.Conn) context.Context {
	if conn.LocalAddr().Network() != "unix" {
		return ctx
	}
	raw, ok := conn.(syscall.Conn)
	if !ok {
		return ctx
	}
	if uid, ok := peerUID(raw); ok && uid == os.Getuid() {
		return context.WithValue(ctx, peerKey{}, true)
	}
	return ctx
}

func samePeer(ctx context.Context) bool {
	same, _ := ctx.Value(peerKey{}).(bool)
	return same
}
