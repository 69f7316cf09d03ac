package operate

import (
	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/cli/mail"
)

func Sweep(a *console.Console) *cobra.Command {
	var in c3po.SweepInput
	var yes bool
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Remove agents that are gone",
		Long: `Remove agents that are offline and were silent for long. An agent is offline 90
seconds after its last call, and silence is counted in whole minutes. Their open mail becomes dead
letters, after asking: an agent that comes back gets it again. Agents that are left alone
are forgotten after seven days of silence, without their mail being moved. c3po agents
forget removes one by its name.`,
		Example: `  c3po sweep --dry-run
  c3po sweep --older 7d`,
		RunE: func(cmd *cobra.Command, _ []string) error { return mail.RemoveAgents(cmd.Context(), a, in, yes) },
	}
	console.CheckedFlag(cmd.Flags(), &in.Older, "older", "24h", "only agents that were silent for so long: 90m, 24h, 7d", console.ParseDuration)
	cmd.Flags().BoolVar(&in.DryRun, "dry-run", false, "only show which would be removed")
	mail.YesFlag(cmd, &yes)
	return cmd
}
