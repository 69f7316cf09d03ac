package cli

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
)

func (a *app) claimMessage() *cobra.Command {
	return &cobra.Command{
		Use:   "claim MESSAGE_ID",
		Short: "Take a message that was sent to a role",
		Long: `Take a message that was sent to a role, so that no other agent works on it. It is
yours until you answer or ack it, or are not heard of for a while.`,
		Example: `  c3po claim alice::role/review::0a1b2c3d --as bob`,
		RunE:    call(a, a.acting, ofMessage(c3po.Service.Claim), func(w io.Writer, m c3po.Message) { printMessage(w, time.Now(), m) }),
	}
}
