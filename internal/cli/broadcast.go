package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
)

func (a *app) broadcast() *cobra.Command {
	var in c3po.BroadcastInput
	cmd := &cobra.Command{
		Use:   "broadcast [MESSAGE]",
		Short: "Say something to every agent",
		Long: `Say something to every agent, or to those of a type, capability or host. It is
kept once; each reads it with c3po inbox when it looks, also one that is offline now
and returns within a day. Without MESSAGE, or with -, the text is read from stdin.`,
		Example: `  c3po broadcast "The staging database moves at noon"
  c3po broadcast --capability deploy "Please hold all deploys"`,
		Args: arguments(0, 1, "[MESSAGE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			svc, err := a.acting()
			if err != nil {
				return err
			}
			if in.Message, err = a.body(args); err != nil {
				return err
			}
			receipt, err := svc.Broadcast(cmd.Context(), in)
			if err != nil {
				return err
			}
			for cursor := receipt.Next; cursor != ""; {
				page, err := svc.Broadcast(cmd.Context(), c3po.BroadcastInput{Cursor: cursor})
				if err != nil {
					return err
				}
				receipt.Live, cursor = append(receipt.Live, page.Live...), page.Next
			}
			receipt.Next = ""
			return a.show(receipt, func(w io.Writer) {
				fmt.Fprintf(w, "said %s, %s; %s live\n", inline(string(receipt.ID)), worth(receipt.Durability), counted(len(receipt.Live), "agent"))
				for _, id := range receipt.Live {
					fmt.Fprintln(w, inline(string(id)))
				}
				printWarning(w, receipt.Warning)
				if receipt.Notice != "" {
					fmt.Fprintln(w, inline(receipt.Notice))
				}
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&in.Context, "context", "", "background the others need")
	flags.StringVar(&in.Type, "type", "", "only to agents of this type")
	flags.StringVar(&in.Capability, "capability", "", "only to agents with this capability")
	flags.StringVar(&in.Host, "host", "", "only to agents of this host")
	flags.StringVar(&in.ContentType, "content-type", "", "type of the text, for example application/json")
	flags.StringVar(&in.ClientKey, "key", "", "the same key never sends twice; a random one if left out")
	return cmd
}
