package operate

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

// A wellness is what health prints as JSON.
type wellness struct {
	Status       string `json:"status"` // ok or down
	URL          string `json:"url"`
	AgentsOnline int    `json:"agents_online"`
	Error        string `json:"error,omitempty"`
}

const (
	well   = "ok"
	unwell = "down"
)

func Health(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "health",
		Short: "Say in one line whether the coordinator works",
		Long: `Say in one line whether the coordinator, and the Redis behind it, can do their
work. The exit code is 0 if they can and 3 if not. It needs no token, so it suits
a container or a service manager.`,
		Example: `  c3po health`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			svc, err := a.Looking()
			if err != nil {
				return err
			}
			health, err := svc.Health(cmd.Context())
			if err != nil && (cmd.Context().Err() != nil || errors.Is(err, c3po.Forbidden)) {
				return err
			}
			hint := ""
			w := wellness{Status: well, URL: svc.URL(), AgentsOnline: health.AgentsOnline}
			if err != nil {
				e := a.ForPerson(c3po.AsError(err))
				w.Status, w.Error, hint = unwell, e.Message, e.Suggestion
			}
			if err := a.Show(w, func(out io.Writer) { printWellness(out, a.Ink(), w) }); err != nil || w.Status == well {
				return err
			}
			if !a.JSON {
				a.Hint(hint)
			}
			return console.ErrUnwell
		},
	}
}

func printWellness(out io.Writer, in console.Ink, w wellness) {
	if w.Status == well {
		fmt.Fprintf(out, "%s: %s, %s online\n", in.Good(well), console.Inline(w.URL), console.CountOf(w.AgentsOnline, "agent"))
		return
	}
	if strings.Contains(w.Error, w.URL) {
		fmt.Fprintf(out, "%s: %s\n", in.Bad(unwell), console.Inline(w.Error))
		return
	}
	fmt.Fprintf(out, "%s: %s: %s\n", in.Bad(unwell), console.Inline(w.URL), console.Inline(w.Error))
}
