package mail

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

func ClaimMessage(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "claim MESSAGE_ID",
		Short: "Take a message that was sent to a role",
		Long: `Take a message that was sent to a role, so that no other agent works on it. It is
yours until you answer or ack it, or are not heard of for a while.`,
		Example: `  c3po claim alice::role/review::0a1b2c3d --as bob`,
		RunE:    console.Call(a, a.ActingIfKnown, console.OfMessage(c3po.Service.Claim), func(w io.Writer, m c3po.Message) { console.PrintMessage(w, time.Now(), m) }),
	}
}
