package people

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

func Pause(a *console.Console) *cobra.Command {
	var in c3po.PauseInput
	cmd := &cobra.Command{
		Use:   "pause [AGENT]",
		Short: "Pause an agent, or all of them",
		Long: `Pause an agent, or with --all all of them. Others see that it is paused, and waits
for its answers end with a notice. Its mail is kept: what wakes it or waits for mail gives
it only your messages. It may finish what it has begun, and what it sends says that it
is paused; while all are paused, agents cannot send to each other. When the pause ends
everything arrives.`,
		Example: `  c3po pause api --reason "deploying"
  c3po pause --all`,
		Args: console.NameInArgument(console.Arguments(0, 1, "AGENT"), 0, console.AgentName),
		RunE: setPaused(a, &in, c3po.Service.Pause),
	}
	cmd.Flags().BoolVar(&in.All, "all", false, "every agent of the space")
	cmd.Flags().StringVar(&in.Reason, "reason", "", "why, shown to others")
	return cmd
}

func Resume(a *console.Console) *cobra.Command {
	var in c3po.PauseInput
	cmd := &cobra.Command{
		Use:   "resume [AGENT]",
		Short: "End the pause of an agent, or of all of them",
		Example: `  c3po resume api
  c3po resume --all`,
		Args: console.NameInArgument(console.Arguments(0, 1, "AGENT"), 0, console.AgentName),
		RunE: setPaused(a, &in, c3po.Service.Resume),
	}
	cmd.Flags().BoolVar(&in.All, "all", false, "every agent of the space")
	return cmd
}

// setPaused is what pause and resume have in common.
func setPaused(a *console.Console, in *c3po.PauseInput, set func(c3po.Service, context.Context, c3po.PauseInput) (c3po.PauseResult, error)) console.Doing {
	wasPaused := true
	ask := console.Operation(a, a.AsPerson(console.HumanToken), set, console.InputFromFlags(in), func(w io.Writer, result c3po.PauseResult) {
		who := console.Inline(string(result.AgentID))
		if result.All {
			who = "everybody"
		}
		switch {
		case result.Paused != nil:
			fmt.Fprintf(w, "%s is %s\n", who, console.Paused(*result.Paused))
		case wasPaused:
			fmt.Fprintf(w, "%s is resumed\n", who)
		default:
			fmt.Fprintf(w, "%s was not paused\n", who)
		}
		console.PrintNotice(w, result.Notice)
	})
	return func(cmd *cobra.Command, args []string) error {
		if in.All == (len(args) == 1) {
			return console.BadUsage("name one agent, or give --all", cmd.CommandPath()+" --help shows an example.")
		}
		if len(args) == 1 {
			in.AgentID = args[0]
			if svc, err := a.AsPerson(console.HumanToken)(); err == nil {
				// Who is not there, the operation itself says.
				before, err := svc.GetAgentStatus(cmd.Context(), c3po.AgentInput{AgentID: args[0]})
				wasPaused = err != nil || before.Paused != nil
			}
		}
		return ask(cmd, args)
	}
}
