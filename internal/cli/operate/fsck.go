package operate

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

func Fsck(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "fsck",
		Short: "Check that no message is missing",
		Long: `Check that no message is missing: every message sent is pending or has ended, and
the inboxes hold exactly the pending ones. Rooms and agents must agree on members. It
reads everything and changes nothing. Only people may run it, one at a time.`,
		Example: `  c3po fsck`,
		RunE: console.Operation(a, a.AsPerson(console.HumanToken), c3po.Service.Fsck, console.NoInput, printAudit, func(audit c3po.Audit) error {
			if !audit.Balanced {
				return console.ErrUnbalanced
			}
			return nil
		}),
	}
}

func printAudit(w io.Writer, audit c3po.Audit) {
	fmt.Fprintf(w, "space %s: %d agents, %d sent = %d pending + %d acked + %d cancelled + %d dead; %d found in the inboxes, %d bytes\n",
		console.Inline(string(audit.Space)), audit.Agents, audit.Sent, audit.Pending, audit.Acked, audit.Cancelled, audit.Dead, audit.Found, audit.FoundBytes)
	for _, problem := range audit.Problems {
		fmt.Fprintf(w, "problem: %s\n", console.Inline(problem))
	}
	switch {
	case audit.Epoch > 1 && audit.Balanced:
		fmt.Fprintf(w, "the books balance. Redis went back in time before, by a restore or a crash (epoch %d): what was accepted after that point is gone; the coordinator's log says when\n", audit.Epoch)
	case audit.Epoch > 1:
		fmt.Fprintf(w, "Redis went back in time before, by a restore or a crash (epoch %d): what was accepted after that point is gone; the coordinator's log says when\n", audit.Epoch)
	case audit.Balanced:
		fmt.Fprintln(w, "nothing is missing")
	}
}
