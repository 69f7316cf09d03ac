package people

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
)

func Token(a *console.Console) *cobra.Command {
	return console.Family(&cobra.Command{
		Use:   "token",
		Short: "Make, list, rotate and revoke tokens",
		Example: `  c3po token create --agents 'build-box/*' --label "build box"
  c3po token list
  c3po token revoke k3xv2ab7qmzd`,
	}, tokenCreate(a), tokenList(a), tokenRevoke(a), tokenRotate(a))
}

func tokenCreate(a *console.Console) *cobra.Command {
	var in c3po.TokenInput
	var role string
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a token",
		Long: `Make a token and print it, this once. The roles:
  agent     acts as the agents that --agents names
  runner    starts those agents, knows that they have mail, never reads it
  observer  reads and changes nothing
  human     answers questions, writes to agents, pauses them
  admin     everything, tokens included
A token lives for a year after its last use.`,
		Example: `  c3po token create --agents 'build-box/*' --label "build box"
  c3po token create --role observer --for 'repo-*'`,
		RunE: console.Call(a, a.AsPerson(console.AdminToken), func(ctx context.Context, svc *client.Client, _ []string) (c3po.NewToken, error) {
			return svc.CreateToken(ctx, in)
		}, func(w io.Writer, made c3po.NewToken) { printToken(a, w, made) }),
	}
	cmd.PreRunE = func(*cobra.Command, []string) error {
		in.Role = c3po.Role(role)
		return console.Misspelled(auth.CheckTokenInput(in))
	}
	console.CheckedFlag(cmd.Flags(), &role, "role", string(c3po.RoleAgent), "agent, runner, observer, human or admin", console.OneOf("agent", "runner", "observer", "human", "admin"))
	cmd.Flags().StringVar(&in.Agents, "agents", "", "ids an agent or runner may act as; * is any text within one part")
	cmd.Flags().StringSliceVar(&in.Spaces, "for", nil, "spaces it is for, or patterns of them; the first is its own")
	cmd.Flags().StringVar(&in.Label, "label", "", "what it is for, in your words")
	return cmd
}

// printToken prints the token alone on stdout, so that it can be put in a file.
func printToken(a *console.Console, w io.Writer, made c3po.NewToken) {
	fmt.Fprintln(w, console.Inline(made.Secret))
	fmt.Fprintf(a.Stderr, "This is the only time it is shown. Its key id is %s; use it as C3PO_TOKEN, or as the header Authorization: Bearer TOKEN.\n", console.Inline(made.KID))
}

func tokenList(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "Show all tokens, without their secrets",
		Example: `  c3po token list`,
		RunE: console.Call(a, a.AsPerson(console.AdminToken), func(ctx context.Context, svc *client.Client, _ []string) ([]c3po.Token, error) {
			return svc.Tokens(ctx)
		}, func(w io.Writer, tokens []c3po.Token) {
			now := time.Now()
			console.Table(w, func(row func(...string)) {
				row("KEY ID", "ROLE", "STATE", "SPACES", "AGENTS", "LAST USED", "EXPIRES", "LABEL")
				for _, t := range tokens {
					row(console.Inline(t.KID), console.Inline(string(t.Role)), console.Inline(t.State), console.Inline(strings.Join(t.Spaces, " ")), console.Inline(cmp.Or(t.Agents, "-")),
						lastUsed(now, t.LastUsed), day(t.Expires), console.Inline(t.Label))
				}
			})
		}),
	}
}

// lastUsed is when a token was last used as exactly as it is known: its use is noted
// once an hour.
func lastUsed(now, noted time.Time) string {
	switch {
	case noted.IsZero():
		return "never"
	case now.Sub(noted) < c3po.TokenUseNoted:
		return "within the hour"
	default:
		return day(noted) + "-" + noted.Add(c3po.TokenUseNoted).Local().Format("15:04")
	}
}

func day(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format("2006-01-02 15:04")
}

func tokenRevoke(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke KEY_ID",
		Short:   "End a token for good, within a second",
		Example: `  c3po token revoke k3xv2ab7qmzd`,
		RunE: console.Call(a, a.AsPerson(console.AdminToken), func(ctx context.Context, svc *client.Client, args []string) (c3po.Token, error) {
			return svc.RevokeToken(ctx, args[0])
		}, func(w io.Writer, token c3po.Token) {
			fmt.Fprintf(w, "revoked %s; what it had open is closed within a second\n", console.Inline(token.KID))
		}),
	}
}

func tokenRotate(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "rotate KEY_ID",
		Short:   "Replace a token; the old one works for 10 more minutes",
		Example: `  c3po token rotate k3xv2ab7qmzd`,
		RunE: console.Call(a, a.AsPerson(console.AdminToken), func(ctx context.Context, svc *client.Client, args []string) (c3po.NewToken, error) {
			return svc.RotateToken(ctx, args[0])
		}, func(w io.Writer, made c3po.NewToken) { printToken(a, w, made) }),
	}
}
