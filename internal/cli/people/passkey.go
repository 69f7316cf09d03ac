package people

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
)

func Passkey(a *console.Console) *cobra.Command {
	return console.Family(&cobra.Command{
		Use:   "passkey",
		Short: "Have your decisions proved by a passkey",
		Long: `A program on your computer can read your token. With a passkey, what you decide needs
your touch: on this computer, on a security key or on your phone.`,
		Example: `  c3po passkey add
  c3po passkey policy decisions
  c3po passkey list`,
	}, passkeyAdd(a), passkeyList(a), passkeyPolicy(a), passkeyRemove(a), passkeyReset(a))
}

func passkeyAdd(a *console.Console) *cobra.Command {
	var printOnly bool
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Open the page on which you add a passkey",
		Long: `Open the dashboard where passkeys work, signed in as you. Browsers have passkeys for
names, not for numbers: on the coordinator's host that is localhost.`,
		Example: `  c3po passkey add
  c3po passkey add --print`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			svc, err := a.Person(console.HumanToken)
			if err != nil {
				return err
			}
			all, err := svc.Passkeys(cmd.Context())
			if err != nil {
				return err
			}
			if len(all.Pages) == 0 {
				return c3po.Errorf(c3po.InvalidRequest, "the dashboard at %s has no name that a passkey can be for", svc.URL()).
					Suggest("Start the coordinator on 127.0.0.1, or with --name and a certificate that your browser trusts.")
			}
			return showLink(cmd.Context(), a, svc, all.Pages[0], "/passkeys", printOnly)
		},
	}
	cmd.Flags().BoolVar(&printOnly, "print", false, "only print the address")
	return cmd
}

func passkeyList(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "Show your passkeys and what they are needed for",
		Example: `  c3po passkey list`,
		RunE: console.Call(a, a.AsPerson(console.HumanToken), func(ctx context.Context, svc *client.Client, _ []string) (c3po.Passkeys, error) {
			return svc.Passkeys(ctx)
		}, printPasskeys),
	}
}

func printPasskeys(w io.Writer, all c3po.Passkeys) {
	now := time.Now()
	if len(all.Passkeys) == 0 {
		fmt.Fprintln(w, "You have no passkey. Add one with: c3po passkey add")
		return
	}
	console.Table(w, func(row func(...string)) {
		row("NAME", "FOR", "ADDED", "ID")
		for _, p := range all.Passkeys {
			row(console.Inline(p.Name), console.Inline(p.Site), console.Ago(now, p.Created), console.Inline(p.ID))
		}
	})
	fmt.Fprintf(w, "needed for: %s\n", policyWords[all.Policy])
	if !all.ResetAt.IsZero() {
		fmt.Fprintf(w, "All of them are forgotten at %s, unless you use one before.\n", all.ResetAt.Local().Format("15:04"))
	}
}

var policyWords = map[c3po.ProofPolicy]string{
	c3po.ProofOff:       "nothing",
	c3po.ProofDecisions: "answers, resuming, tokens and invitations",
	c3po.ProofAll:       "everything you change",
}

func passkeyPolicy(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "policy off|decisions|everything",
		Short: "Say what needs your passkey",
		Long: `Say what needs your passkey:
  off         nothing: your token is enough
  decisions   answers, resuming, tokens and invitations
  everything  whatever you change`,
		Example:   `  c3po passkey policy decisions`,
		Args:      console.Arguments(1, 1, "off|decisions|everything"),
		ValidArgs: []string{"off", "decisions", "everything"},
		RunE: func(cmd *cobra.Command, args []string) error {
			policy, err := c3po.ParseProofPolicy(args[0])
			if err != nil {
				return console.BadUsage(err.Error(), "Use off, decisions or everything.")
			}
			svc, err := a.Person(console.HumanToken)
			if err != nil {
				return err
			}
			all, err := svc.SetProofPolicy(cmd.Context(), policy)
			if err != nil {
				return err
			}
			return a.Show(all, func(w io.Writer) { fmt.Fprintf(w, "Your passkey is needed for: %s\n", policyWords[all.Policy]) })
		},
	}
}

func passkeyRemove(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME",
		Short:   "Remove a passkey",
		Long:    "Remove a passkey, by its name or id. You confirm it with a passkey, which can be the same.",
		Example: `  c3po passkey remove phone`,
		Args:    console.Arguments(1, 1, "NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			svc, err := a.Person(console.HumanToken)
			if err != nil {
				return err
			}
			all, err := svc.Passkeys(cmd.Context())
			if err != nil {
				return err
			}
			at := slices.IndexFunc(all.Passkeys, func(p c3po.Passkey) bool { return p.Name == args[0] || p.ID == args[0] })
			if at < 0 {
				return c3po.Errorf(c3po.InvalidRequest, "there is no passkey %q", args[0]).Suggest("See them with: c3po passkey list")
			}
			if all, err = svc.RemovePasskey(cmd.Context(), all.Passkeys[at].ID); err != nil {
				return err
			}
			return a.Show(all, func(w io.Writer) { fmt.Fprintf(w, "removed %s\n", console.Inline(args[0])) })
		},
	}
}

func passkeyReset(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "reset",
		Short: "Forget all passkeys in an hour, if you have lost yours",
		Long: `Forget all passkeys and the policy an hour from now. Whoever still has one of them
stops that by using it. Run it on the coordinator's host, as the user it runs as.`,
		Example: `  c3po passkey reset`,
		RunE: console.Call(a, a.AsPerson(console.AdminToken), func(ctx context.Context, svc *client.Client, _ []string) (c3po.Passkeys, error) {
			return svc.ResetPasskeys(ctx)
		}, func(w io.Writer, all c3po.Passkeys) {
			fmt.Fprintf(w, "All passkeys are forgotten at %s, unless one of them is used before.\n", all.ResetAt.Local().Format("15:04"))
		}),
	}
}

// showLink lets a browser in on a page of the dashboard.
func showLink(ctx context.Context, a *console.Console, svc *client.Client, page, route string, printOnly bool) error {
	made, err := svc.LoginLink(ctx)
	if err != nil {
		return err
	}
	l := Link{URL: page + "/#/login/" + url.PathEscape(made.Code) + route, Expires: made.Expires}
	if !printOnly {
		l.Opened = browse(a, l.URL)
	}
	return a.Show(l, func(w io.Writer) {
		fmt.Fprintln(w, console.Inline(l.URL))
		if !l.Opened {
			fmt.Fprintf(a.Stderr, "Open this address in a browser within a minute. It is good for one use.\n")
		}
		if mine, err := a.Folders.Person(); err == nil && mine != nil && mine.CA != "" && strings.HasPrefix(page, "https://") {
			fmt.Fprintf(a.Stderr, "Your browser warns that it doesn't know the certificate: c3po made it. Continue, or let the browser trust %s/api/ca for good.\n", console.Inline(page))
		}
	})
}
