package claude_test

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// A terminal is an interactive session of Claude Code in a tmux of its own.
type terminal struct {
	*agent
	socket string
	pid    int // of claude
}

// open starts an interactive session and returns when it takes input.
func (a *agent) open(more ...string) *terminal {
	a.t.Helper()
	term := a.start(a.env(), a.onHost(a.arguments(more...)...)...)
	term.awaitInput()
	return term
}

// awaitInput waits until the session takes input. Another session of this home may have
// written its configuration over what trust put there: then Claude Code asks whether the
// folder is trusted, and gets the answer a person would give.
func (term *terminal) awaitInput() {
	term.t.Helper()
	const ready = "manual mode on"
	var pressed time.Time
	faultrig.Within(30*time.Second, func() bool {
		screen := term.screen()
		if asks := trustQuestion.FindStringSubmatch(screen); asks != nil && time.Since(pressed) > time.Second { // it drops a key that comes at once
			term.tmux("send-keys", map[bool]string{true: "Enter", false: "Down"}[strings.Contains(asks[1], "❯")])
			pressed = time.Now()
		}
		return strings.Contains(screen, ready)
	})
	term.see(ready)
}

// trustQuestion finds the answer yes of Claude Code's question, and the sign before it when it is chosen.
var trustQuestion = regexp.MustCompile(`(.*)Yes, I trust this folder`)

// start runs a command in a terminal of its own.
func (a *agent) start(env []string, command ...string) *terminal {
	a.t.Helper()
	a.trust()
	size := a.size
	if size == [2]int{} {
		size = [2]int{160, 50}
	}
	term := &terminal{agent: a, socket: "c3po-" + rand.Text()[:8]}
	argv := append([]string{"-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(size[0]), "-y", strconv.Itoa(size[1]), "-c", a.folder, "env", "-i"}, env...)
	if out, err := exec.Command("tmux", append([]string{"-L", term.socket}, append(argv, command...)...)...).CombinedOutput(); err != nil {
		a.t.Fatalf("tmux: %v\n%s", err, out)
	}
	a.t.Cleanup(term.close)
	term.pid, _ = strconv.Atoi(term.tmux("display-message", "-p", "#{pane_pid}"))
	return term
}

// trust answers beforehand what Claude Code asks in a new home and folder.
func (a *agent) trust() {
	a.t.Helper()
	name := filepath.Join(a.home(), ".claude", ".claude.json")
	known := map[string]any{}
	if data, err := os.ReadFile(name); err == nil {
		if err := json.Unmarshal(data, &known); err != nil {
			a.t.Fatal(err)
		}
	}
	projects, _ := known["projects"].(map[string]any)
	if projects == nil {
		projects = map[string]any{}
	}
	projects[a.folder] = map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}
	for field, value := range map[string]any{
		"hasCompletedOnboarding": true, "lastOnboardingVersion": "99.0.0", "theme": "dark", "projects": projects,
		"customApiKeyResponses": map[string]any{"approved": []string{key[len(key)-20:]}, "rejected": []string{}},
	} {
		known[field] = value
	}
	data, err := json.Marshal(known)
	if err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		a.t.Fatal(err)
	}
}

func (term *terminal) tmux(args ...string) string {
	out, _ := exec.Command("tmux", append([]string{"-L", term.socket}, args...)...).Output()
	return strings.TrimSpace(string(out))
}

func (term *terminal) screen() string { return term.tmux("capture-pane", "-p", "-S", "-200") }

// see waits until a text is on the screen.
func (term *terminal) see(text string) {
	term.t.Helper()
	if !faultrig.Within(30*time.Second, func() bool { return strings.Contains(term.screen(), text) }) {
		term.t.Fatalf("%q is not on the screen:\n%s", text, term.screen())
	}
}

// enter types a text and sends it. Both at once would be taken for a paste. A turn
// that begins meanwhile may empty the box: then it is typed again, as a person would.
func (term *terminal) enter(text string) {
	term.t.Helper()
	end := text[max(0, len(text)-20):]
	before := strings.Count(term.screen(), end)
	for range 3 {
		term.tmux("send-keys", "-l", text)
		if faultrig.Within(10*time.Second, func() bool { return strings.Count(term.screen(), end) > before }) {
			break
		}
		term.tmux("send-keys", "C-u")
	}
	term.see(end)
	term.tmux("send-keys", "Enter")
}

// rest waits until the turn that runs has ended.
func (term *terminal) rest() {
	term.t.Helper()
	if !faultrig.Within(30*time.Second, func() bool {
		transcript := term.screen()
		for range 2 { // the box for the next prompt
			transcript = transcript[:max(0, strings.LastIndex(transcript, "\n─"))]
		}
		done := strings.LastIndex(transcript, " done ")
		return done > strings.LastIndex(transcript, "● ") && done > strings.LastIndex(transcript, "❯ ")
	}) {
		term.t.Fatalf("the turn does not end:\n%s", term.screen())
	}
}

func (term *terminal) press(key string) { term.tmux("send-keys", key) }

// escape leaves what shows a text. A dialog that has just opened takes no key for a
// moment, so that nobody answers it by what was meant for something else.
func (term *terminal) escape(text string) {
	term.t.Helper()
	gone := func() bool { return !strings.Contains(term.tmux("capture-pane", "-p"), text) }
	eventually(term.t, 30*time.Second, "gone from the screen: "+text, func() bool {
		term.press("Escape")
		return faultrig.Within(2*time.Second, gone)
	})
}

// idle waits until the agent is attached and its monitor listens.
func (term *terminal) idle() {
	term.t.Helper()
	eventually(term.t, 20*time.Second, "the monitor runs", func() bool { return len(term.processes("c3po monitor")) > 0 })
}

func (term *terminal) close() {
	term.tmux("kill-server")
	if term.pid > 0 && !faultrig.Within(8*time.Second, func() bool { return !alive(term.pid) }) {
		kill(term.t, term.pid)
	}
}
