// Package redistest gives tests a real Redis (or Valkey) server of their own:
// one for a test, one for a whole test process, one that can be killed and
// started again, or a cluster of three. It is for tests only.
//
// A machine without a server skips the tests that need one, unless CI=true:
// there a missing server is a failure, so that nothing is skipped unseen.
package redistest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const (
	startTries   = 10
	startTimeout = 20 * time.Second
	pollStep     = 10 * time.Millisecond
)

// A Server is one running server that belongs to one test.
type Server struct {
	t       testing.TB
	process *process
}

// Start starts a server for this test and returns its URL,
// "redis://127.0.0.1:PORT". It writes an AOF that is never synced, and no
// snapshots; args ("--maxmemory", "4mb") override that and anything else.
func Start(t testing.TB, args ...string) string {
	t.Helper()
	return New(t, args...).URL()
}

// New is Start for tests that hurt their server.
func New(t testing.TB, args ...string) *Server {
	t.Helper()
	return NewIn(t, nil, args...)
}

// NewIn is New with more in the server's environment, as "NAME=value".
func NewIn(t testing.TB, env []string, args ...string) *Server {
	t.Helper()
	binary := find(t)
	p, err := startAnywhere(binary, t.TempDir(), env, args)
	if err != nil {
		t.Fatalf("start a server: %v", err)
	}
	s := &Server{t: t, process: p}
	t.Cleanup(func() { s.process.kill() })
	return s
}

// A Place is where a server runs.
type Place struct {
	Dir     string // the folder of its files, perhaps those of another server
	Program string // takes the arguments of a server; the one installed here if empty
}

// NewAt is New at a place. An error says that the server does not start there.
func NewAt(t testing.TB, at Place, args ...string) (*Server, error) {
	t.Helper()
	binary := find(t)
	if at.Program != "" {
		binary = at.Program
	}
	p, err := startAnywhere(binary, at.Dir, nil, args)
	if err != nil {
		return nil, err
	}
	s := &Server{t: t, process: p}
	t.Cleanup(func() { s.process.kill() })
	return s, nil
}

// Addr is the server's "127.0.0.1:PORT". It stays the same over a Restart.
func (s *Server) Addr() string { return s.process.addr }

// URL is Addr in the form --redis takes.
func (s *Server) URL() string { return "redis://" + s.process.addr }

// Dir is the folder the server keeps its files in.
func (s *Server) Dir() string { return s.process.dir }

// PID is the process id of the server as it runs, or last ran.
func (s *Server) PID() int { return s.process.pid }

// Kill ends the server with SIGKILL and returns when it is gone. What it had
// not written to its AOF is lost.
func (s *Server) Kill() { s.process.kill() }

// Restart starts the server again on the same port and files, and returns when
// it has loaded them. A server that still runs is killed first.
func (s *Server) Restart() {
	s.t.Helper()
	if err := s.TryRestart(); err != nil {
		s.t.Fatalf("restart the server: %v", err)
	}
}

// TryRestart is Restart of a server that perhaps cannot start.
func (s *Server) TryRestart() error {
	s.process.kill()
	old := s.process
	p, err := startAt(old.binary, old.dir, old.addr, old.env, old.args)
	if err != nil {
		return err
	}
	s.process = p
	return nil
}

// Freeze stops the server with SIGSTOP: its connections stay, nothing moves.
func (s *Server) Freeze() {
	s.t.Helper()
	if err := freeze(s.process.handle); err != nil {
		s.t.Fatal(err)
	}
}

// Thaw ends a Freeze.
func (s *Server) Thaw() {
	s.t.Helper()
	if err := thaw(s.process.handle); err != nil {
		s.t.Fatal(err)
	}
}

// Ended is closed when the server has ended, by itself or by Kill. A Restart
// makes another one.
func (s *Server) Ended() <-chan struct{} { return s.process.gone }

