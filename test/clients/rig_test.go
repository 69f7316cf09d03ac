package clients_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestMain(m *testing.M) { faultrig.Main(m) }

// programs is where npm has put the clients, by the variable that run.sh sets.
func programs(t *testing.T, client string) string {
	t.Helper()
	folder := os.Getenv("C3PO_CLIENTS")
	if folder == "" {
		t.Skip("C3PO_CLIENTS is not set: make clients-e2e runs this")
	}
	if _, err := os.Stat(filepath.Join(folder, client, "installed")); err != nil {
		t.Skip(client + " could not be installed; run.sh says so")
	}
	return filepath.Join(folder, client, "node_modules", ".bin")
}

// A rig is one client in a home of its own, with a model of its own and perhaps a
// coordinator.
type rig struct {
	t           *testing.T
	client      string
	dir         string
	coordinator string // its address
	model       *model
	extra       []string // variables
}

// A kind is how one client is set up to speak to the model of a rig.
type kind struct {
	files map[string]func(*rig) string // below its home, by name
	env   func(*rig) []string          // besides what all have; none if nil
}

func kinds() map[string]kind {
	return map[string]kind{
		"claude":   claudeKind(),
		"codex":    codexKind(),
		"gemini":   geminiKind(),
		"opencode": opencodeKind(),
		"copilot":  copilotKind(),
		"kimi":     kimiKind(),
	}
}

// newRig starts a coordinator for a client, and installs c3po into it.
func newRig(t *testing.T, name string, thinks func(*rig) brain, flags ...string) *rig {
	t.Helper()
	programs(t, name)
	r := newRigAt(t, name, faultrig.Start(t, redistest.New(t).URL()).URL(), thinks)
	r.c3po(append([]string{"install", name}, flags...)...)
	return r
}

// newRigAt is for a coordinator that is there, or is not. c3po is not installed.
func newRigAt(t *testing.T, name, coordinator string, thinks func(*rig) brain) *rig {
	t.Helper()
	programs(t, name)
	// Codex refuses a home in the folder of temporary files.
	dir, err := os.MkdirTemp("/var/tmp", "c3c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// A client that was ended, and its bridge, write to its home for a moment longer.
		faultrig.Within(10*time.Second, func() bool { return !inUse(dir) })
		if !faultrig.Within(10*time.Second, func() bool { return os.RemoveAll(dir) == nil }) {
			t.Errorf("%s is not removed", dir)
		}
	})
	r := &rig{t: t, client: name, dir: dir, coordinator: coordinator}
	r.model = newModel(t, thinks(r))
	for _, sub := range []string{"home", "api"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range kinds()[name].files {
		r.write(file, text(r))
	}
	return r
}

// inUse says that a process works in a folder.
func inUse(dir string) bool {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	return slices.ContainsFunc(links, func(link string) bool {
		at, _ := os.Readlink(link) // it may have ended
		return strings.HasPrefix(at, dir+"/")
	})
}

func (r *rig) home() string    { return filepath.Join(r.dir, "home") }
func (r *rig) project() string { return filepath.Join(r.dir, "api") }

func (r *rig) env() []string {
	all := []string{
		"PATH=" + programs(r.t, r.client) + ":" + filepath.Dir(faultrig.Binary(r.t)) + ":/usr/local/bin:/usr/bin:/bin",
		"HOME=" + r.home(), "LANG=C.UTF-8", "TERM=xterm-256color", "NO_KEY=none", "C3PO_COORDINATOR_URL=" + r.coordinator,
	}
	if own := kinds()[r.client].env; own != nil {
		all = append(all, own(r)...)
	}
	return append(all, r.extra...)
}

// run is a command to its end, which must be a good one. Mail is answered in it,
// as a runner asks for.
func (r *rig) run(argv ...string) (string, time.Duration) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if path := filepath.Join(programs(r.t, r.client), argv[0]); argv[0] == r.client {
		cmd.Path = path
	}
	cmd.Err = nil // the path of the test is another than that of the client
	cmd.Dir, cmd.Env = r.project(), append(r.env(), "C3PO_UNATTENDED=answer")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Run(); err != nil {
		r.t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out.String())
	}
	return out.String(), time.Since(began)
}

func (r *rig) c3po(args ...string) string {
	r.t.Helper()
	out, _ := r.run(append([]string{faultrig.Binary(r.t)}, args...)...)
	return out
}

