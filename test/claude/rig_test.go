package claude_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

const (
	// installed is the variable that says where test/clients.sh has put the clients.
	installed = "C3PO_CLIENTS"
	// key opens nothing: the model is our own.
	key = "none-needed-on-loopback"
)

func TestMain(m *testing.M) { faultrig.Main(m) }

// claudeBinary is the real program. Without it, and outside of a network of its
// own, the tests are skipped: run.sh sets both up.
func claudeBinary(t *testing.T) string {
	t.Helper()
	folder := os.Getenv(installed)
	if folder == "" {
		t.Skip(installed + " is not set: make -C test claude runs this")
	}
	return filepath.Join(folder, "claude", "node_modules", ".bin", "claude")
}

// A testCoordinator is a coordinator with a Redis of its own. Where a host has started one
// itself it has none.
type testCoordinator struct {
	t           *testing.T
	redis       *redistest.Server
	coordinator *faultrig.Coordinator
}

func newTestCoordinator(t *testing.T, settings ...string) *testCoordinator {
	t.Helper()
	claudeBinary(t)
	redis := redistest.New(t)
	return &testCoordinator{t: t, redis: redis, coordinator: faultrig.StartWith(t, redis.URL(), strings.Join(settings, ""))}
}

// as is a client of the coordinator that is nobody's session process.
func (w *testCoordinator) as(id c3po.AgentID) *client.Client {
	return client.New(client.Config{URL: w.coordinator.URL(), AgentID: id, ClientName: "test"})
}

func (w *testCoordinator) status(id c3po.AgentID) c3po.Status {
	agent, err := w.as("").GetAgentStatus(w.t.Context(), c3po.AgentInput{AgentID: string(id)})
	if err != nil {
		return c3po.Status(err.Error())
	}
	return agent.Status
}

// A host is a machine of its own as far as Claude Code and c3po can tell: its
// name, its home, its temporary files.
type host struct {
	*testCoordinator
	name    string
	dir     string
	network *network // the one of the tests if nil
}

func (w *testCoordinator) host(name string) *host {
	w.t.Helper()
	// Short, for the sockets in it.
	dir, err := os.MkdirTemp("", "c3e")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		faultrig.CheckLogs(w.t, dir)
		// A session that was ended writes to its home for a moment longer.
		eventually(w.t, 10*time.Second, "the home is removed", func() bool { return os.RemoveAll(dir) == nil })
	})
	for _, sub := range []string{"home/.claude", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			w.t.Fatal(err)
		}
	}
	return &host{testCoordinator: w, name: name, dir: dir}
}

func (h *host) home() string { return filepath.Join(h.dir, "home") }

// An agent is Claude Code in a folder, with a model of its own.
type agent struct {
	*host
	folder string
	model  *model
	extra  []string // variables
	plugin string   // its folder; none if it is installed
	within []string // the command that runs it, if not itself
	size   [2]int   // columns and rows of its terminals; 160 and 50 if it has none
}

// agent makes a project folder of that name. The agent does not run yet.
func (h *host) agent(project string, thinks brain) *agent {
	h.t.Helper()
	folder := filepath.Join(h.dir, project)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		h.t.Fatal(err)
	}
	plugin, err := filepath.Abs("../../plugin")
	if err != nil {
		h.t.Fatal(err)
	}
	a := &agent{host: h, folder: folder, plugin: plugin, extra: []string{"C3PO_BINARY=" + faultrig.Binary(h.t)}}
	if h.network != nil {
		a.model = newModelAt(h.t, h.network.model, thinks)
	} else {
		a.model = newModel(h.t, thinks)
	}
	if h.coordinator != nil {
		a.extra = append(a.extra, "C3PO_COORDINATOR_URL="+h.coordinator.URL())
	}
	return a
}

