package people

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// Login is join for the person who uses a host. Which of the two an invitation is for
// the coordinator says, so that a wrong command does no harm.
func Login(a *console.Console) *cobra.Command {
	cmd := Join(a)
	cmd.Use = "login [INVITATION]"
	cmd.Short = "Sign in on this host, as the person who answers"
	cmd.Long = `Sign in at a coordinator on another host, with an invitation that c3po invite --person
printed there. On this host you can then answer, pause, watch and open the dashboard.
What answers is compared with the invitation before anything secret is sent. Your
token is kept in a file that only you can read; agents on this host keep theirs, and
commands for people stay refused to them.

Without an argument it asks for the invitation and doesn't show what you paste; with
- it reads it from stdin.`
	cmd.Example = `  c3po login
  echo c3po://nas:8420/5f1c…-k3xv2ab7qmzd-Zm9v… | c3po login -`
	return cmd
}

// signIn keeps the person's credentials, once they are known to work.
func signIn(ctx context.Context, a *console.Console, config string, mine paths.Person, host string) (joining, error) {
	trust, err := console.TrustIn(mine.CA)
	if err != nil {
		return joining{}, err
	}
	result := joining{Host: host, Person: true, URL: mine.URL, Credentials: filepath.Join(config, "person.json")}
	if result.Kept, err = keepFormer(result.Credentials); err != nil {
		return joining{}, err
	}
	if err := mine.Write(config); err != nil {
		return joining{}, err
	}
	person := client.New(client.Config{URL: mine.URL, TLS: trust, Token: mine.Human, ClientName: "login", Version: a.Version})
	_, err = person.HumanList(ctx, c3po.GetMessagesInput{Limit: 1})
	return result, err
}

// A leaving is what leave prints as JSON.
type leaving struct {
	URL     string   `json:"url"`
	Removed []string `json:"removed"`
}

func Leave(a *console.Console) *cobra.Command {
	var personOnly bool
	cmd := console.WithoutSettings(&cobra.Command{
		Use:   "leave",
		Short: "Undo c3po join and c3po login on this host",
		Long: `Remove what lets this host's agents, and you, into the coordinator of another host.
Its tokens stay valid until they are revoked there, which c3po token list and c3po
token revoke do. Mail stays where it is.`,
		Example: `  c3po leave
  c3po leave --person`,
		RunE: func(*cobra.Command, []string) error {
			gone, err := forget(a, personOnly)
			if err != nil {
				return err
			}
			return a.Show(gone, func(w io.Writer) {
				for _, file := range gone.Removed {
					fmt.Fprintf(w, "removed %s\n", console.Inline(file))
				}
				fmt.Fprintf(w, "this host has left %s; revoke its tokens there: c3po token list\n", console.Inline(gone.URL))
			})
		},
	})
	cmd.Flags().BoolVar(&personOnly, "person", false, "only sign you out; the host's agents stay")
	return cmd
}

// forget removes the credentials for a coordinator of another host.
func forget(a *console.Console, personOnly bool) (leaving, error) {
	gone := leaving{Removed: []string{}}
	agents, person, err := Elsewhere(a)
	if err != nil {
		return gone, err
	}
	var files []string
	if person != "" {
		files, gone.URL = append(files, "person.json"), person
	}
	if agents != "" && !personOnly {
		files, gone.URL = append(files, "credentials.json"), agents
	}
	if len(files) == 0 {
		return gone, c3po.Errorf(c3po.InvalidRequest, "this host has joined no other, and nobody has signed in at one").
			Suggest("Stop a coordinator that runs here with: c3po down")
	}
	for _, name := range files {
		path, err := a.Folders.ConfigFile(name)
		if err != nil {
			return gone, err
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return gone, err
		}
		gone.Removed = append(gone.Removed, path)
	}
	return gone, nil
}

// Elsewhere is where the coordinators of other hosts are that the agents of this host,
// and its user, have been let into; empty if there are none. A coordinator of this host
// gives its agents no name of a host, and its user an admin's token.
func Elsewhere(a *console.Console) (agents, person string, err error) {
	joined, err := a.Folders.Credentials()
	if err != nil {
		return "", "", err
	}
	signedIn, err := a.Folders.Person()
	if err != nil {
		return "", "", err
	}
	if joined != nil && joined.Host != "" {
		agents = joined.URL
	}
	if signedIn != nil && signedIn.Admin == "" && signedIn.Human != "" {
		person = signedIn.URL
	}
	return agents, person, nil
}
