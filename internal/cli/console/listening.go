package console

import (
	"fmt"
	"net"
	"path/filepath"

	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/host/engine"
)

// checkListener refuses who listens on the socket of a coordinator of this user if it is not
// the process that is known to: once a coordinator has ended, any program of the
// user can put a socket there. Nothing was sent then.
func (a *Console) checkListener(conn net.Conn, socket string) error {
	pid := auth.PeerPID(conn)
	if pid == 0 {
		return nil // nobody can tell
	}
	if runs, _ := Ancestors(pid); a.hasSession(runs) {
		return fmt.Errorf("an agent (process %d) listens on %s, and no coordinator", pid, socket)
	}
	var serves int
	if _, err := fmt.Sscanf(filepath.Base(socket), ServeSocketName, &serves); err == nil {
		if serves != pid {
			return fmt.Errorf("process %d listens on %s, which is of process %d", pid, socket, serves)
		}
		return nil
	}
	note, err := a.Folders.Coordinator()
	if err != nil {
		return err
	}
	if note == nil || note.Socket != socket {
		if own, err := a.Folders.SocketFile("coordinator.sock"); err != nil || own != socket {
			return err // of a coordinator with another state folder, whose note is there
		}
	}
	if note == nil || note.PID != pid || note.Started != engine.Started(pid) {
		return fmt.Errorf("process %d listens on %s, and is no coordinator that has said so", pid, socket)
	}
	return nil
}

// ServeSocketName is how the sockets of c3po serve are called.
const ServeSocketName = "serve-%d.sock"

func (a *Console) hasSession(runs []string) bool {
	_, has := a.SessionOf(runs)
	return has
}
