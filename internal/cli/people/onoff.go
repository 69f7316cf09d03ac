package people

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/internal/cli/agentside"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

func On(a *console.Console) *cobra.Command {
	return switching(a, "on", "Let agents here take part again", `Switch c3po on again after c3po off, for the current folder's project or, with
--all, everywhere. Running sessions notice it at their next step.

With --approvals, permission dialogs are questions to you again, where c3po was
installed with --approvals. If it was installed so nowhere, it says what to run.`, a.Folders.SwitchOn, a.Folders.SwitchApprovalsOn)
}

func Off(a *console.Console) *cobra.Command {
	return switching(a, "off", "Keep agents here from taking part", `Switch c3po off for the agents of the current folder's project, or with --all for
all your agents on this machine. They go offline and get no notices, and their tools
say so. Their mail is kept. Running sessions notice it at their next step.

With --approvals only permission dialogs are left to the terminal; the rest stays on.`, a.Folders.SwitchOff, a.Folders.SwitchApprovalsOff)
}

// A switched is what on and off print as JSON.
type switched struct {
	State         string `json:"state"`
	Approvals     bool   `json:"approvals,omitempty"`      // of approvals only
	Project       string `json:"project,omitempty"`        // empty: everywhere
	OffEverywhere bool   `json:"off_everywhere,omitempty"` // so that on here changes nothing
	// Install are commands to run: approvals are on, and no coding agent was installed with them.
	Install []string `json:"install,omitempty"`
}

func switching(a *console.Console, word, short, long string, act, approve func(project string) error) *cobra.Command {
	var all, approvals bool
	cmd := &cobra.Command{
		Use:     word + " [FOLDER]",
		Short:   short,
		Long:    long,
		Example: "  c3po " + word + "\n  c3po " + word + " --all",
		Args:    console.Arguments(0, 1, "[FOLDER]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			where, project := "everywhere", ""
			if !all {
				var err error
				if project, err = agentside.Project(a); err != nil {
					return err
				}
				if len(args) > 0 {
					if project, err = filepath.Abs(args[0]); err != nil {
						return err
					}
				}
				where = "in " + project
			}
			what, act, off, flag := "c3po is", act, a.Folders.Off, ""
			if approvals {
				what, act, off, flag = "approvals are", approve, a.Folders.ApprovalsOff, " --approvals"
			}
			if err := act(project); err != nil {
				return err
			}
			done := switched{State: word, Approvals: approvals, Project: project, OffEverywhere: word == "on" && off(project)}
			if approvals && word == "on" {
				done.Install = agentside.ApprovalsMissing(cmd.Context(), a, project)
			}
			return a.Show(done, func(w io.Writer) {
				fmt.Fprintf(w, "%s %s %s\n", what, word, console.Inline(where))
				if done.OffEverywhere {
					fmt.Fprintln(w, "but it is off everywhere: c3po on --all"+flag)
				}
				if len(done.Install) > 0 {
					fmt.Fprintln(w, "but no coding agent here was installed with approvals, so you won't be asked. Run:")
				}
				for _, command := range done.Install {
					fmt.Fprintln(w, "  "+command)
				}
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "everywhere on this machine, for this user")
	cmd.Flags().BoolVar(&approvals, "approvals", false, "only whether permission dialogs are questions to you")
	return console.WithoutSettings(cmd)
}
