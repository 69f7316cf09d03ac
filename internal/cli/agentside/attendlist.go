package agentside

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/attend"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// An attended session is one as it is listed.
type attendedRow struct {
	Agent   c3po.AgentID `json:"agent"`
	Client  string       `json:"client"`
	Session string       `json:"session"`
	Folder  string       `json:"folder"`
	Open    bool         `json:"open"`
	Resumed bool         `json:"resumed,omitempty"` // it is open because mail has resumed it
	Off     bool         `json:"off,omitempty"`     // c3po is switched off in its folder
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
			consents, err := a.Folders.Consents()
			if err != nil {
				return err
			}
			rows, err := attendedRows(a, consents)
			if err != nil {
				return err
			}
			return a.Show(rows, func(w io.Writer) {
				showAttended(w, rows)
				for _, r := range rows {
					delete(consents, string(r.Agent))
					delete(consents, r.Agent.Name())
				}
				if _, all := consents[paths.Everyone]; all {
					fmt.Fprintf(w, "every agent that you have not named: %s\n", console.Inline(consents[paths.Everyone].Mode))
				}
				if others := named(consents); others != "" {
					fmt.Fprintf(w, "named, without a session here: %s\n", others)
				}
				if !a.Folders.IsAttended() {
					fmt.Fprintln(w, "nothing resumes them now: start c3po up, or on a host that has joined c3po attend")
				}
			})
		},
	}
	return console.WithoutSettings(cmd)
}

func showAttended(w io.Writer, rows []attendedRow) {
	if len(rows) == 0 {
		fmt.Fprintln(w, "no session of this host can be resumed yet")
		return
	}
	console.Table(w, func(row func(...string)) {
		row("AGENT", "CLIENT", "SESSION", "STATE", "MAIL RESUMES IT", "FOLDER")
		for _, r := range rows {
			row(console.Inline(string(r.Agent)), console.Inline(r.Client), console.Inline(r.Session), r.state(), console.Inline(r.resumes()), console.Inline(r.Folder))
		}
	})
}

func (r attendedRow) state() string {
	switch {
	case r.Resumed:
		return "resumed by mail"
	case r.Open:
		return "open"
	}
	return "closed"
}

// resumes says whether mail resumes a session, and with which rights.
func (r attendedRow) resumes() string {
	switch {
	case !r.Allowed:
		return "no"
	case r.Off:
		return "no, c3po is off in its folder"
	case r.Starts >= r.Most:
		return fmt.Sprintf("%s, you are asked first: %s this hour", r.Mode, console.CountOf(r.Starts, "start"))
	}
	return fmt.Sprintf("%s, %d of %d starts this hour", r.Mode, r.Starts, r.Most)
}

func attendedRows(a *console.Console, consents paths.Consents) ([]attendedRow, error) {
	starts, err := a.Folders.Starts()
	if err != nil {
		return nil, err
	}
	rows := []attendedRow{}
	for _, s := range attend.Last(a.Folders.Sessions()) {
		consent, _ := consents.For(s.Agent)
		mode, allowed := attend.Permitted(s, consents)
		recent := slices.DeleteFunc(starts[s.Agent], func(at time.Time) bool { return time.Since(at) >= time.Hour })
		lives := runLives(s.Run)
		rows = append(rows, attendedRow{
			Agent: s.Agent, Client: s.Client, Session: s.ID, Folder: s.Folder, Open: lives, Resumed: lives && s.Resumed, Off: a.Folders.Off(s.Folder), Allowed: allowed, Mode: mode,
			Starts: len(recent), Most: consent.Starts, At: s.At,
		})
	}
	return rows, nil
}