func (a *agent) env() []string {
	return append([]string{
		"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C.UTF-8", "TERM=xterm-256color",
		"HOME=" + a.home(), "CLAUDE_CONFIG_DIR=" + filepath.Join(a.home(), ".claude"), "TMPDIR=" + filepath.Join(a.dir, "tmp"),
		"PWD=" + a.folder, "ANTHROPIC_BASE_URL=" + a.model.URL,
		"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1",
		"ANTHROPIC_API_KEY=" + key,
	}, a.extra...)
}

// onHost is a command line that runs with the host's own name and network. It
// replaces itself, so its process is that of the command.
func (a *agent) onHost(argv ...string) []string {
	argv = append([]string{"unshare", "--uts", "sh", "-c", `hostname "$0" && exec "$@"`, a.name}, argv...)
	if a.network != nil {
		return a.network.inside(argv...)
	}
	return argv
}

func (a *agent) arguments(more ...string) []string {
	args := append(slices.Clone(a.within), claudeBinary(a.t), "--permission-mode", "manual")
	if a.plugin != "" {
		args = append(args, "--plugin-dir", a.plugin)
	}
	return append(args, more...)
}

// printed is how a `claude -p` went.
type printed struct {
	records []record
	result  string
	took    time.Duration
}

type record struct {
	Type    string          `json:"type"`
	Subtype string          `json:"subtype"`
	Result  string          `json:"result"`
	Session string          `json:"session_id"`
	raw     json.RawMessage // the whole
}

func (p printed) text() string {
	var all strings.Builder
	for _, r := range p.records {
		all.Write(r.raw)
		all.WriteByte('\n')
	}
	return all.String()
}

// print runs `claude -p` to its end, which must be a good one. Mail is answered in
// it, as a runner asks for.
func (a *agent) print(prompt string, more ...string) printed {
	a.t.Helper()
	p, err := a.try(prompt, more...)
	if err != nil {
		a.t.Fatal(err)
	}
	return p
}

func (a *agent) try(prompt string, more ...string) (printed, error) {
	ctx, cancel := context.WithTimeout(a.t.Context(), 2*time.Minute)
	defer cancel()
	argv := a.onHost(a.arguments(append([]string{"-p", prompt, "--output-format", "stream-json", "--verbose", "--include-hook-events"}, more...)...)...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = a.folder, append([]string{"C3PO_UNATTENDED=answer"}, a.env()...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return printed{}, fmt.Errorf("claude -p: %w\n%s\n%s", err, complaint.String(), out.String())
	}
	p := printed{took: time.Since(began)}
	lines := bufio.NewScanner(&out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		r := record{raw: slices.Clone(lines.Bytes())}
		if json.Unmarshal(r.raw, &r) != nil {
			continue
		}
		p.records = append(p.records, r)
		if r.Type == "result" {
			p.result = r.Result
		}
	}
	return p, lines.Err()
}

// eventually polls until what holds, or fails.
func eventually(t *testing.T, most time.Duration, what string, holds func() bool) {
	t.Helper()
	if !faultrig.Within(most, holds) {
		t.Fatalf("not within %v: %s", most, what)
	}
}

// processes lists those of the host whose command line has these words.
func (h *host) processes(words string) []int {
	var found []int
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		line, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		environment, _ := os.ReadFile(filepath.Join(folder, "environ"))
		var pid int
		if err := json.Unmarshal([]byte(filepath.Base(folder)), &pid); err != nil {
			continue
		}
		if bytes.Contains(bytes.ReplaceAll(line, []byte{0}, []byte{' '}), []byte(words)) &&
			bytes.Contains(environment, []byte("HOME="+h.home()+"\x00")) {
			found = append(found, pid)
		}
	}
	return found
}

func alive(pid int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	return err == nil
}

// kill ends a process that we have started, without a word to it.
func kill(t *testing.T, pid int) {
	t.Helper()
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		t.Errorf("kill %d: %v", pid, err)
	}
}

// blackHole takes connections and never says a word.
func blackHole(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return "http://" + listener.Addr().String()
}
