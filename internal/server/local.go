package server

import (
	"context"
	"os"
	"path/filepath"
	"reflect"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// A local is what a coordinator writes for the user who runs it.
type local struct {
	keeper *auth.Keeper
	folder string // for the files; none are written if empty
	url    string
	ca     string // what the coordinator proves itself with, if that is its own authority
	socket string // where it can be told which process calls; empty if nowhere
}

// write makes sure that the user who runs this coordinator has credentials for
// it: a token of agents with bare names, and apart from it those of the person.
// What is there and works is kept.
func (l local) write(ctx context.Context) error {
	open := l.keeper.Mode() == auth.None
	if l.folder == "" || open && !hasLocal(l.folder) {
		return nil
	}
	unlock, err := lockLocal(ctx, l.folder)
	if err != nil {
		return err
	}
	defer unlock()
	if open {
		// What is there leads to the coordinator that was at this address before.
		return l.change(func(_ *[]string, _ *string, sockets *map[string]string) { l.noteSocket(sockets) })
	}
	host, _ := os.Hostname() // only a label
	if err := l.writeAgents(ctx, host); err != nil {
		return err
	}
	return l.writePerson(ctx, host)
}

func (l local) writeAgents(ctx context.Context, host string) error {
	had, err := paths.ReadCredentials(l.folder)
	if err != nil {
		return err
	}
	if had != nil && !had.OwnHost() {
		// This host has joined another coordinator, and its agents stay there.
		return nil
	}
	have := paths.Credentials{}
	if had != nil {
		have = *had
	}
	if have.Token, err = l.workingToken(ctx, have.Token, auth.LocalGrant(c3po.RoleAgent, "agents of "+host)); err != nil {
		return err
	}
	have.URL, have.CA, have.Sockets = l.url, l.ca, l.withOthers(have.Sockets, have.Also)
	if had != nil && reflect.DeepEqual(*had, have) {
		return nil
	}
	return have.Write(l.folder)
}

func (l local) writePerson(ctx context.Context, host string) error {
	had, err := paths.ReadPerson(l.folder)
	if err != nil {
		return err
	}
	if had != nil && !had.OwnHost() {
		return nil // its user has signed in at another coordinator, and stays there
	}
	have := paths.Person{}
	if had != nil {
		have = *had
	}
	if have.Human, err = l.workingToken(ctx, have.Human, auth.LocalGrant(c3po.RoleHuman, "the person at "+host)); err != nil {
		return err
	}
	if have.Admin, err = l.workingToken(ctx, have.Admin, auth.LocalGrant(c3po.RoleAdmin, "the admin at "+host)); err != nil {
		return err
	}
	have.URL, have.CA, have.Sockets = l.url, l.ca, l.withOthers(have.Sockets, have.Also)
	if had != nil && reflect.DeepEqual(*had, have) {
		return nil
	}
	return have.Write(l.folder)
}

// withOthers are the sockets of this coordinator and of those beside it.
func (l local) withOthers(known map[string]string, also []string) map[string]string {
	var all map[string]string
	for _, url := range also {
		if socket, ok := known[url]; ok {
			local{url: url, socket: socket}.noteSocket(&all)
		}
	}
	l.noteSocket(&all)
	return all
}

// noteSocket notes the socket beside those of the user's other coordinators.
func (l local) noteSocket(sockets *map[string]string) {
	if l.socket == "" {
		delete(*sockets, l.url)
		return
	}
	if *sockets == nil {
		*sockets = map[string]string{}
	}
	(*sockets)[l.url] = l.socket
}

// workingToken is a token that works: the one there is, else a new one.
func (l local) workingToken(ctx context.Context, token string, grant auth.Grant) (string, error) {
	works, err := l.keeper.Works(ctx, token)
	if err != nil {
		return token, err
	}
	if works {
		if l.socket != "" {
			err = l.keeper.Localize(ctx, token)
		}
		return token, err
	}
	grant.Local = l.socket != ""
	made, err := l.keeper.Mint(ctx, grant)
	if err != nil {
		return "", err
	}
	l.keeper.Record(ctx, auth.AuditEntry{Event: auth.EventTokenCreated, KID: made.KID, Role: grant.Role, Detail: grant.Label + ", made at the start of the coordinator"})
	return made.Secret, nil
}

// lockLocal keeps two coordinators that start at once from undoing what the other
// has written.
func lockLocal(ctx context.Context, folder string) (unlock func(), err error) {
	lock, err := paths.WaitLock(ctx, filepath.Join(folder, "credentials.lock"))
	if err != nil {
		return nil, err
	}
	return func() { _ = lock.Release() }, nil
}
