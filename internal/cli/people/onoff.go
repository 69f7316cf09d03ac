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
--all, everywhere. Running sessions notice it at their next step.`, a.Folders.SwitchOn)
}

func Off(a *console.Console) *cobra.Command {
	return switching(a, "off", "Keep agents here from taking part", `Switch c3po off for the agents of the current folder's project, or with --all for
all your agents on this machine. They go offline and get no notices, and their tools
say so. Their mail is kept. Running sessions notice it at their next step.`, a.Folders.SwitchOff)
}

// A switched is what on and off print as JSON.
type switched struct {
	State         string `json:"state"`
	Project       string `json:"project,omitempty"`        // empty: everywhere
	OffEverywhere bool   `json:"off_everywhere,omitempty"` // so that on here changes nothing
}

func switching(a *console.Console, word, short, long string, act func(project string) error) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     word + " [FOLDER]",
		Short:   short,
		Long:    long,
		Example: "  c3po " + word + "\n  c3po " + word + " --all",
		Args:    console.Arguments(0, 1, "[FOLDER]"),
		RunE: func(_ *cobra.Command, args []string) error {
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
			if err := act(project); err != nil {
				return err
			}
			done := switched{State: word, Project: project, OffEverywhere: word == "on" && a.Folders.Off(project)}
			return a.Show(done, func(w io.Writer) {
				fmt.Fprintf(w, "c3po is %s %s\n", word, console.Inline(where))
				if done.OffEverywhere {
					fmt.Fprintln(w, "but it is off everywhere: c3po on --all")
				}
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "everywhere on this machine, for this user")
	return console.WithoutSettings(cmd)
}
