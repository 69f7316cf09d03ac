package mail

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

func Rename(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "rename NEW",
		Short: "Give this agent another name",
		Long: `Give this agent another name. Its mail, its tickets and its roles move with it, and
a session that is open goes on under the new name. For a day, mail to the old name
is delivered to the new one.`,
		Example: `  c3po rename review-2 --as review-1`,
		Args:    console.NameInArgument(console.Arguments(1, 1, "NEW"), 0, console.AgentName),
		RunE: console.Operation(a, a.Acting, c3po.Service.Rename, func(args []string) (c3po.RenameInput, error) {
			return c3po.RenameInput{NewID: args[0]}, nil
		}, func(w io.Writer, done c3po.Renaming) { fmt.Fprintln(w, console.Inline(done.Message)) }),
	}
}
