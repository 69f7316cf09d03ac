package clientrig

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// A Machine is one of its own as far as a client and c3po can tell: its home, its
// temporary files and, if it has one, its name.
type Machine struct {
	T       *testing.T
	Name    string
	Dir     string
	URL     string   // of the coordinator that its agents are told of; none if empty
	Enter   []string // the command line that runs another in its network; none for the test's
	Address string   // where models listen for it
}

// NewMachine makes a machine that knows the coordinator at a URL, or none.
func NewMachine(t *testing.T, name, url string) *Machine {
	t.Helper()
	where(t)
	// Short, for the sockets in it. Codex refuses a home in the folder of temporary files.
	dir, err := os.MkdirTemp("/var/tmp", "c3")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// A client that was ended, and its session process, write to its home for a moment longer.
		faultrig.Within(10*time.Second, func() bool { return !inUse(dir) })
		faultrig.CheckLogs(t, dir)
		Eventually(t, 10*time.Second, dir+" is removed", func() bool { return os.RemoveAll(dir) == nil })
	})
	m := &Machine{T: t, Name: name, Dir: dir, URL: url, Address: "127.0.0.1"}
	for _, sub := range []string{m.Home(), filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// Machine is one whose agents know the coordinator.
func (c *Coordinator) Machine(name string) *Machine {
	c.t.Helper()
	return NewMachine(c.t, name, c.URL())
}

// inUse says that a process works in a folder.
func inUse(dir string) bool {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	return slices.ContainsFunc(links, func(link string) bool {
		at, _ := os.Readlink(link) // it may have ended
		return strings.HasPrefix(at, dir+"/")
	})
}

// Home is the home of its user.
func (m *Machine) Home() string { return filepath.Join(m.Dir, "home") }

// Write writes a file below the home.
func (m *Machine) Write(name, text string) {
	m.T.Helper()
	full := filepath.Join(m.Home(), name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, []byte(text), 0o600)); err != nil {
		m.T.Fatal(err)
	}
}

// Text is a file below the home.
func (m *Machine) Text(name string) string {
	m.T.Helper()
	text, err := os.ReadFile(filepath.Join(m.Home(), name))
	if err != nil {
		m.T.Fatal(err)
	}
	return string(text)
}

// Glob are the files below the home that match a pattern.
func (m *Machine) Glob(pattern string) []string {
	m.T.Helper()
	found, err := filepath.Glob(filepath.Join(m.Home(), pattern))
	if err != nil {
		m.T.Fatal(err)
	}
	return found
}

// Processes are those of the machine whose command line has these words.
func (m *Machine) Processes(words string) []int {
	var found []int
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		line, _ := os.ReadFile(filepath.Join(folder, "cmdline")) // it may have ended
		environment, _ := os.ReadFile(filepath.Join(folder, "environ"))
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err == nil && bytes.Contains(bytes.ReplaceAll(line, []byte{0}, []byte{' '}), []byte(words)) &&
			bytes.Contains(environment, []byte("HOME="+m.Home()+"\x00")) {
			found = append(found, pid)
		}
	}
	return found
}

// Kill ends a process that we have started, without a word to it.
func Kill(t *testing.T, pid int) {
	t.Helper()
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		t.Errorf("kill %d: %v", pid, err)
	}
}

// An Agent is a client in a project folder, with a model of its own.
type Agent struct {
	*Machine
	Client Client
	Folder string
	Model  *llm.Model
	Env    []string // further variables
	Plugin string   // the folder of c3po's plugin for Claude Code; none if empty
	Binary string   // where that plugin finds c3po; nowhere if empty
	Within []string // the command that runs the client, if not itself
}

// Agent makes a project folder of that name, and the files of a client in the home. The
// client does not run yet. Without an installed client the test is skipped.
func (m *Machine) Agent(client, project string, script llm.Script) *Agent {
	m.T.Helper()
	a := &Agent{Machine: m, Client: clients[client], Folder: filepath.Join(m.Dir, project), Binary: faultrig.Binary(m.T)}
	a.Client.bin(m.T)
	if err := os.MkdirAll(a.Folder, 0o700); err != nil {
		m.T.Fatal(err)
	}
	a.Model = llm.StartAt(m.T, m.Address, script)
	if a.Client.Files != nil {
		for name, text := range a.Client.Files(a) {
			m.Write(name, text)
		}
	}
	return a
}

