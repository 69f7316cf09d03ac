package mail

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
)

func addRemote(a *console.Console) *cobra.Command {
	var in c3po.RemoteInput
	cmd := &cobra.Command{
		Use:   "add-remote URL",
		Short: "Add an agent of another system, by its A2A card",
		Long: `Add an agent of another system. The coordinator forwards what is sent to it by the
Agent2Agent protocol, and brings its answer back as the reply. URL is the address of its
card or of its host, as the coordinator reaches it.

What the agent does is known only as far as it says so. Remove it with: c3po agents remove-remote NAME.`,
		Example: `  c3po agents add-remote https://agents.example.com --name billing
  c3po agents add-remote http://localhost:4000/.well-known/agent-card.json --token-env A2A_BILLING`,
		Args: console.Arguments(1, 1, "URL"),
		RunE: console.Call(a, a.AsPerson(console.AdminToken), func(ctx context.Context, svc *client.Client, args []string) (c3po.Remote, error) {
			in.URL = args[0]
			return svc.AddRemote(ctx, in)
		}, func(w io.Writer, added c3po.Remote) {
			fmt.Fprintf(w, "added %s, at %s\n", console.Inline(string(added.AgentID)), console.Inline(added.URL))
			fmt.Fprintf(w, "Ask it with: c3po send %s \"…\" --wait 60\n", console.Inline(string(added.AgentID)))
			fmt.Fprintf(w, "Remove it with: c3po agents remove-remote %s\n", console.Inline(string(added.AgentID)))
		}),
	}
	cmd.Flags().StringVar(&in.Name, "name", "", "what it is called here; made from its card if left out")
	cmd.Flags().StringVar(&in.TokenEnv, "token-env", "", "variable of the coordinator, A2A_…, with the token that the agent asks for")
	return cmd
}

func removeRemote(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "remove-remote NAME",
		Short:   "Remove an agent of another system",
		Long:    "Remove an agent of another system. Within seconds it leaves the list and its name is free;\nwhoever still waits for it gets a reply that says so.",
		Example: `  c3po agents remove-remote billing`,
		Args:    console.Arguments(1, 1, "NAME"),
		RunE: console.Call(a, a.AsPerson(console.AdminToken), func(ctx context.Context, svc *client.Client, args []string) (c3po.Remote, error) {
			return svc.RemoveRemote(ctx, args[0])
		}, func(w io.Writer, removed c3po.Remote) {
			fmt.Fprintf(w, "removed %s; it leaves the list within seconds\n", console.Inline(string(removed.AgentID)))
		}),
	}
}
