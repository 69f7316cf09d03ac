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
		Args:    arguments(1, 1, "MESSAGE_ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			svc, err := a.acting()
			if err != nil {
				return err
			}
			id, err := messageID(args[0])
			if err != nil {
				return err
			}
			m, err := svc.Claim(cmd.Context(), c3po.MessageInput{MessageID: id})
			if err != nil {
				return err
			}
			return a.show(m, func(w io.Writer) { printMessage(w, time.Now(), m) })
		},
	}
}
