// Package reach finds the coordinator of this user's agents: where it is, how it proves
// itself, and with what. The command line and the public client ask it alike.
package reach

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"path/filepath"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/auth/pki"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// Agents is how an agent of this user reaches the coordinator: at the address it
// was told; else the one that runs here; else the one this host has joined. A
// token is sent to no other coordinator than its own, and one of this user's own
// is reached through its socket: at its address anybody on this machine may
// listen once it is down.
func Agents(folders paths.Folders, address, token string) (client.Config, error) {
	cfg := client.Config{URL: address, Token: token}
	if address == "" {
		note, err := folders.Coordinator()
		if err != nil {
			return cfg, err
		}
		if note != nil && note.URL != "" {
			cfg.URL, cfg.Socket = note.URL, note.Socket
			return cfg, nil
		}
	}
	mine, err := folders.Credentials()
	if err != nil {
		return cfg, err
	}
	if cfg.URL == "" && mine != nil {
		cfg.URL = mine.URL
	}
	if person, err := folders.Person(); err == nil && cfg.URL == "" && person != nil {
		// A host whose person has signed in, and that has not joined itself.
		cfg.URL = person.URL
		if cfg.TLS, err = Trust(person.CA); err != nil {
			return cfg, err
		}
	}
	if cfg.Socket, err = SocketOf(folders, cfg.URL); err != nil || mine == nil || !mine.For(cfg.URL) {
		return cfg, err
	}
	if cfg.Token == "" {
		if err := CheckProved(cfg); err != nil && !mine.Unproved {
			return cfg, err
		}
		cfg.Token = mine.Token
	}
	cfg.TLS, err = Trust(mine.CA)
	return cfg, err
}

// SocketOf is the socket of this user's own coordinator at an address; empty if it
// is another's. One that is down is not there, and nobody else can put it there.
func SocketOf(folders paths.Folders, address string) (string, error) {
	mine, err := folders.Credentials()
	if err != nil {
		return "", err
	}
	if mine != nil && mine.SocketOf(address) != "" {
		return mine.SocketOf(address), nil
	}
	person, err := folders.Person()
	if err != nil {
		return "", err
	}
	if person != nil && person.SocketOf(address) != "" {
		return person.SocketOf(address), nil
	}
	note, err := folders.Coordinator()
	if err != nil || note == nil || !paths.SameAddress(note.URL, address) {
		return "", err
	}
	return note.Socket, nil
}

// CheckProved refuses to send a token from a file to an address of this machine
// where nothing proves whose program listens.
func CheckProved(cfg client.Config) error {
	at, err := url.Parse(cfg.URL)
	if cfg.Socket != "" || !auth.KnowsPeers || err != nil || at.Scheme != "http" || !auth.Loopback(at.Hostname()) {
		return nil
	}
	return c3po.Errorf(c3po.CoordDown, "nothing proves that your coordinator listens at %s, so no token was sent there", cfg.URL).
		Suggest("Start it with `c3po up`. One that runs and is older than this program has to be started again.")
}

// Trust is how a coordinator proves itself whose authority was stored; as the
// system says if there is none.
func Trust(authority string) (*tls.Config, error) {
	if authority == "" {
		return nil, nil
	}
	return pki.Trust([]byte(authority))
}

// ServeSocketName is how the sockets of c3po serve are called.
const ServeSocketName = "serve-%d.sock"

// CheckListener refuses who listens on the socket of a coordinator of this user if it is not
// the process that is known to: once a coordinator has ended, any program of the
// user can put a socket there. Nothing was sent then.
func CheckListener(folders paths.Folders, conn net.Conn, socket string) error {
	pid := auth.PeerPID(conn)
	if pid == 0 {
		return nil // nobody can tell
	}
	var serves int
	if _, err := fmt.Sscanf(filepath.Base(socket), ServeSocketName, &serves); err == nil {
		if serves != pid {
			return fmt.Errorf("process %d listens on %s, which is of process %d", pid, socket, serves)
		}
		return nil
	}
	note, err := folders.Coordinator()
	if err != nil {
		return err
	}
	if note == nil || note.Socket != socket {
		if own, err := folders.SocketFile("coordinator.sock"); err != nil || own != socket {
			return err // of a coordinator with another state folder, whose note is there
		}
	}
	if note == nil || note.PID != pid || note.Started != engine.Started(pid) {
		return fmt.Errorf("process %d listens on %s, and is no coordinator that has said so", pid, socket)
	}
	return nil
}
