package faultrig

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	readyTimeout = time.Minute
	// endTimeout is more than a coordinator may take to drain.
	endTimeout = 30 * time.Second
)

// A Coordinator is a `c3po serve` of its own process. Its methods are for one
// goroutine, the one that breaks things.
type Coordinator struct {
	t       testing.TB
	binary  string
	host    *Host // nil for this one
	args    []string
	home    string
	log     string
	url     string
	process *process
}

// Start starts a coordinator on a free port of loopback, without a limit on
// sends, and returns when it serves. flags are further ones of `c3po serve`.
func Start(t testing.TB, redisURL string, flags ...string) *Coordinator {
	t.Helper()
	return StartWith(t, redisURL, "", flags...)
}

// StartWith is Start with a c3po.yaml.
func StartWith(t testing.TB, redisURL, settings string, flags ...string) *Coordinator {
	t.Helper()
	return startOf(t, Binary(t), nil, redisURL, settings, flags)
}

// StartOf is Start of another binary: one of a version before.
func StartOf(t testing.TB, binary, redisURL string, flags ...string) *Coordinator {
	t.Helper()
	return startOf(t, binary, nil, redisURL, "", flags)
}

// StartOn is Start on a host of a Network, in the clear.
func StartOn(t testing.TB, host *Host, redisURL string, flags ...string) *Coordinator {
	t.Helper()
	return startOf(t, Binary(t), host, redisURL, "", append([]string{"--tls", "off"}, flags...))
}

func startOf(t testing.TB, binary string, host *Host, redisURL, settings string, flags []string) *Coordinator {
	t.Helper()
	home := Home(t)
	folder := filepath.Join(home, ".config", "c3po")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "c3po.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &Coordinator{
		t: t, binary: binary, host: host,
		args: append([]string{"serve", "--auth", "none", "--redis", redisURL, "--sends-per-minute", "0", "--budgets", "off"}, flags...),
		home: home, log: filepath.Join(home, "coordinator.log"),
	}
	if host == nil {
		c.start("127.0.0.1:0")
	} else {
		c.start(host.Address() + ":0")
	}
	t.Cleanup(func() {
		c.end(syscall.SIGKILL)
		if t.Failed() {
			t.Logf("the end of the log of %s:\n%s", c.url, tail(c.Log()))
		}
	})
	return c
}

// URL is where it listens. It stays the same over a Restart.
func (c *Coordinator) URL() string { return c.url }

// Home is the home of the user it runs as, where it keeps its files.
func (c *Coordinator) Home() string { return c.home }

// PID is the process id as it runs, or last ran.
func (c *Coordinator) PID() int { return c.process.handle.Pid }

// Log is everything the coordinator has logged so far, over all its runs.
func (c *Coordinator) Log() string {
	text, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Kill ends it with SIGKILL and returns when it is gone.
func (c *Coordinator) Kill() { c.end(syscall.SIGKILL) }

// Stop ends it with SIGTERM and returns when it has drained. It must end well.
func (c *Coordinator) Stop() {
	c.t.Helper()
	timer := time.AfterFunc(endTimeout, func() { _ = c.process.handle.Kill() })
	c.end(syscall.SIGTERM)
	timer.Stop()
	if c.process.err != nil {
		c.t.Errorf("coordinator %s did not stop well: %v", c.url, c.process.err)
	}
}

// Restart starts it again on the same port. One that still runs is killed first.
func (c *Coordinator) Restart() {
	c.t.Helper()
	c.end(syscall.SIGKILL)
	was := c.url
	_, listen, _ := strings.Cut(was, "://")
	c.start(listen)
	if c.url != was {
		c.t.Fatalf("the coordinator of %s came back on %s: the port was taken meanwhile", was, c.url)
	}
}

// Replace stops it, as an upgrade does, and starts another binary on the same
// port.
func (c *Coordinator) Replace(binary string) {
	c.t.Helper()
	c.Stop()
	c.binary = binary
	c.Restart()
}

// Freeze stops it with SIGSTOP: its connections stay, nothing moves. Thaw lets
// it go on.
func (c *Coordinator) Freeze() {
	c.t.Helper()
	if err := freeze(c.process.handle); err != nil {
		c.t.Fatal(err)
	}
}

// Thaw ends a Freeze.
func (c *Coordinator) Thaw() {
	c.t.Helper()
	if err := thaw(c.process.handle); err != nil {
		c.t.Fatal(err)
	}
}

func (c *Coordinator) end(signal os.Signal) {
	if err := c.process.end(signal); err != nil {
		c.t.Errorf("end coordinator %d: %v", c.PID(), err)
	}
}

// start starts it until it serves. Like a service manager it starts one again that found no
// Redis: on a busy machine both may need more time than a coordinator waits for its Redis.
func (c *Coordinator) start(listen string) {
	c.t.Helper()
	for end := time.Now().Add(readyTimeout); ; {
		err := c.tryStart(listen)
		if err == nil {
			return
		}
		log := tail(c.Log())
		if time.Now().After(end) || !strings.Contains(log, "Redis cannot be reached") {
			c.t.Fatalf("start a coordinator on %s: %v\n%s", listen, err, log)
		}
	}
}

func (c *Coordinator) tryStart(listen string) error {
	c.t.Helper()
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	said, stdout, err := os.Pipe()
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := c.host.command(c.binary, append(c.args, "--listen", listen)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = c.environment(), stdout, log
	c.process, err = run(cmd)
	_ = stdout.Close()
	if err != nil {
		_ = said.Close()
		c.t.Fatal(err)
	}
	c.url, err = readyLine(said)
	// Whatever else it says must not block it, nor end it with a broken pipe.
	go func() {
		defer said.Close()
		_, _ = io.Copy(io.Discard, said)
	}()
	if err != nil {
		_ = c.process.end(syscall.SIGKILL)
	}
	return err
}

// environment is this process's, without what would configure the coordinator.
func (c *Coordinator) environment() []string {
	env := []string{"HOME=" + c.home}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "C3PO_") && !strings.HasPrefix(name, "XDG_") && name != "REDIS_URL" && name != "HOME" {
			env = append(env, entry)
		}
	}
	return env
}

// readyLine reads the one line that says where the coordinator listens.
func readyLine(from *os.File) (url string, err error) {
	if err := from.SetReadDeadline(time.Now().Add(readyTimeout)); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(from).ReadString('\n')
	_ = from.SetReadDeadline(time.Time{})
	if err == io.EOF {
		return "", fmt.Errorf("it ended before it was ready")
	}
	if err != nil {
		return "", err
	}
	url, found := strings.CutPrefix(strings.TrimSpace(line), "c3po listens on ")
	_, address, _ := strings.Cut(url, "://")
	if _, _, err := net.SplitHostPort(address); !found || err != nil {
		return "", fmt.Errorf("it said %q", line)
	}
	return url, nil
}

func tail(text string) string {
	const most = 4000
	return text[max(0, len(text)-most):]
}
