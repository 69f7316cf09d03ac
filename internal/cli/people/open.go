package people

import (
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/internal/cli/console"
)

// A Link is what open prints as JSON.
type Link struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
	Opened  bool      `json:"opened"` // a browser was started with it
}

func Open(a *console.Console) *cobra.Command {
	var admin, printOnly bool
	cmd := &cobra.Command{
		Use:   "open",
		Short: "Open the dashboard in a browser",
		Long: `Open the dashboard in a browser, signed in as you. The address that is printed is
good for one use and for a minute; the browser is then signed in for 12 hours.

Where no browser can be started, over ssh for example, open the address yourself.`,
		Example: `  c3po open --print
  c3po open --print --admin`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			pick := console.HumanToken
			if admin {
				pick = console.AdminToken
			}
			svc, err := a.Person(pick)
			if err != nil {
				return err
			}
			return showLink(cmd.Context(), a, svc, strings.TrimRight(svc.URL(), "/"), "", printOnly)
		},
	}
	cmd.Flags().BoolVar(&printOnly, "print", false, "only print the address")
	cmd.Flags().BoolVar(&admin, "admin", false, "sign in as an admin, who also sees hosts and tokens")
	return cmd
}

// browse starts the browser of the desktop, if there is one, and does not wait
// for it. Others on this machine can read its arguments, so the address is in a
// file that only its user can read.
func browse(a *console.Console, url string) bool {
	var program []string
	switch {
	case runtime.GOOS == "darwin":
		program = []string{"open"}
	case runtime.GOOS == "windows":
		program = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case a.Getenv("DISPLAY") != "" || a.Getenv("WAYLAND_DISPLAY") != "":
		program = []string{"xdg-open"}
	default:
		return false
	}
	page, err := redirectTo(a, url)
	if err != nil {
		return false
	}
	browser := exec.Command(program[0], append(program[1:], page)...)
	if browser.Start() != nil {
		return false
	}
	return browser.Process.Release() == nil
}

const redirectPrefix, redirectSuffix = "open-", ".html"

// redirectTo makes a page that leads a browser to an address, and removes those of
// links that are over.
func redirectTo(a *console.Console, address string) (string, error) {
	state, err := a.Folders.State()
	if err != nil {
		return "", err
	}
	old, _ := filepath.Glob(filepath.Join(state, redirectPrefix+"*"+redirectSuffix)) // the pattern is well formed
	for _, name := range old {
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > time.Minute {
			_ = os.Remove(name) // what stays is of no use to anybody
		}
	}
	page, err := os.CreateTemp(state, redirectPrefix+"*"+redirectSuffix) // 0600
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(page, `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>c3po</title>`+
		`<meta http-equiv="refresh" content="0; url=%[1]s"><a href="%[1]s">Open the dashboard</a>`+"\n", html.EscapeString(address))
	return page.Name(), errors.Join(err, page.Close())
}
