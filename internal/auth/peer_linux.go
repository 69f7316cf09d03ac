package auth

import (
	"errors"
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

// peerEnded says that the process at the other end of a unix socket is known to have
// ended. A kernel before 6.5 does not know.
func peerEnded(conn syscall.Conn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return true
	}
	ended := false
	err = raw.Control(func(fd uintptr) {
		process, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		switch {
		case errors.Is(err, unix.ENOPROTOOPT):
		case err != nil:
			ended = true
		default:
			ended = errors.Is(unix.PidfdSendSignal(process, 0, nil, 0), unix.ESRCH)
			_ = unix.Close(process)
		}
	})
	return ended || err != nil
}
