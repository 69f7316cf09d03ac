package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
)

func (a *app) token() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make, list, rotate and revoke tokens",
		Example: `  c3po token create --agents 'build-box/*' --label "build box"
  c3po token list
  c3po token revoke k3xv2ab7qmzd`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.tokenCreate(), a.tokenList(), a.tokenRevoke(), a.tokenRotate())
	return cmd
}

func (a *app) tokenCreate() *cobra.Command {
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
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			in.Role = c3po.Role(role)
			svc, err := a.person(adminToken)
			if err != nil {
				return err
			}
			made, err := svc.CreateToken(cmd.Context(), in)
			if err != nil {
				return err
			}
			return a.showToken(made)
		},
	}
	cmd.Flags().StringVar(&role, "role", string(c3po.RoleAgent), "agent, runner, observer, human or admin")
	cmd.Flags().StringVar(&in.Agents, "agents", "", "ids an agent or runner may act as; * is any text within one part")
	cmd.Flags().StringSliceVar(&in.Spaces, "for", nil, "spaces it is for, or patterns of them; the first is its own")
	cmd.Flags().StringVar(&in.Label, "label", "", "what it is for, in your words")
	return cmd
}

// showToken prints the token alone on stdout, so that it can be put in a file.
func (a *app) showToken(made c3po.NewToken) error {
	return a.show(made, func(w io.Writer) {
		fmt.Fprintln(w, inline(made.Secret))
		fmt.Fprintf(a.Stderr, "This is the only time it is shown. Its key id is %s; use it as C3PO_TOKEN, or as the header Authorization: Bearer TOKEN.\n", inline(made.KID))
	})
}

func (a *app) tokenList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "Show all tokens, without their secrets",
		Example: `  c3po token list`,
		Args:    arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			svc, err := a.person(adminToken)
			if err != nil {
				return err
			}
			tokens, err := svc.Tokens(cmd.Context())
			if err != nil {
				return err
			}
			now := time.Now()
			return a.show(tokens, func(w io.Writer) {
				table(w, func(row func(...string)) {
					row("KEY ID", "ROLE", "STATE", "SPACES", "AGENTS", "LAST USED", "EXPIRES", "LABEL")
					for _, t := range tokens {
						row(inline(t.KID), inline(string(t.Role)), inline(t.State), inline(strings.Join(t.Spaces, " ")), inline(cmp.Or(t.Agents, "-")),
							lastUsed(now, t.LastUsed), day(t.Expires), inline(t.Label))
					}
				})
			})
		},
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

func (a *app) tokenRevoke() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke KEY_ID",
		Short:   "End a token for good, within a second",
		Example: `  c3po token revoke k3xv2ab7qmzd`,
		Args:    arguments(1, 1, "KEY_ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			svc, err := a.person(adminToken)
			if err != nil {
				return err
			}
			token, err := svc.RevokeToken(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.show(token, func(w io.Writer) {
				fmt.Fprintf(w, "revoked %s; what it had open is closed within a second\n", inline(token.KID))
			})
		},
	}
}

func (a *app) tokenRotate() *cobra.Command {
	return &cobra.Command{
		Use:     "rotate KEY_ID",
		Short:   "Replace a token; the old one works for 10 more minutes",
		Example: `  c3po token rotate k3xv2ab7qmzd`,
		Args:    arguments(1, 1, "KEY_ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			svc, err := a.person(adminToken)
			if err != nil {
				return err
			}
			made, err := svc.RotateToken(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.showToken(made)
		},
	}
}
