package operate

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/release"
)

// An upgradeCheck is what upgrade --check prints as JSON.
type upgradeCheck struct {
	Version     string         `json:"version"`
	Coordinator string         `json:"coordinator,omitempty"` // its version, if it answered
	Fits        *bool          `json:"fits,omitempty"`        // this program and the coordinator understand each other; absent if it did not answer
	Newest      string         `json:"newest,omitempty"`      // release, if the page said so
	Newer       bool           `json:"newer"`                 // that is newer than this program
	Problems    []string       `json:"problems"`
	Origin      release.Origin `json:"origin"`
}

func Upgrade(a *console.Console) *cobra.Command {
	var check bool
	var page string
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Upgrade c3po; --check only looks for a new release",
		Long: `Upgrade this program to the newest release. One that the install script has put there
is fetched, its signature and checksum are checked, and it is replaced in one step; one
that a package manager keeps is not touched, and you see the command that upgrades it. A
coordinator that runs goes on with the old version until it is restarted.

With --check it says which version this is, which one the coordinator runs, whether
they understand each other, and which release is the newest. The exit code is then
0 if there is nothing to do, 1 if there is something to upgrade, and 3 if the page
of releases could not be asked. A coordinator that does not answer changes none of
them.`,
		Example: `  c3po upgrade`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			origin := origin(a)
			switch {
			case check:
				return checkUpgrade(cmd.Context(), a, page, origin)
			case origin.Kind == release.Script && !release.Known(a.Version):
				return c3po.Errorf(c3po.InvalidRequest, "this program, version %s, is not from a release, so there is nothing to upgrade it to", a.Version).
					Suggest("Build it from newer source, or put the newest release in its place: %s", strings.Join(origin.Commands, " && "))
			case origin.Kind == release.Script && ownProgram() != "":
				return upgradeByScript(cmd.Context(), a, page)
			default:
				return a.Show(origin, func(w io.Writer) { printOrigin(w, origin) })
			}
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "say whether there is something to upgrade")
	cmd.Flags().StringVar(&page, "releases", release.Page, "page of releases to ask")
	console.Setting(cmd.Flags(), "releases", "C3PO_RELEASES", "")
	return cmd
}

func origin(a *console.Console) release.Origin {
	return release.OriginOf(ownProgram(), runtime.GOOS, runtime.GOARCH, a.Home(), func(name string) bool {
		_, err := os.Stat(name)
		return err == nil
	})
}

func printOrigin(w io.Writer, o release.Origin) {
	fmt.Fprintf(w, "installed by %s; to upgrade:\n", o.Kind)
	for _, command := range o.Commands {
		fmt.Fprintf(w, "  %s\n", console.Inline(command))
	}
}

func checkUpgrade(ctx context.Context, a *console.Console, page string, origin release.Origin) error {
	found := upgradeCheck{Version: a.Version, Problems: []string{}, Origin: origin}
	beside := askCoordinator(ctx, a, &found)
	releases, exit := "", console.ExitOK
	newest, err := release.Newest(ctx, page)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		e := c3po.AsError(err)
		if e.Code == c3po.InvalidRequest {
			return console.BadUsage(e.Message, e.Suggestion)
		}
		releases, exit = "not known: "+e.Message, console.ExitDown
		found.Problems = append(found.Problems, e.Message)
	default:
		found.Newest, found.Newer = newest, release.Newer(newest, a.Version)
		releases = newest + ", which is newer"
		if !found.Newer {
			releases = newest + ", nothing newer"
		}
		if !release.Known(a.Version) {
			releases = newest + "; this program is not from a release"
		}
	}
	if found.Newer || found.Fits != nil && !*found.Fits {
		exit = console.ExitRefused
	}
	if err := a.Show(found, func(w io.Writer) {
		console.Table(w, func(row func(...string)) {
			row("this program", console.Inline(a.Version))
			row("coordinator", console.Inline(beside))
			row("newest release", console.Inline(releases))
		})
		if exit == console.ExitRefused && release.Known(a.Version) {
			printOrigin(w, origin)
		}
	}); err != nil {
		return err
	}
	if exit != console.ExitOK {
		return &console.EndedError{Code: exit}
	}
	return nil
}

// askCoordinator finds out what runs there, and says it in words. A coordinator
// with which this program has no protocol in common says so itself.
func askCoordinator(ctx context.Context, a *console.Console, found *upgradeCheck) string {
	svc, err := a.Looking()
	if err != nil {
		return "not asked: " + c3po.AsError(err).Message
	}
	info, err := svc.ServerInfo(ctx, c3po.None{})
	if err == nil {
		fits := true
		found.Coordinator, found.Fits = info.Version, &fits
		if info.Version == a.Version {
			return info.Version + ", the same"
		}
		return info.Version + "; it and this program understand each other"
	}
	e := c3po.AsError(err)
	found.Problems = append(found.Problems, e.Message)
	if e.Code == c3po.InvalidRequest {
		fits := false
		found.Fits = &fits
		return e.Message + ". " + e.Suggestion
	}
	return "not known: " + e.Message
}