// For is the same agent in a part of the test.
func (a *Agent) For(t *testing.T) *Agent {
	machine, part := *a.Machine, *a
	machine.T = t
	part.Machine = &machine
	return &part
}

// Environ are the variables of the client.
func (a *Agent) Environ() []string {
	all := []string{
		"PATH=" + a.Client.bin(a.T) + ":" + filepath.Dir(faultrig.Binary(a.T)) + ":/usr/local/bin:/usr/bin:/bin",
		"HOME=" + a.Home(), "PWD=" + a.Folder, "LANG=C.UTF-8", "TERM=xterm-256color", "NO_KEY=none",
	}
	if a.URL != "" {
		all = append(all, "C3PO_COORDINATOR_URL="+a.URL)
	}
	if a.Client.Env != nil {
		all = append(all, a.Client.Env(a)...)
	}
	return append(all, a.Env...)
}

// Argv is a command line on the machine, with its name and in its network. It replaces
// itself, so its process is that of the command.
func (a *Agent) Argv(argv ...string) []string {
	argv = slices.Clone(argv)
	if argv[0] == a.Client.Name {
		argv[0] = filepath.Join(a.Client.bin(a.T), argv[0])
	}
	if a.Name != "" {
		argv = append([]string{"unshare", "--uts", "sh", "-c", `hostname "$0" && exec "$@"`, a.Name}, argv...)
	}
	return append(slices.Clone(a.Enter), argv...)
}

// An Outcome is what a script sees of a command that has ended, and what it cost.
type Outcome struct {
	Stdout, Stderr string
	Code           int
	Requests       int // to the model
}

// Run runs a command to its end, as a script does.
func (a *Agent) Run(stdin string, argv ...string) Outcome {
	a.T.Helper()
	return a.run(nil, stdin, argv)
}

func (a *Agent) run(first []string, stdin string, argv []string) Outcome {
	a.T.Helper()
	full := a.Argv(argv...)
	// Far more than a run takes: one that is cut off for being slow looks like one that changed.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.T.Context()), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, full[0], full[1:]...)
	cmd.Dir, cmd.Env = a.Folder, append(first, a.Environ()...)
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	before := len(a.Model.Seen())
	got := End(a.T, cmd)
	got.Requests = len(a.Model.Seen()) - before
	return got
}

// End runs a command to its end, whichever that is.
func End(t *testing.T, cmd *exec.Cmd) Outcome {
	t.Helper()
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Errorf("%s: %v", strings.Join(cmd.Args, " "), err)
		return Outcome{Code: -1}
	}
	return Outcome{Stdout: out.String(), Stderr: complaint.String(), Code: cmd.ProcessState.ExitCode()}
}

// Must is Run to a good end.
func (a *Agent) Must(argv ...string) string {
	a.T.Helper()
	got := a.Run("", argv...)
	if got.Code != 0 {
		a.T.Fatalf("%s: exit code %d\n%s%s", strings.Join(argv, " "), got.Code, got.Stdout, got.Stderr)
	}
	return got.Stdout + got.Stderr
}

// C3PO is Must of c3po.
func (a *Agent) C3PO(args ...string) string {
	a.T.Helper()
	return a.Must(append([]string{faultrig.Binary(a.T)}, args...)...)
}

// Ask is one prompt without a terminal. Mail is answered in it, as a runner asks for.
func (a *Agent) Ask(prompt string, more ...string) Outcome {
	a.T.Helper()
	return a.run([]string{"C3PO_UNATTENDED=answer"}, "", a.Once(prompt, more...))
}

// Prompt is Ask to a good end, and gives all that was printed.
func (a *Agent) Prompt(prompt string) string {
	a.T.Helper()
	got := a.Ask(prompt)
	if got.Code != 0 {
		a.T.Fatalf("%s: exit code %d\n%s%s", a.Client.Name, got.Code, got.Stdout, got.Stderr)
	}
	return got.Stdout + got.Stderr
}

// Once is the command line of one prompt.
func (a *Agent) Once(prompt string, more ...string) []string {
	return append(a.command(append(slices.Clone(a.Client.Once), prompt)...), more...)
}

// command is the client with what it is always given, and what runs it.
func (a *Agent) command(args ...string) []string {
	argv := append(slices.Clone(a.Within), filepath.Join(a.Client.bin(a.T), a.Client.Name))
	argv = append(argv, a.Client.Args...)
	if a.Plugin != "" {
		argv = append(argv, "--plugin-dir", a.Plugin)
	}
	return append(argv, args...)
}