// find returns the path of a server, or ends the test.
func find(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("neither redis-server nor valkey-server is installed")
	}
	t.Skip("neither redis-server nor valkey-server is installed")
	return ""
}

// A process is one run of a server.
type process struct {
	binary string
	dir    string
	addr   string
	env    []string // added to this process's own
	args   []string
	pid    int
	end    func() // sends SIGKILL
	handle *os.Process
	gone   chan struct{} // closed when the process was waited for
}

func (p *process) kill() {
	p.end()
	<-p.gone
}

// startAnywhere starts a server on a free port. The port is free when it is
// looked for, not for certain when the server binds it, hence the tries.
func startAnywhere(binary, dir string, env, args []string) (*process, error) {
	var failures []error
	for range startTries {
		addr, err := freeAddr(loopback)
		if err != nil {
			return nil, err
		}
		p, err := startAt(binary, dir, addr, env, args)
		if err == nil {
			return p, nil
		}
		failures = append(failures, err)
		if !errors.Is(err, errEnded) {
			break
		}
	}
	return nil, errors.Join(failures...)
}

var errEnded = errors.New("the server ended before it was ready")

// startAt starts a server on addr and waits until it has loaded its files.
func startAt(binary, dir, addr string, env, args []string) (*process, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, append([]string{
		"--bind", loopback, "--port", port, "--dir", dir, "--daemonize", "no",
		"--save", "", "--appendonly", "yes", "--appendfsync", "no",
		// A rewriting child would outlive a SIGKILL of its parent and write into
		// a folder that is being removed.
		"--auto-aof-rewrite-percentage", "0",
	}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	logPath := filepath.Join(dir, "server.log")
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log

	p := &process{binary: binary, dir: dir, addr: addr, env: env, args: args, gone: make(chan struct{})}
	if err := p.run(cmd); err != nil {
		return nil, err
	}
	if err := p.ready(); err != nil {
		p.kill()
		return nil, fmt.Errorf("%s on %s: %w\n%s", filepath.Base(binary), addr, err, tail(logPath))
	}
	return p, nil
}

// run starts cmd and waits for its end in the background. Both are done by one
// goroutine that keeps its thread: the signal that ends the server with this
// process is tied, on Linux, to the thread that started it.
func (p *process) run(cmd *exec.Cmd) error {
	dieWithParent(cmd)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
			p.end = func() { _ = cmd.Process.Kill() }
			p.handle = cmd.Process
		}
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(p.gone)
		}
	}()
	return <-started
}

// ready waits until this very process answers on its address; another server
// may have taken the port first.
func (p *process) ready() error {
	mine := fmt.Sprintf("process_id:%d\r\n", p.pid)
	return poll(startTimeout, func() (bool, error) {
		select {
		case <-p.gone:
			return false, errEnded
		default:
		}
		info, err := Do(p.addr, "INFO", "server")
		if err != nil {
			return false, nil
		}
		text, _ := info.(string)
		if !strings.Contains(text, mine) {
			return false, nil
		}
		// INFO answers while the AOF is still being read, PING does not.
		pong, err := Do(p.addr, "PING")
		return err == nil && pong == "PONG", nil
	})
}

// poll calls done every 10 ms until it is true, fails or the time is over.
func poll(limit time.Duration, done func() (bool, error)) error {
	ticks := time.NewTicker(pollStep)
	defer ticks.Stop()
	for end := time.Now().Add(limit); time.Now().Before(end); <-ticks.C {
		if ok, err := done(); ok || err != nil {
			return err
		}
	}
	return fmt.Errorf("not ready after %s", limit)
}

// loopback is where servers listen that nothing but this machine is to reach.
const loopback = "127.0.0.1"

func freeAddr(ip string) (string, error) {
	l, err := net.Listen("tcp", ip+":0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// tail returns the end of a server's log, for the message of a failed start.
func tail(path string) string {
	const most = 2000
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}