func (r *rig) write(name, text string) {
	r.t.Helper()
	full := filepath.Join(r.home(), name)
	err := os.MkdirAll(filepath.Dir(full), 0o700)
	if err == nil {
		err = os.WriteFile(full, []byte(text), 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// as is a client of the coordinator that is nobody's bridge.
func (r *rig) as(id c3po.AgentID) *client.Client {
	return client.New(client.Config{URL: r.coordinator, AgentID: id, ClientName: "test"})
}

func (r *rig) online() bool { return r.here("api") }

// listens says that its bridge waits for mail: one that has only registered may not
// have looked yet when a turn ends.
func (r *rig) listens() bool {
	agent, err := r.as("").GetAgentStatus(r.t.Context(), c3po.AgentInput{AgentID: "api"})
	return err == nil && agent.State != ""
}

// here says that an agent is online.
func (r *rig) here(id string) bool {
	agent, err := r.as("").GetAgentStatus(r.t.Context(), c3po.AgentInput{AgentID: id})
	return err == nil && agent.Status == c3po.Online
}

// reached wants senders to be told that.
func (r *rig) reached(want c3po.Reachability) {
	r.t.Helper()
	var last c3po.Reachability
	if !faultrig.Within(20*time.Second, func() bool {
		agent, err := r.as("").GetAgentStatus(r.t.Context(), c3po.AgentInput{AgentID: "api"})
		last = agent.Reachability
		return err == nil && last == want
	}) {
		r.t.Errorf("senders are told %q, want %q", last, want)
	}
}

// ask sends a question to the agent.
func (r *rig) ask(question string, change ...func(*c3po.SendInput)) c3po.Receipt {
	in := c3po.SendInput{Target: "api", Message: question}
	for _, c := range change {
		c(&in)
	}
	receipt, err := r.as("web").SendMessage(r.t.Context(), in)
	if err != nil {
		r.t.Error(err)
	}
	return receipt
}

// answered wants the answer to have come, soon.
func (r *rig) answered(receipt c3po.Receipt, want string, most int) {
	r.t.Helper()
	got, err := r.as("web").WaitForMessage(r.t.Context(), c3po.WaitInput{MessageID: receipt.ID, Timeout: most})
	if err != nil || got.Response != want {
		r.t.Fatalf("the answer is %q, %v: %+v; the model was told %d times", got.Response, err, got.Outcome, len(notice.FindAllString(r.model.read(), -1)))
	}
}

// A terminal is a client in a tmux of its own.
type terminal struct {
	*rig
	socket string
}

func (r *rig) open(argv ...string) *terminal {
	r.t.Helper()
	return r.openIn(r.project(), argv...)
}

func (r *rig) openIn(folder string, argv ...string) *terminal {
	r.t.Helper()
	term := &terminal{rig: r, socket: "c3po-" + rand.Text()[:8]}
	args := append([]string{"-L", term.socket, "-f", "/dev/null", "new-session", "-d", "-x", "140", "-y", "45", "-c", folder, "env", "-i"}, r.env()...)
	if out, err := exec.Command("tmux", append(args, argv...)...).CombinedOutput(); err != nil {
		r.t.Fatalf("tmux: %v\n%s", err, out)
	}
	r.t.Cleanup(func() { term.tmux("kill-server") })
	return term
}

func (term *terminal) tmux(args ...string) string {
	out, _ := exec.Command("tmux", append([]string{"-L", term.socket}, args...)...).Output()
	return string(out)
}

func (term *terminal) see(text string) {
	term.t.Helper()
	if !faultrig.Within(90*time.Second, func() bool { return strings.Contains(term.tmux("capture-pane", "-p", "-S", "-200"), text) }) {
		term.t.Fatalf("%q is not on the screen:\n%s", text, term.tmux("capture-pane", "-p"))
	}
}

// enter types a text and sends it. Both at once would be taken for a paste.
func (term *terminal) enter(text string) {
	term.t.Helper()
	term.tmux("send-keys", "-l", text)
	term.see(text)
	term.still(500*time.Millisecond, "")
	term.tmux("send-keys", "Enter")
}

// rest waits until the turn that runs has ended: the screen stands still.
func (term *terminal) rest() {
	term.t.Helper()
	term.still(2*time.Second, "to interrupt")
}

// still waits until the screen has stood still so long, without a text if there
// is one.
func (term *terminal) still(long time.Duration, without string) {
	term.t.Helper()
	var last string
	var since time.Time
	if !faultrig.Within(30*time.Second, func() bool {
		screen := term.tmux("capture-pane", "-p")
		if screen != last || without != "" && strings.Contains(screen, without) {
			last, since = screen, time.Now()
		}
		return time.Since(since) > long
	}) {
		term.t.Fatalf("the screen never stands still:\n%s", last)
	}
}
