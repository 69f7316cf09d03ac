package mail

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/engine"
)

// An instance is a session on this host, and whether its process lives.
type instance struct {
	session.Instance
	Alive *bool `json:"alive"` // null where nobody can say
}

func Instances(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "instances",
		Short: "List the agent sessions on this host",
		Long: `List the sessions of coding agents on this host as they describe themselves, also
those that have no coordinator or are switched off. It asks no coordinator. c3po agents lists the agents of all hosts.`,
		Example: `  c3po instances`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := LocalSessions(cmd.Context(), a)
			if err != nil {
				return err
			}
			return a.Show(all, func(w io.Writer) { printInstances(w, a.Ink(), all) })
		},
	}
}

// LocalSessions are the sessions of this user on this host.
func LocalSessions(ctx context.Context, a *console.Console) ([]instance, error) {
	socket, err := a.Folders.SocketFile(session.SocketName(""))
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

func printInstances(w io.Writer, in console.Ink, all []instance) {
	if len(all) == 0 {
		fmt.Fprintln(w, "no agent session on this host")
		return
	}
	now := time.Now()
	console.Table(w, func(row func(...string)) {
		row(in.Bold("AGENT"), in.Bold("CLIENT"), in.Bold("PID"), in.Bold("ALIVE"), in.Bold("STATE"), in.Bold("OPEN"), in.Bold("RUN"), in.Bold("FOLDER"))
		for _, i := range all {
			row(orDash(string(i.Agent)), orDash(i.Client), fmt.Sprint(i.PID), i.alive(in), i.standing(in, now), fmt.Sprint(i.Unread), orDash(i.Run), orDash(i.Folder))
		}
	})
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return console.Inline(text)
}

func (i instance) alive(in console.Ink) string {
	switch {
	case i.Alive == nil:
		return "unknown"
	case *i.Alive:
		return in.Good("yes")
	default:
		return in.Bad("no")
	}
}

// standing says in a few words what the session is doing, and for how long.
func (i instance) standing(in console.Ink, now time.Time) string {
	lasting := console.Inline(i.State.For(i.StateSince, now))
	if i.ToldAgain != nil {
		lasting += "; told again in " + c3po.Age(i.ToldAgain.Sub(now))
	}
	switch {
	case i.Off:
		return in.Warn(lasting)
	case i.Trouble != "":
		return in.Bad(console.Inline(i.Trouble))
	case !i.Connected:
		return "not begun"
	case i.Paused == c3po.PausedForHuman:
		return in.Warn("waits for its person, " + lasting)
	case i.Paused != "":
		return in.Warn("paused: " + console.Inline(i.Paused) + ", " + lasting)
	case i.State == c3po.SessionDialog, i.State == c3po.SessionFailed, i.State == c3po.SessionUnknown:
		return in.Warn(lasting)
	default:
		return lasting
	}
}
