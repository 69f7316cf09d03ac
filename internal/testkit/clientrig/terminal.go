package clientrig

import (
	"crypto/rand"
	"os/exec"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// A Terminal is a program in a tmux of its own.
type Terminal struct {
	*Agent
	socket string
}

// Open starts the client in a terminal, and returns when it takes input.
func (a *Agent) Open(more ...string) *Terminal {
	a.T.Helper()
	return a.OpenIn(a.Folder, more...)
}

// OpenIn is Open in another folder.
func (a *Agent) OpenIn(folder string, more ...string) *Terminal {
	a.T.Helper()
	term := a.Show(folder, a.command(append(a.Client.Open, more...)...)...)
	for i, text := range a.Client.Ready {
		if i > 0 {
			term.Press("Enter")
		}
		term.See(text)
	}
	return term
}

// Reopen starts the client with a conversation it has, in a folder it trusts, and returns
// when it shows a text of that and stands still.
func (a *Agent) Reopen(text string, more ...string) *Terminal {
	a.T.Helper()
	term := a.Show(a.Folder, a.command(append(a.Client.Open, more...)...)...)
	term.See(text)
	term.Rest()
	return term
}

// Show starts any program in a terminal.
func (a *Agent) Show(folder string, argv ...string) *Terminal {
	a.T.Helper()
	term := &Terminal{Agent: a, socket: "c3po-" + rand.Text()[:8]}
	args := append([]string{"-L", term.socket, "-f", "/dev/null", "new-session", "-d", "-x", "160", "-y", "50", "-c", folder, "env", "-i"}, a.Environ()...)
	if out, err := exec.Command("tmux", append(append(args, "PWD="+folder), a.Argv(argv...)...)...).CombinedOutput(); err != nil {
		a.T.Fatalf("tmux: %v\n%s", err, out)
	}
	a.T.Cleanup(term.Close)
	return term
}

// Close ends the terminal. What it shows at the end of a test that fails is logged.
func (term *Terminal) Close() {
	if screen := term.Screen(); screen != "" && term.T.Failed() {
		term.T.Logf("the screen of %s:\n%s", term.Client.Name, screen)
	}
	term.Tmux("kill-server")
}

// Tmux is a command to its tmux.
func (term *Terminal) Tmux(args ...string) string {
	out, _ := exec.Command("tmux", append([]string{"-L", term.socket}, args...)...).Output()
	return strings.TrimSpace(string(out))
}

// Screen is what the terminal shows, and what has gone above it.
func (term *Terminal) Screen() string { return term.Tmux("capture-pane", "-p", "-S", "-200") }

// Shown is what the terminal shows.
func (term *Terminal) Shown() string { return term.Tmux("capture-pane", "-p") }

// See waits until a text is on the screen.
func (term *Terminal) See(text string) {
	term.T.Helper()
	if !faultrig.Within(90*time.Second, func() bool { return strings.Contains(term.Screen(), text) }) {
		term.T.Fatalf("%q is not on the screen:\n%s", text, term.Screen())
	}
}

// Press presses a key.
func (term *Terminal) Press(key string) { term.Tmux("send-keys", key) }

// Type types a text and does not send it.
func (term *Terminal) Type(text string) {
	term.T.Helper()
	term.Tmux("send-keys", "-l", text)
	term.See(text)
}

// Enter types a text and sends it. Both at once would be taken for a paste. A turn that
// begins meanwhile may empty the box: then it is typed again, as a person would.
func (term *Terminal) Enter(text string) {
	term.T.Helper()
	end := text[max(0, len(text)-20):]
	before := strings.Count(term.Screen(), end)
	for range 3 {
		term.Tmux("send-keys", "-l", text)
		if faultrig.Within(10*time.Second, func() bool { return strings.Count(term.Screen(), end) > before }) {
			break
		}
		term.Press("C-u")
	}
	term.See(end)
	if term.Client.Pause > 0 {
		term.still(term.Client.Pause, "")
	}
	term.Press("Enter")
}

// Rest waits until the turn that runs has ended: the screen stands still.
func (term *Terminal) Rest() {
	term.T.Helper()
	term.still(2*time.Second, "to interrupt")
}

// still waits until the screen has stood still so long, without a text if there
// is one.
func (term *Terminal) still(long time.Duration, without string) {
	term.T.Helper()
	var last string
	var since time.Time
	if !faultrig.Within(30*time.Second, func() bool {
		screen := term.Shown()
		if screen != last || without != "" && strings.Contains(screen, without) {
			last, since = screen, time.Now()
		}
		return time.Since(since) > long
	}) {
		term.T.Fatalf("the screen never stands still:\n%s", last)
	}
}
