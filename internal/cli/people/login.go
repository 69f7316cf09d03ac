package people

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/host/reach"
)

// Login is join for the person who uses a host. It takes no invitation for the host's
// agents: that would give the host another name.
func Login(a *console.Console) *cobra.Command {
	cmd := enrolling(a, new(string), new(bool), true)
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
	trust, err := reach.Trust(mine.CA)
	if err != nil {
		return joining{}, err
	}
	result := joining{Host: host, Person: true, URL: mine.URL, Credentials: filepath.Join(config, "person.json")}
	if err := result.keepFormer(a, config); err != nil {
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
	URL         string   `json:"url"`
	Person      bool     `json:"person,omitempty"`       // its user was signed out
	Agents      bool     `json:"agents,omitempty"`       // its agents have left
	StillAgents bool     `json:"agents_stay,omitempty"`  // they have not, and are there
	OwnAgain    bool     `json:"own_restored,omitempty"` // commands go to this host's own coordinator again
	KeyIDs      []string `json:"key_ids"`                // of the tokens, which stay good until they are revoked
	Removed     []string `json:"removed"`

	owners []string // whose each token is
}

func (l leaving) print(w io.Writer) {
	for _, file := range l.Removed {
		fmt.Fprintf(w, "removed %s\n", console.Inline(file))
	}
	if l.Agents {
		fmt.Fprintf(w, "this host has left %s\n", console.Inline(l.URL))
	} else {
		fmt.Fprintf(w, "you are signed out of %s\n", console.Inline(l.URL))
	}
	for i, kid := range l.KeyIDs {
		fmt.Fprintf(w, "%s is good until you revoke it there: c3po token revoke %s\n", l.owners[i], console.Inline(kid))
	}
	if l.StillAgents {
		fmt.Fprintln(w, "this host's agents stay there; c3po leave takes them out")
	}
	if l.OwnAgain {
		fmt.Fprintln(w, "commands here go to this host's own coordinator again; start it with: c3po up")
	}
}

func Leave(a *console.Console) *cobra.Command {
	var personOnly bool
	cmd := console.WithoutSettings(&cobra.Command{
		Use:   "leave",
		Short: "Undo c3po join and c3po login on this host",
		Long: `Remove what lets this host's agents, and you, into the coordinator of another host.
Its tokens stay valid until they are revoked there, which c3po token list and c3po
token revoke do. Mail stays where it is. If this host had its own coordinator before,
commands go to that one again.`,
		Example: `  c3po leave
  c3po leave --person`,
		RunE: func(*cobra.Command, []string) error {
			gone, err := forget(a, personOnly)
			if err != nil {
				return err
			}
			return a.Show(gone, gone.print)
		},
	})
	cmd.Flags().BoolVar(&personOnly, "person", false, "only sign you out; the host's agents stay")
	return cmd
}

// forget removes the credentials for a coordinator of another host. Once none are left,
// those for this host's own come back.
func forget(a *console.Console, personOnly bool) (leaving, error) {
	gone := leaving{Removed: []string{}, KeyIDs: []string{}}
	agents, person, err := a.Elsewhere()
	if err != nil {
		return gone, err
	}
	switch {
	case agents == "" && person == "":
		return gone, c3po.Errorf(c3po.InvalidRequest, "this host has joined no other, and nobody has signed in at one").
			Suggest("There is nothing to leave. `c3po status` shows which coordinator this host uses.")
	case personOnly && person == "":
		return gone, c3po.Errorf(c3po.InvalidRequest, "you are not signed in at another host's coordinator").
			Suggest("This host's agents have joined %s; c3po leave takes them out.", agents)
	}
	gone.URL = cmp.Or(person, agents)
	gone.Person, gone.Agents, gone.StillAgents = person != "", agents != "" && !personOnly, agents != "" && personOnly
	var files []string
	if gone.Person {
		files = append(files, "person.json")
	}
	if gone.Agents {
		files = append(files, "credentials.json")
	}
	gone.findTokens(a)
	config, err := a.Folders.ConfigFile("")
	if err != nil {
		return gone, err
	}
	for _, name := range files {
		for _, path := range []string{filepath.Join(config, name), filepath.Join(config, name+beforeJoin)} {
			err := os.Remove(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return gone, err
			}
			gone.Removed = append(gone.Removed, path)
		}
	}
	if !gone.StillAgents {
		gone.OwnAgain, err = paths.RestoreOwn(config)
	}
	return gone, err
}

// findTokens notes the key ids of the tokens that a host which leaves has.
func (l *leaving) findTokens(a *console.Console) {
	note := func(owner, text string) {
		if token, err := auth.ParseToken(text); err == nil {
			l.KeyIDs, l.owners = append(l.KeyIDs, token.KID), append(l.owners, owner)
		}
	}
	if person, err := a.Folders.Person(); err == nil && person != nil && l.Person {
		note("your token", person.Human)
	}
	if agents, err := a.Folders.Credentials(); err == nil && agents != nil && l.Agents {
		note("the token of this host's agents", agents.Token)
		note("the token of its runner", agents.Runner)
	}
}
