package notify

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// show puts a notice on the desktop of the user this process belongs to.
func show(ctx context.Context, title, text string) error {
	command := desktopCommand(runtime.GOOS, title, text)
	if command == nil {
		return c3po.Errorf(c3po.InvalidRequest, "there are no notices on the desktop of %s", runtime.GOOS).Suggest("Use notify.ntfy instead.")
	}
	out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput() // #nosec G204 -- the program is fixed, and what agents wrote is an argument of it
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return c3po.Errorf(c3po.InvalidRequest, "%s is not installed", command[0]).Suggest("Install it (libnotify-bin on Debian), or set `desktop: false`.")
	case err != nil:
		said, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return c3po.Errorf(c3po.AgentUnavailable, "%s failed: %w: %.200s", command[0], err, said).
			Suggest("A coordinator that was started outside of the desktop's session cannot reach it: start it there.")
	}
	return nil
}

// desktopCommand is the program that shows a notice, and its arguments; nil where
// there is none. Text is never part of a script or of markup.
func desktopCommand(system, title, text string) []string {
	switch system {
	case "linux", "freebsd", "openbsd", "netbsd":
		markup := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
		return []string{"notify-send", "--app-name=c3po", "--", title, markup.Replace(text)}
	case "darwin":
		return []string{
			"osascript", "-e", "on run argv", "-e", "display notification (item 1 of argv) with title (item 2 of argv)", "-e", "end run", "--", text, title,
		}
	default:
		return nil
	}
}
