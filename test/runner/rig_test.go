package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

const (
	stageVariable = "C3PO_RUNNER_STAGE"
	// plain is an image without our entrypoint and without Claude Code, which starts
	// at once: what a runner does is the same.
	plain = "docker.io/library/debian:bookworm-slim"
	// key opens nothing: the model is our own.
	key = "sk-none-needed-on-loopback"
)

func TestMain(m *testing.M) { faultrig.Main(m) }

// stage skips a test that does not belong to what run.sh is doing now, or if
// nothing of it is there.
func stage(t *testing.T, name string) {
	t.Helper()
	if is := os.Getenv(stageVariable); is != name {
		t.Skipf("%s is %q: make -C test runner runs this as %q", stageVariable, is, name)
	}
}

// binary is a c3po that runs in a container of whatever kind.
func binary() string { return os.Getenv("C3PO_RUNNER_BINARY") }

// A host is a user with a home, a coordinator and containers.
type host struct {
	t           *testing.T
	redis       *redistest.Server
	coordinator *faultrig.Coordinator
	home        string
	extra       []string // variables
}

func newHost(t *testing.T) *host {
	t.Helper()
	stage(t, "agents")
	return newHostOf(t)
}

func newHostOf(t *testing.T) *host {
	t.Helper()
	redis := redistest.New(t)
	c := faultrig.Start(t, redis.URL(), "--auth", "token")
	h := &host{t: t, redis: redis, coordinator: c, home: c.Home()}
	t.Cleanup(h.removeContainers)
	return h
}

// bareHost has no coordinator.
func bareHost(t *testing.T) *host {
	t.Helper()
	h := &host{t: t, home: t.TempDir()}
	t.Cleanup(h.removeContainers)
	return h
}

// env is that of commands on the host.
func (h *host) env() []string {
	env := []string{
		"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C.UTF-8", "HOME=" + h.home, "C3PO_RUNTIME=podman",
		"ANTHROPIC_API_KEY=" + key,
	}
	for _, name := range []string{"CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "C3PO_CLAUDE_BINARY", "TMPDIR"} {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return append(env, h.extra...)
}

// removeContainers takes away what a test has left, by its own label.
func (h *host) removeContainers() {
	for _, id := range h.containers() {
		_ = h.podman("rm", "-f", "-t", "0", id)
	}
}

// podman runs the runtime by itself.
func (h *host) podman(args ...string) error {
	cmd := exec.Command("podman", args...)
	cmd.Env = h.env()
	return cmd.Run()
}

func (h *host) inspect(args ...string) string {
	cmd := exec.Command("podman", args...)
	cmd.Env = h.env()
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// containers are the ids of those of this host's runner, which its rows of
// `agent ps` name.
func (h *host) containers() []string {
	cmd := exec.Command(binary(), "agent", "ps", "--json")
	cmd.Env = h.env()
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	var rows []struct{ Name string }
	if json.Unmarshal(out, &rows) != nil {
		return nil
	}
	var names []string
	for _, row := range rows {
		names = append(names, row.Name)
	}
	return names
}

// workspace makes a folder that a user who is not root may write to.
func (h *host) workspace(name string) string {
	h.t.Helper()
	dir := filepath.Join(h.t.TempDir(), name)
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chown(dir, 1000, 1000)); err != nil {
		h.t.Fatal(err)
	}
	return dir
}

// agents writes agents.yaml.
func (h *host) agents(text string) {
	h.t.Helper()
	folder := filepath.Join(h.home, ".config", "c3po")
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "agents.yaml"), []byte(text), 0o600)); err != nil {
		h.t.Fatal(err)
	}
}

// alsoAgents adds to it.
func (h *host) alsoAgents(text string) {
	h.t.Helper()
	before, err := os.ReadFile(filepath.Join(h.home, ".config", "c3po", "agents.yaml"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.agents(string(before) + text)
}

// indent puts a script under a key of YAML.
func indent(script string) string {
	return "      " + strings.ReplaceAll(strings.TrimSpace(script), "\n", "\n      ")
}

// An outcome is how a command ended.
type outcome struct {
	code   int
	stdout string
	stderr string
}

// c3po runs a command in a folder to its end.
func (h *host) c3po(folder, stdin string, args ...string) outcome {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 2*time.Minute)
	defer cancel()
	return h.run(exec.CommandContext(ctx, binary(), args...), folder, stdin)
}

func (h *host) run(cmd *exec.Cmd, folder, stdin string) outcome {
	h.t.Helper()
	var out, complaint bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = folder, h.env(), strings.NewReader(stdin), &out, &complaint
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		h.t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), complaint.String()}
}

// A started command runs beside the test.
type started struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  *faultrig.Buffer
	done chan struct{}
}

// start starts a command that goes on.
func (h *host) start(args ...string) *started {
	h.t.Helper()
	s := &started{t: h.t, out: &faultrig.Buffer{}, done: make(chan struct{})}
	s.cmd = exec.Command(binary(), args...)
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = h.env(), s.out, s.out
	// A client that the runner has started may outlive it, and hold the pipe.
	s.cmd.WaitDelay = 5 * time.Second
	if err := s.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.done)
	}()
	h.t.Cleanup(func() {
		s.signal(syscall.SIGKILL)
		<-s.done
		faultrig.CheckLog(h.t, "c3po "+strings.Join(args, " "), s.out.String())
		if h.t.Failed() {
			h.t.Logf("c3po %v said:\n%s", args, s.out)
		}
	})
	return s
}

func (s *started) signal(signal syscall.Signal) { _ = s.cmd.Process.Signal(signal) }

// ended waits for the end and gives the exit code.
func (s *started) ended(most time.Duration) int {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(most):
		s.t.Fatalf("it has not ended within %v:\n%s", most, s.out)
	}
	return s.cmd.ProcessState.ExitCode()
}

// as is a client of an agent of the same host that runs in no container.
func (h *host) as(id c3po.AgentID) *client.Client {
	h.t.Helper()
	mine, err := paths.ReadCredentials(filepath.Join(h.home, ".config", "c3po"))
	if err != nil || mine == nil {
		h.t.Fatalf("no credentials: %v", err)
	}
	return client.New(client.Config{URL: mine.URL, Token: mine.Token, AgentID: id, ClientName: "test"})
}

// admin is a client of the person.
func (h *host) admin() *client.Client {
	h.t.Helper()
	return client.New(client.Config{URL: h.coordinator.URL(), Token: h.adminToken(), ClientName: "test"})
}

// adminToken is one that is good over HTTP too, unlike the person's own.
func (h *host) adminToken() string {
	h.t.Helper()
	person, err := paths.ReadPerson(filepath.Join(h.home, ".config", "c3po"))
	if err != nil || person == nil {
		h.t.Fatalf("no person: %v", err)
	}
	here := client.New(client.Config{URL: person.URL, Socket: person.SocketOf(person.URL), Token: person.Admin, ClientName: "test"})
	made, err := here.CreateToken(h.t.Context(), c3po.TokenInput{Role: c3po.RoleAdmin, Spaces: []string{"main", "*"}})
	if err != nil {
		h.t.Fatal(err)
	}
	return made.Secret
}

// eventually polls until something holds, or fails.
func eventually(t *testing.T, most time.Duration, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(most); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", most, what)
		}
	}
}

func lines(name string) []string {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return strings.Fields(string(data))
}

func writeFile(name string) error { return os.WriteFile(name, nil, 0o600) }
