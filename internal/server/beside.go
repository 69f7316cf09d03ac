package server

import (
	"context"
	"slices"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/paths"
)

// introduce lets the programs of this user find the coordinator at url and be let
// in. leave takes back what is of no use when it has ended.
func introduce(ctx context.Context, keeper *auth.Keeper, cfg Config, url, ca string) (leave func(), err error) {
	if cfg.Config != "" && cfg.Beside != "" && keeper.Mode() != auth.None && hasLocal(cfg.Config) {
		return stayBeside(ctx, keeper, cfg.Config, url, ca, cfg.Beside)
	}
	return func() {}, writeLocal(ctx, keeper, cfg.Config, url, ca)
}

// hasLocal says that there are credentials in a folder.
func hasLocal(folder string) bool {
	person, err := paths.ReadPerson(folder)
	return err != nil || person != nil
}

// stayBeside makes a coordinator known to the user whose other one runs. The
// credentials stay those of that one: they must be good here too, which they are
// on the same Redis. leave takes back what was written.
func stayBeside(ctx context.Context, keeper *auth.Keeper, folder, url, ca, other string) (leave func(), err error) {
	unlock, err := lockLocal(ctx, folder)
	if err != nil {
		return nil, err
	}
	defer unlock()
	agents, err := paths.ReadCredentials(folder)
	if err != nil {
		return nil, err
	}
	person, err := paths.ReadPerson(folder)
	if err != nil {
		return nil, err
	}
	var tokens []string
	if agents != nil && agents.Host == "" {
		tokens = append(tokens, agents.Token)
	}
	if person != nil {
		tokens = append(tokens, person.Human, person.Admin)
	}
	for _, token := range tokens {
		works, err := keeper.Works(ctx, token)
		if err != nil {
			return nil, err
		}
		if !works {
			return nil, c3po.Errorf(c3po.InvalidRequest, "another coordinator of yours runs at %s on another Redis, and this one would take its credentials away", other).
				Suggest("End that one with `c3po down`, or give this one folders of its own: set XDG_CONFIG_HOME.")
		}
	}
	if err := changeLocal(folder, agents, person, func(also *[]string, known *string) {
		if !slices.Contains(*also, url) {
			*also = append(*also, url)
		}
		if *known == "" {
			*known = ca
		}
	}); err != nil {
		return nil, err
	}
	return func() {
		unlock, err := lockLocal(context.WithoutCancel(ctx), folder)
		if err != nil {
			return // an address that nobody listens at any more does no harm
		}
		defer unlock()
		agents, _ := paths.ReadCredentials(folder)
		person, _ := paths.ReadPerson(folder)
		_ = changeLocal(folder, agents, person, func(also *[]string, _ *string) {
			*also = slices.DeleteFunc(*also, func(a string) bool { return a == url })
		})
	}, nil
}

// changeLocal changes what is written down of the addresses and the authority of
// this user's coordinators.
func changeLocal(folder string, agents *paths.Credentials, person *paths.Person, change func(also *[]string, ca *string)) error {
	if agents != nil && agents.Host == "" {
		change(&agents.Also, &agents.CA)
		if err := agents.Write(folder); err != nil {
			return err
		}
	}
	if person == nil {
		return nil
	}
	change(&person.Also, &person.CA)
	return person.Write(folder)
}
