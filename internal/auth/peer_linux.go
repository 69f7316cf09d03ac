package auth

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// peerUID is the user at the other end of a unix socket, as the kernel says.
func peerUID(conn syscall.Conn) (uid int, ok bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			uid, ok = int(peer.Uid), true
		}
	})
	return uid, ok && err == nil
}
