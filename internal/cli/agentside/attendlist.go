package agentside

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/agent/attend"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

// An attended session is one as it is listed.
type attendedRow struct {
	Agent   c3po.AgentID `json:"agent"`
	Client  string       `json:"client"`
	Session string       `json:"session"`
	Folder  string       `json:"folder"`
	Open    bool         `json:"open"`
	Allowed bool         `json:"allowed"`
	Mode    string       `json:"mode,omitempty"`
	Starts  int          `json:"starts_this_hour"`
	Most    int          `json:"max_starts_an_hour,omitempty"`
	At      time.Time    `json:"at"`
}

func attendList(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the sessions of this host that mail can resume",
		Long:    `List the last session of each agent on this host, whether mail may resume it, and with which rights.`,
		Example: `  c3po attend list`,
		RunE: func(*cobra.Command, []string) error {
			rows, err := attendedRows(a)
			if err != nil {
				return err
			}
			return a.Show(rows, func(w io.Writer) {
				if len(rows) == 0 {
					fmt.Fprintln(w, "no session of this host can be resumed yet")
					return
				}
				console.Table(w, func(row func(...string)) {
					row("AGENT", "CLIENT", "SESSION", "STATE", "MAIL RESUMES IT", "FOLDER")
					for _, r := range rows {
						state, resumes := "closed "+console.Ago(time.Now(), r.At), "no"
						if r.Open {
							state = "open"
						}
						if r.Allowed {
							resumes = fmt.Sprintf("%s, %d of %d starts this hour", r.Mode, r.Starts, r.Most)
						}
						row(console.Inline(string(r.Agent)), console.Inline(r.Client), console.Inline(r.Session), state, console.Inline(resumes), console.Inline(r.Folder))
					}
				})
			})
		},
	}
	return console.WithoutSettings(cmd)
}

func attendedRows(a *console.Console) ([]attendedRow, error) {
	consents, err := a.Folders.Consents()
	if err != nil {
		return nil, err
	}
	starts, err := a.Folders.Starts()
	if err != nil {
		return nil, err
	}
	rows := []attendedRow{}
	for _, s := range attend.Last(a.Folders.Sessions()) {
		consent, _ := consents.For(s.Agent)
		mode, allowed := attend.Permitted(s, consents)
		recent := slices.DeleteFunc(starts[s.Agent], func(at time.Time) bool { return time.Since(at) >= time.Hour })
		rows = append(rows, attendedRow{
			Agent: s.Agent, Client: s.Client, Session: s.ID, Folder: s.Folder, Open: runLives(s.Run), Allowed: allowed, Mode: mode,
			Starts: len(recent), Most: consent.Starts, At: s.At,
		})
	}
	return rows, nil
}
