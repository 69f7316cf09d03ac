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
		RunE: operation(a, a.acting, c3po.Service.Rename, func(args []string) (c3po.RenameInput, error) {
			return c3po.RenameInput{NewID: args[0]}, nil
		}, func(w io.Writer, done c3po.Renaming) { fmt.Fprintln(w, inline(done.Message)) }),
	}
}
