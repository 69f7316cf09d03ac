package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/host/engine"
)

// An instance is a session on this host, and whether its process lives.
type instance struct {
	session.Instance
	Alive *bool `json:"alive"` // null where nobody can say
}

func (a *app) instances() *cobra.Command {
	return &cobra.Command{
		Use:   "instances",
		Short: "List the agent sessions on this host",
		Long: `List the sessions of coding agents on this host as they describe themselves, also
those that have no coordinator or are switched off. It asks no coordinator. c3po agents lists the agents of all hosts.`,
		Example: `  c3po instances`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := a.localSessions(cmd.Context())
			if err != nil {
				return err
			}
			return a.show(all, func(w io.Writer) { printInstances(w, a.ink(), all) })
		},
	}
}

// localSessions are the sessions of this user on this host.
func (a *app) localSessions(ctx context.Context) ([]instance, error) {
	socket, err := a.folders.SocketFile(session.SocketName(""))
	if err != nil {
		return nil, err
	}
	all := []instance{}
	for _, i := range session.Instances(ctx, filepath.Dir(socket)) {
		one := instance{Instance: i}
		if i.PIDStart != 0 {
			alive := engine.Started(i.PID) == i.PIDStart
			one.Alive = &alive
		}
		all = append(all, one)
	}
	return all, nil
}

func printInstances(w io.Writer, in ink, all []instance) {
	if len(all) == 0 {
		fmt.Fprintln(w, "no agent session on this host")
		return
	}
	now := time.Now()
	table(w, func(row func(...string)) {
		row(in.bold("AGENT"), in.bold("CLIENT"), in.bold("PID"), in.bold("ALIVE"), in.bold("STATE"), in.bold("UNREAD"), in.bold("RUN"), in.bold("FOLDER"))
		for _, i := range all {
			row(orDash(string(i.Agent)), orDash(i.Client), fmt.Sprint(i.PID), i.alive(in), i.standing(in, now), fmt.Sprint(i.Unread), orDash(i.Run), orDash(i.Folder))
		}
	})
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return inline(text)
}

func (i instance) alive(in ink) string {
	switch {
	case i.Alive == nil:
		return "unknown"
	case *i.Alive:
		return in.good("yes")
	default:
		return in.bad("no")
	}
}

// standing says in a few words what the session is doing, and for how long.
func (i instance) standing(in ink, now time.Time) string {
	lasting := inline(i.State.For(i.StateSince, now))
	if i.ToldAgain != nil {
		lasting += "; told again in " + c3po.Age(i.ToldAgain.Sub(now))
	}
	switch {
	case i.Off:
		return in.warn(lasting)
	case i.Trouble != "":
		return in.bad(inline(i.Trouble))
	case !i.Connected:
		return "not begun"
	case i.Paused == c3po.PausedForHuman:
		return in.warn("waits for its person, " + lasting)
	case i.Paused != "":
		return in.warn("paused: " + inline(i.Paused) + ", " + lasting)
	case i.State == c3po.SessionDialog, i.State == c3po.SessionFailed, i.State == c3po.SessionUnknown:
		return in.warn(lasting)
	default:
		return lasting
	}
}
