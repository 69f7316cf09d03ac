package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
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

func (a *app) upgrade() *cobra.Command {
	var check bool
	var page string
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Upgrade c3po; --check only looks for a new release",
		Long: `Upgrade this program to the newest release. One that the install script has put there
is fetched, compared with checksums.txt and replaced in one step; one that a package
manager keeps is not touched, and you see the command that upgrades it. A coordinator
that runs goes on with the old version until it is restarted.

With --check it says which version this is, which one the coordinator runs, whether
they understand each other, and which release is the newest. The exit code is then
0 if there is nothing to do, 1 if there is something to upgrade, and 3 if the page
of releases could not be asked. A coordinator that does not answer changes none of
them.`,
		Example: `  c3po upgrade`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			origin := a.origin()
			switch {
			case check:
				return a.checkUpgrade(cmd.Context(), page, origin)
			case origin.Kind == release.Script && ownProgram() != "" && release.Known(a.Version):
				return a.upgradeByScript(cmd.Context(), page)
			default:
				return a.show(origin, func(w io.Writer) { printOrigin(w, origin) })
			}
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "say whether there is something to upgrade")
	cmd.Flags().StringVar(&page, "releases", release.Page, "page of releases to ask")
	setting(cmd.Flags(), "releases", "C3PO_RELEASES", "")
	return cmd
}

func (a *app) origin() release.Origin {
	return release.OriginOf(ownProgram(), runtime.GOOS, runtime.GOARCH, a.Getenv("HOME"), func(name string) bool {
		_, err := os.Stat(name)
		return err == nil
	})
}

func printOrigin(w io.Writer, o release.Origin) {
	fmt.Fprintf(w, "installed by %s; to upgrade:\n", o.Kind)
	for _, command := range o.Commands {
		fmt.Fprintf(w, "  %s\n", inline(command))
	}
}

func (a *app) checkUpgrade(ctx context.Context, page string, origin release.Origin) error {
	found := upgradeCheck{Version: a.Version, Problems: []string{}, Origin: origin}
	beside := a.askCoordinator(ctx, &found)
	releases, exit := "", exitOK
	newest, err := release.Newest(ctx, page)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		e := c3po.AsError(err)
		if e.Code == c3po.InvalidRequest {
			return &usageError{e.Message, e.Suggestion}
		}
		releases, exit = "not known: "+e.Message, exitDown
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
		exit = exitRefused
	}
	if err := a.show(found, func(w io.Writer) {
		table(w, func(row func(...string)) {
			row("this program", inline(a.Version))
			row("coordinator", inline(beside))
			row("newest release", inline(releases))
		})
		if exit == exitRefused {
			printOrigin(w, origin)
		}
	}); err != nil {
		return err
	}
	if exit != exitOK {
		return &endedError{code: exit}
	}
	return nil
}

// askCoordinator finds out what runs there, and says it in words. A coordinator
// with which this program has no protocol in common says so itself.
func (a *app) askCoordinator(ctx context.Context, found *upgradeCheck) string {
	svc, err := a.looking()
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
