package server

import (
	"context"
	"os"
	"path/filepath"
	"reflect"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/paths"
)

// writeLocal makes sure that the user who runs this coordinator has credentials
// for it: a token of agents with bare names, and apart from it those of the
// person. What is there and works is kept. Ca is what the coordinator proves
// itself with, if that is its own authority.
func writeLocal(ctx context.Context, keeper *auth.Keeper, folder, url, ca string) error {
	if folder == "" || keeper.Mode() == auth.None {
		return nil
	}
	unlock, err := lockLocal(ctx, folder)
	if err != nil {
		return err
	}
	defer unlock()
	host, _ := os.Hostname() // only a label
	if err := writeAgents(ctx, keeper, folder, url, ca, host); err != nil {
		return err
	}
	return writePerson(ctx, keeper, folder, url, ca, host)
}

func writeAgents(ctx context.Context, keeper *auth.Keeper, folder, url, ca, host string) error {
	had, err := paths.ReadCredentials(folder)
	if err != nil {
		return err
	}
	if had != nil && had.Host != "" {
		// This host has joined another coordinator, and its agents stay there.
		return nil
	}
	have := paths.Credentials{}
	if had != nil {
		have = *had
	}
	if have.Token, err = kept(ctx, keeper, have.Token, auth.LocalGrant(c3po.RoleAgent, "agents of "+host)); err != nil {
		return err
	}
	have.URL, have.CA = url, ca
	if had != nil && reflect.DeepEqual(*had, have) {
		return nil
	}
	return have.Write(folder)
}

func writePerson(ctx context.Context, keeper *auth.Keeper, folder, url, ca, host string) error {
	had, err := paths.ReadPerson(folder)
	if err != nil {
		return err
	}
	have := paths.Person{}
	if had != nil {
		have = *had
	}
	if have.Human, err = kept(ctx, keeper, have.Human, auth.LocalGrant(c3po.RoleHuman, "the person at "+host)); err != nil {
		return err
	}
	if have.Admin, err = kept(ctx, keeper, have.Admin, auth.LocalGrant(c3po.RoleAdmin, "the admin at "+host)); err != nil {
		return err
	}
	have.URL, have.CA = url, ca
	if had != nil && reflect.DeepEqual(*had, have) {
		return nil
	}
	return have.Write(folder)
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

// kept is a token that works: the one there is, else a new one.
func kept(ctx context.Context, keeper *auth.Keeper, token string, grant auth.Grant) (string, error) {
	works, err := keeper.Works(ctx, token)
	if works || err != nil {
		return token, err
	}
	made, err := keeper.Mint(ctx, grant)
	return made.Secret, err
}
