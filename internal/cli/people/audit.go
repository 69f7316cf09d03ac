package people

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
)

func Audit(a *console.Console) *cobra.Command {
	return console.Family(&cobra.Command{
		Use:     "audit",
		Short:   "See who was let in or refused, and what was done for a person",
		Example: `  c3po audit tail --follow`,
	}, auditTail(a), auditVerify(a))
}

func auditTail(a *console.Console) *cobra.Command {
	var limit int
	var follow bool
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Show the newest entries of the audit",
		Long: `Show the newest entries of the audit, oldest first: hosts that joined, tokens that
were made, rotated or revoked, calls that were refused, and what was done for a
person. The newest 10,000 are kept; the coordinator's log has them too.`,
		Example: `  c3po audit tail
  c3po audit tail --follow --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			svc, err := a.Person(console.AdminToken)
			if err != nil {
				return err
			}
			entries, err := svc.AuditTail(cmd.Context(), "", min(limit, maxAuditPage))
			if err != nil {
				return err
			}
			if err := showAudit(a, entries); err != nil || !follow {
				return err
			}
			after := "0"
			if len(entries) > 0 {
				after = entries[len(entries)-1].ID
			}
			return followAudit(cmd.Context(), a, svc, after)
		},
	}
	console.LimitFlag(cmd, &limit, 50)
	cmd.Flags().BoolVar(&follow, "follow", false, "go on with what comes, until interrupted")
	return cmd
}

const (
	maxAuditPage = 1000 // entries a coordinator gives at once
	auditEvery   = time.Second
)

func followAudit(ctx context.Context, a *console.Console, svc *client.Client, after string) error {
	tick := time.NewTicker(auditEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		entries, err := svc.AuditTail(ctx, after, maxAuditPage)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			continue
		}
		after = entries[len(entries)-1].ID
		if err := showAudit(a, entries); err != nil {
			return err
		}
	}
}

// showAudit prints a line for each entry, so that a follower can be piped.
func showAudit(a *console.Console, entries []c3po.AuditEntry) error {
	for _, e := range entries {
		if err := a.Show(e, func(w io.Writer) { printEntry(w, e) }); err != nil {
			return err
		}
	}
	return nil
}

func printEntry(w io.Writer, e c3po.AuditEntry) {
	facts := []string{e.At.Local().Format(time.DateTime), console.Inline(e.Event)}
	for _, fact := range []struct{ name, value string }{
		{"token", e.KID}, {"role", string(e.Role)}, {"space", e.Space}, {"agent", e.Agent}, {"from", e.Remote},
	} {
		if fact.value != "" {
			facts = append(facts, fact.name+" "+console.Inline(fact.value))
		}
	}
	fmt.Fprintf(w, "%s: %s\n", strings.Join(facts, "  "), cmp.Or(console.Inline(e.Detail), "-"))
}
