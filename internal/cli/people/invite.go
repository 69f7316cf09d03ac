package people

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/auth/pki"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

// An invitation is what invite prints as JSON.
type invitation struct {
	Invitation string    `json:"invitation"`
	Join       string    `json:"join"`
	Install    string    `json:"install"`
	Expires    time.Time `json:"expires"`
}

func Invite(a *console.Console) *cobra.Command {
	var in c3po.InviteInput
	var at string
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Let another host join, or its person sign in",
		Long: `Print two lines, one of which is to be run on the host that is to join: the first
where c3po is installed, the second where nothing is. An invitation is good for
one host and for 15 minutes. Neither line shows it to other users of that host: no
program has it among its arguments.

With --person it signs you in on that host: you can then answer, pause, watch and
open the dashboard there, as you can here.

The host's agents are then called NAME/agent. With --space they are in that space
only; otherwise in main and in the spaces of their repositories.`,
		Example: `  c3po invite --host laptop
  c3po invite --person
  c3po invite --host build-box --runner --at nas.example:8420`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if at != "" && !pki.IsAddress(at) {
				return console.BadUsage(fmt.Sprintf("--at %s is not an address", at), "Write it as HOST:PORT.")
			}
			if in.Person && in.Runner {
				return console.BadUsage("an invitation is for a person or for a host that starts agents, not for both", "Make two.")
			}
			space, err := a.InSpace()
			if err != nil {
				return err
			}
			if space != "" {
				in.Spaces = []string{string(space)}
			}
			svc, err := a.Person(console.AdminToken)
			if err != nil {
				return err
			}
			made, err := svc.Invite(cmd.Context(), in)
			if err != nil {
				return err
			}
			if made.Address, err = addressFor(at, svc.URL(), made.Address); err != nil {
				return err
			}
			i := invitationOf(made, in.Person)
			return a.Show(i, func(w io.Writer) {
				fmt.Fprintf(w, "%s\n%s\n", console.Inline(i.Join), console.Inline(i.Install))
				fmt.Fprintf(a.Stderr, "Run the first line on the other host; the second one if c3po is not installed there. It works once, until %s.\n",
					i.Expires.Local().Format("15:04"))
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&in.Host, "host", "", "name the host will have; else its own")
	flags.BoolVar(&in.Person, "person", false, "for the person who uses the other host, not for its agents")
	flags.BoolVar(&in.Runner, "runner", false, "let the host also start agents")
	flags.StringVar(&at, "at", "", "HOST:PORT where the other host reaches the coordinator, if it cannot know")
	return cmd
}

// addressFor is where the other host is sent: where it was said, else where we
// reached the coordinator ourselves, else where that believes to be.
func addressFor(said, ours, theirs string) (string, error) {
	if said != "" {
		return said, nil
	}
	if u, err := url.Parse(ours); err == nil && !auth.Loopback(u.Hostname()) {
		port := u.Port()
		if port == "" {
			port = "443"
		}
		if address := net.JoinHostPort(u.Hostname(), port); pki.IsAddress(address) {
			return address, nil
		}
	}
	if pki.IsAddress(theirs) {
		return theirs, nil
	}
	return "", console.BadUsage("the coordinator does not know where others reach it", "Say it with --at HOST:PORT.")
}

func invitationOf(made c3po.Invited, person bool) invitation {
	verb := "join"
	if person {
		verb = "login"
	}
	text := shellQuote(pki.Invitation{Address: made.Address, Hash: made.Hash, Secret: made.Secret, Person: person}.String())
	curl := "curl -fsS"
	if made.Pin != "" {
		curl = "curl -fsSk --pinnedpubkey '" + made.Pin + "'"
	}
	return invitation{
		Invitation: strings.Trim(text, "'"),
		// A shell's own echo, and a variable, are not among the arguments of any process.
		Join:    "echo " + text + " | c3po " + verb + " -",
		Install: curl + " " + shellQuote("https://"+made.Address+"/install") + " | C3PO_INVITATION=" + text + " sh",
		Expires: made.Expires,
	}
}

// shellQuote is a word for a shell. Only the brackets of an IPv6 address need it.
func shellQuote(word string) string {
	if strings.Contains(word, "[") {
		return "'" + word + "'"
	}
	return word
}
