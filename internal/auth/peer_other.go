//go:build !linux && !darwin

package auth

import "syscall"

const knowsPeers = false

// peerOf knows nobody here.
func peerOf(syscall.Conn) (uid, pid int, ok bool) { return 0, 0, false }

// peerEnded knows of none here.
func peerEnded(syscall.Conn) bool { return false }
