package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
)

func (a *app) rename() *cobra.Command {
	return &cobra.Command{
		Use:   "rename NEW",
		Short: "Give this agent another name",
		Long: `Give this agent another name. Its mail, its tickets and its roles move with it, and
a session that is open goes on under the new name. For a day, mail to the old name
is delivered to the new one.`,
		Example: `  c3po rename review-2 --as review-1`,
		Args:    arguments(1, 1, "NEW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			svc, err := a.acting()
			if err != nil {
				return err
			}
			done, err := svc.Rename(cmd.Context(), c3po.RenameInput{NewID: args[0]})
			if err != nil {
				return err
			}
			return a.show(done, func(w io.Writer) { fmt.Fprintln(w, inline(done.Message)) })
		},
	}
}
