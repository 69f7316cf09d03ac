package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/cli/mail"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// A report is what status prints as JSON.
type report struct {
	URL          string `json:"url"`
	AgentsOnline int    `json:"agents_online"`
	c3po.ServerInfo
	Here *runningHere `json:"here,omitempty"` // if it is this user's own
	// PasskeysEnd is when all passkeys are forgotten, if somebody asked for that.
	PasskeysEnd time.Time `json:"passkeys_end,omitzero"`
}

// runningHere is what this host knows of the coordinator that c3po up started.
type runningHere struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	Data  string    `json:"data"` // the folder with everything it keeps
	Log   string    `json:"log"`
}

// findRunning is the coordinator at this address, if c3po up started it here.
func findRunning(a *console.Console, url string) *runningHere {
	note, err := a.Folders.Coordinator()
	if err != nil || note == nil || !paths.SameAddress(note.URL, url) {
		return nil
	}
	data, err := a.Folders.StateFile("")
	if err != nil {
		return nil
	}
	here := &runningHere{PID: note.PID, Data: filepath.Clean(data), Log: logName(data)}
	if info, err := os.Stat(filepath.Join(data, "coordinator.json")); err == nil {
		here.Since = info.ModTime()
	}
	return here
}

func Status(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show whether the coordinator can do its work",
		Long:    `Show whether the coordinator can do its work. If it is down the exit code is 3.`,
		Example: `  c3po status`,
		Args:    console.UnknownCommand,
		RunE: console.Call(a, a.Looking, func(ctx context.Context, svc *client.Client, _ []string) (report, error) {
			info, err := svc.ServerInfo(ctx, c3po.None{})
			if err != nil {
				if here := findRunning(a, svc.URL()); here != nil && errors.Is(err, c3po.RedisUnavailable) && !a.JSON {
					console.Table(a.Stdout, func(row func(...string)) {
						row("coordinator", console.Inline(svc.URL()))
						row("process", fmt.Sprintf("%d, started %s", here.PID, console.Ago(time.Now(), here.Since)))
						row("data", console.Inline(here.Data))
						row("log", console.Inline(here.Log)+" (c3po logs)")
					})
				}
				return report{}, err
			}
			health, err := svc.Health(ctx)
			passkeys, _ := svc.Passkeys(ctx) // an agent isn't told
			return report{URL: svc.URL(), AgentsOnline: health.AgentsOnline, ServerInfo: info, Here: findRunning(a, svc.URL()), PasskeysEnd: passkeys.ResetAt}, err
		}, func(w io.Writer, r report) {
			console.Table(w, func(row func(...string)) {
				row("coordinator", console.Inline(r.URL)+", version "+console.Inline(r.Version)+", node "+console.Inline(r.Node))
				if r.Version != a.Version {
					row("this program", "version "+console.Inline(a.Version)+"; it and the coordinator understand each other")
				}
				if here := r.Here; here != nil {
					row("process", fmt.Sprintf("%d, started %s", here.PID, console.Ago(time.Now(), here.Since)))
				}
				version := ""
				if r.Engine != nil {
					version = console.Inline(r.Engine.Name+" "+r.Engine.Version) + ", "
				}
				row("redis", version+"answers; what is accepted is "+console.Worth(r.Durability))
				if r.Auth == string(auth.None) {
					row(a.Ink().Warn("WARNING"), "authentication is off: whoever reaches the coordinator may act as anybody")
				}
				if !r.PasskeysEnd.IsZero() {
					row(a.Ink().Warn("passkeys"), console.PasskeysEnd(r.PasskeysEnd))
				}
				agents := fmt.Sprintf("%d online", r.AgentsOnline)
				if r.Paused != "" {
					agents += "; all are " + console.Paused(r.Paused) + ", c3po resume --all ends that"
				}
				row("agents", agents)
				if here := r.Here; here != nil {
					row("data", console.Inline(here.Data))
					row("log", console.Inline(here.Log)+" (c3po logs)")
				}
			})
		}),
	}
	cmd.AddCommand(mail.StatusSet(a))
	return cmd
}

// A build is what version prints as JSON.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func (b build) String() string {
	return fmt.Sprintf("c3po %s %s %s %s", b.Version, b.Commit, b.Go, b.System)
}

func Build(a *console.Console) build {
	return build{a.Version, a.Commit, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

func Version(a *console.Console) *cobra.Command {
	return console.WithoutSettings(&cobra.Command{
		Use:     "version",
		Short:   "Show the version of this program",
		Example: `  c3po version`,
		RunE: func(*cobra.Command, []string) error {
			return a.Show(Build(a), func(w io.Writer) { fmt.Fprintln(w, Build(a)) })
		},
	})
}
