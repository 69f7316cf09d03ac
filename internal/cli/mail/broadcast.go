package mail

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
)

func Broadcast(a *console.Console) *cobra.Command {
	var in c3po.BroadcastInput
	cmd := &cobra.Command{
		Use:   "broadcast [MESSAGE]",
		Short: "Say something to every agent",
		Long: `Say something to every agent, or to every agent of a type, capability or host. It is
kept once; each reads it with c3po inbox when it looks, also one that is offline now
and returns within a day. Without MESSAGE, or with -, the text is read from stdin.`,
		Example: `  c3po broadcast "The staging database moves at noon"
  c3po broadcast --capability deploy "Please hold all deploys"`,
		RunE: console.Call(a, a.Acting, func(ctx context.Context, svc *client.Client, args []string) (receipt c3po.BroadcastReceipt, err error) {
			if in.Message, err = a.Body(args); err != nil {
				return receipt, err
			}
			receipt, err = svc.Broadcast(ctx, in)
			for err == nil && receipt.Next != "" {
				var page c3po.BroadcastReceipt
				page, err = svc.Broadcast(ctx, c3po.BroadcastInput{Cursor: receipt.Next})
				receipt.Live, receipt.Next, receipt.Notice = append(receipt.Live, page.Live...), page.Next, cmp.Or(page.Notice, receipt.Notice)
			}
			return receipt, err
		}, func(w io.Writer, receipt c3po.BroadcastReceipt) {
			fmt.Fprintf(w, "said %s, %s; %s live\n", console.Inline(string(receipt.ID)), console.Worth(receipt.Durability), console.CountOf(len(receipt.Live), "agent"))
			for _, id := range receipt.Live {
				fmt.Fprintln(w, console.Inline(string(id)))
			}
			printWarning(w, receipt.Warning)
			console.PrintNotice(w, receipt.Notice)
		}),
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
