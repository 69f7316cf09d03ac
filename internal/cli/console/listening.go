package console

import (
	"fmt"
	"net"

	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/host/reach"
)

// checkListener refuses who listens on the socket of a coordinator of this user if it is
// an agent, or not the process that is known to. Nothing was sent then.
func (a *Console) checkListener(conn net.Conn, socket string) error {
	if pid := auth.PeerPID(conn); pid != 0 {
		if runs, _ := Ancestors(pid); a.hasSession(runs) {
			return fmt.Errorf("an agent (process %d) listens on %s, and no coordinator", pid, socket)
		}
	}
	return reach.CheckListener(a.Folders, conn, socket)
}

func (a *Console) hasSession(runs []string) bool {
	_, has := a.SessionOf(runs)
	return has
}
