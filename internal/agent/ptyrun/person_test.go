package ptyrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// chatVariable makes this test binary a program that can only read and print.
const chatVariable = "C3PO_TEST_CHAT"

func TestMain(m *testing.M) {
	if log := os.Getenv(chatVariable); log != "" {
		if err := chat(log); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	faultrig.Main(m)
}

// chat takes pastes in brackets, writes what was sent to it to a file, and
// answers a question with its own marks. A paste whose Enter comes in the same
// read is taken as one with a line break at its end, as some programs do it.
func chat(log string) error {
	before, err := term.MakeRaw(0)
	if err != nil {
		return err
	}
	defer func() { _ = term.Restore(0, before) }()
	fmt.Print("\x1b[?2004hyou: ")
	var line, whole []byte
	buffer := make([]byte, 64<<10)
	pasting := false
	for {
		n, err := os.Stdin.Read(buffer)
		if err != nil {
			return err
		}
		whole = append(whole, buffer[:n]...)
		for len(whole) > 0 {
			switch {
			case bytes.HasPrefix(whole, []byte(pasteBegin)):
				pasting, whole = true, whole[len(pasteBegin):]
				continue
			case bytes.HasPrefix(whole, []byte(pasteEnd)):
				pasting, whole = false, whole[len(pasteEnd):]
				continue
			case whole[0] == 0x1b && len(whole) < len(pasteEnd):
			case whole[0] == 0x04 && !pasting:
				return nil
			case whole[0] == '\r' && !pasting && len(whole) == 1:
				if err := os.WriteFile(log, line, 0o600); err != nil {
					return err
				}
				id := string(line[bytes.LastIndex(line, []byte("< <c3po:"))+len("< <c3po:"):])
				id, _, _ = strings.Cut(id, " ")
				fmt.Printf("\r\n<<c3po:%s\r\nI read %d bytes\r\nc3po>>\r\nyou: ", id, len(line))
				line, whole = nil, nil
				continue
			default:
				line = append(line, whole[0])
				if whole[0] >= ' ' {
					fmt.Printf("%c", whole[0])
				}
				whole = whole[1:]
				continue
			}
			break
		}
	}
}

// A testCoordinator is a coordinator, and what is common to its agents.
type testCoordinator struct {
	t   testing.TB
	url string
}

func newTestCoordinator(t testing.TB) *testCoordinator {
	t.Helper()
	return &testCoordinator{t, faultrig.Start(t, redistest.Start(t)).URL()}
}

func (w *testCoordinator) as(id c3po.AgentID) *client.Client {
	return client.New(client.Config{URL: w.url, AgentID: id, ClientName: "test"})
}

// ask sends a question and returns its id.
func (w *testCoordinator) ask(from, to, text string) c3po.MessageID {
	w.t.Helper()
	receipt, err := w.as(c3po.AgentID(from)).SendMessage(w.t.Context(), c3po.SendInput{Target: to, Message: text})
	if err != nil {
		w.t.Error(err)
	}
	return receipt.ID
}

// answerTo waits for the answer to a question.
func (w *testCoordinator) answerTo(id c3po.MessageID) string {
	w.t.Helper()
	from, _, _ := id.Split()
	got, err := w.as(from).WaitForMessage(w.t.Context(), c3po.WaitInput{MessageID: id, Timeout: 20})
	if err != nil || got.Outcome != nil {
		w.t.Fatalf("no answer to %s: %v %v", id, err, got.Outcome)
	}
	return got.Response
}

// A person sits at a terminal in which `c3po run` runs.
type person struct {
	t        testing.TB
	terminal *os.File
	cmd      *exec.Cmd
	home     string

	mu     sync.Mutex
	output bytes.Buffer
	screen *screen
}

// sit starts `c3po run` with these arguments.
func (w *testCoordinator) sit(as string, args ...string) *person {
	w.t.Helper()
	return sit(w.t, w.url, append([]string{faultrig.Binary(w.t), "run", "--as", as}, args...)...)
}

// nowhere is where no coordinator is.
const nowhere = "http://127.0.0.1:1"

func sit(t testing.TB, url string, argv ...string) *person {
	t.Helper()
	p := &person{t: t, home: faultrig.Home(t), screen: newScreen(size{100, 30})}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env = []string{
		"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "LANG=C.UTF-8", "PS1=$ ", "LESSHISTFILE=-", "HISTFILE=", "C3PO_COORDINATOR_URL=" + url, "GOTRACEBACK=all",
	}
	p.cmd.Dir = p.home
	var err error
	if p.terminal, err = pty.StartWithSize(p.cmd, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_, _ = p.cmd.Process.Wait()
		_ = p.terminal.Close()
		p.screen.close()
	})
	go p.look()
	return p
}

func (p *person) look() {
	buffer := make([]byte, 32<<10)
	for {
		n, err := p.terminal.Read(buffer)
		p.mu.Lock()
		p.output.Write(buffer[:n])
		p.screen.write(buffer[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *person) resize(columns, rows int) {
	p.t.Helper()
	if err := pty.Setsize(p.terminal, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) press(keys string) {
	p.t.Helper()
	if _, err := p.terminal.WriteString(keys); err != nil {
		p.t.Error(err)
	}
}

// printed is all that was shown so far.
func (p *person) printed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// see waits until a text was shown.
func (p *person) see(text string) {
	p.t.Helper()
	p.eventually(fmt.Sprintf("%q is shown", text), func() bool { return strings.Contains(p.printed(), text) })
}

func (p *person) eventually(what string, holds func() bool) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	for !holds() {
		if !pause(ctx, 20*time.Millisecond) {
			p.t.Fatalf("not so: %s. Shown was:\n%q\n%s", what, p.printed(), p.stuck())
		}
	}
}

// stuck says where the programs are, for a failure that nobody can repeat: ours
// ends with the stacks of its goroutines.
func (p *person) stuck() string {
	pid := strconv.Itoa(p.cmd.Process.Pid)
	processes, _ := exec.Command("ps", "-o", "pid,stat,wchan:24,args", "-p", pid, "--ppid", pid).CombinedOutput()
	shown := len(p.printed())
	_ = p.cmd.Process.Signal(syscall.SIGABRT)
	faultrig.Within(5*time.Second, func() bool { return strings.Contains(p.printed()[shown:], "\nrax ") })
	return string(processes) + p.printed()[shown:]
}

// pause reports whether the whole time passed.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// leave waits for the end and returns the exit code.
func (p *person) leave() int {
	p.t.Helper()
	stop := time.AfterFunc(time.Minute, func() { _ = p.cmd.Process.Kill() })
	defer stop.Stop()
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// script writes a program for a shell and returns its path.
func script(t testing.TB, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil { // #nosec G306 -- it is run
		t.Fatal(err)
	}
	return name
}
