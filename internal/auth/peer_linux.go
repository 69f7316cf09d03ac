package auth

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const knowsPeers = true

// peerOf is the process at the other end of a unix socket and its user, as the
// kernel says.
func peerOf(conn syscall.Conn) (uid, pid int, ok bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0, false
	}
	err = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			uid, pid, ok = int(peer.Uid), int(peer.Pid), true
		}
	})
	return uid, pid, ok && err == nil
}
