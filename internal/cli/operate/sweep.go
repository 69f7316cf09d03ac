package operate

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

func Sweep(a *console.Console) *cobra.Command {
	var in c3po.SweepInput
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Remove agents that are gone",
		Long: `Remove agents that are offline and were silent for long. Their open mail becomes
dead letters: an agent that comes back gets it again by itself. Agents that are
left alone are forgotten after seven days of silence, without their mail being moved.`,
		Example: `  c3po sweep --dry-run
  c3po sweep --older 7d`,
		RunE: console.Operation(a, a.AsPerson(console.HumanToken), c3po.Service.Sweep, console.InputFromFlags(&in), printSweep),
	}
	console.CheckedFlag(cmd.Flags(), &in.Older, "older", "24h", "only agents that were silent for so long: 90m, 24h, 7d", console.ParseDuration)
	cmd.Flags().BoolVar(&in.DryRun, "dry-run", false, "only show who would be removed")
	return cmd
}

func printSweep(w io.Writer, result c3po.SweepResult) {
	defer console.PrintNotice(w, result.Notice)
	if len(result.Swept) == 0 && result.Notice == "" {
		fmt.Fprintln(w, "nobody was silent for that long")
		return
	}
	letters := 0
	console.Table(w, func(row func(...string)) {
		row("AGENT", "SILENT FOR", "OPEN MAIL")
		for _, agent := range result.Swept {
			letters += agent.Letters
			row(console.Inline(string(agent.ID)), (time.Duration(agent.SilentFor) * time.Second).String(), fmt.Sprint(agent.Letters))
		}
	})
	if result.More {
		fmt.Fprintln(w, "there are more: do it again for the next")
	}
	if result.DryRun {
		fmt.Fprintf(w, "%d would be removed, and %d messages become dead letters\n", len(result.Swept), letters)
	} else {
		fmt.Fprintf(w, "%d removed, %d messages are dead letters now; they come back with their agents\n", len(result.Swept), letters)
	}
}
