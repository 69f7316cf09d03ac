package cli

import (
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// A link is what open prints as JSON.
type link struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
	Opened  bool      `json:"opened"` // a browser was started with it
}

func (a *app) open() *cobra.Command {
	var admin, printOnly bool
	cmd := &cobra.Command{
		Use:   "open",
		Short: "Open the dashboard in a browser",
		Long: `Open the dashboard in a browser, signed in as you. The address that is printed is
good for one use and for a minute; the browser is then signed in for 12 hours.

Where no browser can be started, over ssh for example, open the address yourself.`,
		Example: `  c3po open --print
  c3po open --print --admin`,
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			pick := humanToken
			if admin {
				pick = adminToken
			}
			svc, err := a.person(pick)
			if err != nil {
				return err
			}
			made, err := svc.LoginLink(cmd.Context())
			if err != nil {
				return err
			}
			l := link{URL: strings.TrimRight(svc.URL(), "/") + "/#/login/" + made.Code, Expires: made.Expires}
			if !printOnly {
				l.Opened = a.browse(l.URL)
			}
			return a.show(l, func(w io.Writer) {
				fmt.Fprintln(w, inline(l.URL))
				if !l.Opened {
					fmt.Fprintf(a.Stderr, "Open this address in a browser within a minute. It is good for one use.\n")
				}
			})
		},
	}
	cmd.Flags().BoolVar(&printOnly, "print", false, "only print the address")
	cmd.Flags().BoolVar(&admin, "admin", false, "sign in as an admin, who also sees hosts and tokens")
	return cmd
}

// browse starts the browser of the desktop, if there is one, and does not wait
// for it. The address is in its arguments, which is why it is good for one use.
func (a *app) browse(url string) bool {
	var browser *exec.Cmd
	switch {
	case runtime.GOOS == "darwin":
		browser = exec.Command("open", url)
	case runtime.GOOS == "windows":
		browser = exec.Command("rundll32", "url.dll,FileProtocolHandler", url)
	case a.Getenv("DISPLAY") != "" || a.Getenv("WAYLAND_DISPLAY") != "":
		browser = exec.Command("xdg-open", url)
	default:
		return false
	}
	if browser.Start() != nil {
		return false
	}
	return browser.Process.Release() == nil
}
