package mail

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
)

func forget(a *console.Console) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "forget AGENT",
		Short: "Remove one agent",
		Long: `Remove an agent of which no session runs. Its open mail becomes dead letters, after
asking; an agent that comes back gets it again.`,
		Example: `  c3po agents forget phantom`,
		Args:    console.NameInArgument(console.Arguments(1, 1, "AGENT"), 0, console.AgentName),
		RunE: func(cmd *cobra.Command, args []string) error {
			return RemoveAgents(cmd.Context(), a, c3po.SweepInput{AgentID: args[0]}, yes)
		},
	}
	YesFlag(cmd, &yes)
	return cmd
}

// YesFlag is for a command that asks before it makes dead letters.
func YesFlag(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVar(yes, "yes", false, "make dead letters of open mail without asking")
}

// RemoveAgents removes agents, after asking if there is mail that becomes dead letters.
func RemoveAgents(ctx context.Context, a *console.Console, in c3po.SweepInput, yes bool) error {
	svc, err := a.Person(console.HumanToken)
	if err != nil {
		return err
	}
	if !yes && !in.DryRun {
		if err := askToBury(ctx, a, svc, in); err != nil {
			return err
		}
	}
	result, err := svc.Sweep(ctx, in)
	if err != nil {
		return err
	}
	return a.Show(result, func(w io.Writer) { printRemoved(w, result) })
}

// askToBury refuses unless no mail becomes a dead letter, or the person wants that.
func askToBury(ctx context.Context, a *console.Console, svc *client.Client, in c3po.SweepInput) error {
	in.DryRun = true
	would, err := svc.Sweep(ctx, in)
	if err != nil {
		return err
	}
	letters := 0
	for _, agent := range would.Swept {
		letters += agent.Letters
	}
	if letters == 0 {
		return nil
	}
	says := fmt.Sprintf("%s of %s would become dead letters", console.CountOf(letters, "open message"), console.CountOf(len(would.Swept), "agent"))
	if letters == 1 {
		says = fmt.Sprintf("1 open message of %s would become a dead letter", console.CountOf(len(would.Swept), "agent"))
	}
	if !a.AtTerminal() {
		return c3po.Errorf(c3po.InvalidRequest, "%s, and nobody is at a terminal to be asked", says).Suggest("Do it with --yes.")
	}
	printRemoved(a.Stdout, would)
	sure, err := a.Confirm("Remove?", false)
	if err == nil && !sure {
		err = c3po.Errorf(c3po.InvalidRequest, "nothing was removed")
	}
	return err
}

func printRemoved(w io.Writer, result c3po.SweepResult) {
	defer console.PrintNotice(w, result.Notice)
	if len(result.Swept) == 0 && result.Notice == "" {
		fmt.Fprintln(w, "no agent was silent for that long")
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
	mail := console.CountOf(letters, "message")
	switch {
	case result.DryRun && letters > 0:
		fmt.Fprintf(w, "%s would be removed; dead letters: %s\n", console.CountOf(len(result.Swept), "agent"), mail)
	case result.DryRun:
		fmt.Fprintf(w, "%s would be removed\n", console.CountOf(len(result.Swept), "agent"))
	case letters > 0:
		fmt.Fprintf(w, "%s removed; dead letters: %s, which come back with their agents\n", console.CountOf(len(result.Swept), "agent"), mail)
	default:
		fmt.Fprintf(w, "%s removed\n", console.CountOf(len(result.Swept), "agent"))
	}
}
