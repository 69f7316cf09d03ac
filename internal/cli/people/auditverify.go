package people

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
)

func auditVerify(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Show that nobody changed the audit",
		Long: `Check that no entry of the audit was changed, put in or taken out. Each entry holds
the hash of the one before it, and the coordinator keeps the hash of the last.

The oldest go when there are more than 10,000, and the rest still proves itself.
Whoever can write to Redis can make a whole new chain: that shows only against what
was seen before. Each good check is remembered in one of your files and compared
the next time, and the coordinator's log has the number and hash of every entry.`,
		Example: `  c3po audit verify`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			svc, err := a.Person(console.AdminToken)
			if err != nil {
				return err
			}
			known, file, err := knownHeads(a)
			if err != nil {
				return err
			}
			verdict, err := verifyAudit(cmd.Context(), svc, known)
			if err != nil {
				return err
			}
			if err := a.Show(verdict, func(w io.Writer) { printVerdict(w, verdict) }); err != nil {
				return err
			}
			if len(verdict.Faults) > 0 {
				return c3po.Errorf(c3po.InvalidRequest, "the audit was tampered with, or Redis has gone back to an older state").
					Suggest("Compare it with the coordinator's log, which has the number and hash of every entry.")
			}
			text, err := json.Marshal(verdict.Heads)
			if err != nil {
				return err
			}
			return os.WriteFile(file, text, 0o600)
		},
	}
}

// auditPages is how much is read, which is more than a coordinator keeps.
const auditPages = 4 * c3po.AuditKept / maxAuditPage

// An auditVerdict is what came of a check.
type auditVerdict struct {
	Entries int             `json:"entries"`
	Older   int             `json:"older"` // of before there were chains
	Heads   c3po.AuditHeads `json:"heads"`
	Known   c3po.AuditHeads `json:"known"` // of the last good check
	Faults  []string        `json:"faults"`
}

// knownHeads are what the last good check found, and the file that says so.
func knownHeads(a *console.Console) (c3po.AuditHeads, string, error) {
	var known c3po.AuditHeads
	file, err := a.Folders.StateFile("audit.json")
	if err != nil {
		return known, "", err
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return known, file, nil
	}
	if err == nil && json.Unmarshal(text, &known) != nil {
		err = c3po.Errorf(c3po.InvalidRequest, "%s is damaged", file).Suggest("Remove it to begin anew.")
	}
	return known, file, err
}

func verifyAudit(ctx context.Context, svc *client.Client, known c3po.AuditHeads) (auditVerdict, error) {
	verdict := auditVerdict{Known: known, Faults: []string{}}
	var err error
	// What is written while we read is beyond the heads, and looked at the next time.
	if verdict.Heads, err = svc.AuditHeads(ctx); err != nil {
		return verdict, err
	}
	chains := map[bool][]c3po.AuditEntry{}
	after := "0"
	for range auditPages {
		page, err := svc.AuditTail(ctx, after, maxAuditPage)
		if err != nil {
			return verdict, err
		}
		if len(page) == 0 {
			break
		}
		after = page[len(page)-1].ID
		for _, e := range page {
			head := verdict.Heads.Deeds
			if e.Refusal() {
				head = verdict.Heads.Refusals
			}
			if e.N > head.N {
				continue
			}
			verdict.Entries++
			if e.N == 0 {
				verdict.Older++
			}
			chains[e.Refusal()] = append(chains[e.Refusal()], e)
		}
	}
	if verdict.Entries == 0 {
		// A coordinator writes down each token that it makes, the first at its first start.
		tokens, err := svc.Tokens(ctx)
		if err != nil {
			return verdict, err
		}
		if len(tokens) > 0 {
			verdict.Faults = append(verdict.Faults, fmt.Sprintf("nothing to verify: the audit is empty, and %d tokens were made", len(tokens)))
		}
	}
	for _, fault := range c3po.VerifyAudit(chains[false], verdict.Heads.Deeds, known.Deeds) {
		verdict.Faults = append(verdict.Faults, "deeds: "+fault)
	}
	for _, fault := range c3po.VerifyAudit(chains[true], verdict.Heads.Refusals, known.Refusals) {
		verdict.Faults = append(verdict.Faults, "refusals: "+fault)
	}
	return verdict, nil
}

func printVerdict(w io.Writer, v auditVerdict) {
	for _, fault := range v.Faults {
		fmt.Fprintln(w, console.Inline(fault))
	}
	if len(v.Faults) > 0 {
		return
	}
	fmt.Fprintf(w, "%d entries, none changed or missing: %d deeds and %d refusals were ever written\n", v.Entries, v.Heads.Deeds.N, v.Heads.Refusals.N)
	if v.Older > 0 {
		fmt.Fprintf(w, "%d of them are from before entries were chained, and prove nothing\n", v.Older)
	}
	if v.Known.Deeds.N > 0 {
		fmt.Fprintf(w, "they go on from deed %d, where the last check ended\n", v.Known.Deeds.N)
	}
}
