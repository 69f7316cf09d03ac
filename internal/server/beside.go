package server

import (
	"context"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// introduce lets the programs of this user find the coordinator at url and be let
// in. leave takes back what is of no use when it has ended.
func introduce(ctx context.Context, keeper *auth.Keeper, cfg Config, url, ca string) (leave func(), err error) {
	l := local{keeper: keeper, folder: cfg.Config, url: url, ca: ca}
	if auth.KnowsPeers {
		l.socket = cfg.Socket
	}
	if cfg.Config != "" && cfg.Beside != "" && keeper.Mode() != auth.None && hasLocal(cfg.Config) {
		return l.stayBeside(ctx, cfg.Beside)
	}
	return func() {}, l.write(ctx)
}

// hasLocal says that there are credentials in a folder.
func hasLocal(folder string) bool {
	person, err := paths.ReadPerson(folder)
	return err != nil || person != nil
}

// stayBeside makes a coordinator known to the user whose other one runs. The other one's
// credentials stay: they are valid here too, as both use the same Redis. leave takes back
// what was written.
func (l local) stayBeside(ctx context.Context, other string) (leave func(), err error) {
	unlock, err := lockLocal(ctx, l.folder)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := l.checkGood(ctx, other); err != nil {
		return nil, err
	}
	if err := l.change(func(also *[]string, known *string, sockets *map[string]string) {
		if !slices.Contains(*also, l.url) {
			*also = append(*also, l.url)
		}
		if *known == "" {
			*known = l.ca
		}
		l.noteSocket(sockets)
	}); err != nil {
		return nil, err
	}
	return func() {
		unlock, err := lockLocal(context.WithoutCancel(ctx), l.folder)
		if err != nil {
			return // an address without a listener does no harm
		}
		defer unlock()
		_ = l.change(func(also *[]string, _ *string, sockets *map[string]string) {
			*also = slices.DeleteFunc(*also, func(a string) bool { return a == l.url })
			delete(*sockets, l.url)
		})
	}, nil
}

// checkGood refuses a Redis on which the credentials of the other coordinator are
// worth nothing.
func (l local) checkGood(ctx context.Context, other string) error {
	agents, err := paths.ReadCredentials(l.folder)
	if err != nil {
		return err
	}
	person, err := paths.ReadPerson(l.folder)
	if err != nil {
		return err
	}
	var tokens []string
	if agents != nil && agents.Host == "" {
		tokens = append(tokens, agents.Token)
	}
	if person != nil {
		tokens = append(tokens, person.Human, person.Admin)
	}
	for _, token := range tokens {
		works, err := l.keeper.Works(ctx, token)
		if err != nil {
			return err
		}
		if !works {
			return c3po.Errorf(c3po.InvalidRequest, "another coordinator runs at %s on another Redis, and this one would replace its credentials", other).
				Suggest("Stop that one with `c3po down`, or give this one other folders: set XDG_CONFIG_HOME.")
		}
	}
	return nil
}

// change edits the recorded addresses and authority of this user's coordinators, where
// there is a record.
func (l local) change(change func(also *[]string, ca *string, sockets *map[string]string)) error {
	agents, err := paths.ReadCredentials(l.folder)
	if err != nil {
		return err
	}
	if agents != nil && agents.Host == "" {
		change(&agents.Also, &agents.CA, &agents.Sockets)
		if err := agents.Write(l.folder); err != nil {
			return err
		}
	}
	person, err := paths.ReadPerson(l.folder)
	if err != nil || person == nil {
		return err
	}
	change(&person.Also, &person.CA, &person.Sockets)
	return person.Write(l.folder)
}
