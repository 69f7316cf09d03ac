package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/client"
)

// A report is what status prints as JSON.
type report struct {
	URL          string `json:"url"`
	AgentsOnline int    `json:"agents_online"`
	c3po.ServerInfo
}

func (a *app) status() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show whether the coordinator can do its work",
		Long:    `Show whether the coordinator can do its work. If it is down the exit code is 3.`,
		Example: `  c3po status`,
		Args:    unknownCommand,
		RunE: call(a, a.looking, func(ctx context.Context, svc *client.Client, _ []string) (report, error) {
			info, err := svc.ServerInfo(ctx, c3po.None{})
			if err != nil {
				return report{}, err
			}
			health, err := svc.Health(ctx)
			return report{URL: svc.URL(), AgentsOnline: health.AgentsOnline, ServerInfo: info}, err
		}, func(w io.Writer, r report) {
			table(w, func(row func(...string)) {
				row("coordinator", inline(r.URL)+", version "+inline(r.Version)+", node "+inline(r.Node))
				if r.Version != a.Version {
					row("this program", "version "+inline(a.Version)+"; it and the coordinator understand each other")
				}
				row("redis", "answers; what is accepted is "+worth(r.Durability))
				if r.Auth == string(auth.None) {
					row(a.ink().warn("WARNING"), "authentication is off: whoever reaches the coordinator may act as anybody")
				}
				row("agents", fmt.Sprintf("%d online", r.AgentsOnline))
			})
		}),
	}
	cmd.AddCommand(a.statusSet())
	return cmd
}

// A build is what version prints as JSON.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func (a *app) version() *cobra.Command {
	return withoutSettings(&cobra.Command{
		Use:     "version",
		Short:   "Show the version of this program",
		Example: `  c3po version`,
		RunE: func(*cobra.Command, []string) error {
			b := build{a.Version, a.Commit, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return a.show(b, func(w io.Writer) {
				fmt.Fprintf(w, "c3po %s %s %s %s\n", b.Version, b.Commit, b.Go, b.System)
			})
		},
	})
}
