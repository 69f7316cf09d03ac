// Package quickstart types what the quick starts of the documents say, in the
// terminals they name, and compares what is printed with what they show.
package quickstart_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// patience is how long a command of a page may take here.
const patience = 2 * time.Minute

func TestTheQuickStartOnOneMachine(t *testing.T) {
	t.Parallel()
	needs(t, "ip", "redis-server", "bash")
	machine := newHost(t, "one")
	machine.put(faultrig.Binary(t))
	follow(t, "quickstart.md", map[string]*host{"": machine, "api": machine, "web": machine})
}

func TestTheQuickStartWithANASAndTwoHosts(t *testing.T) {
	t.Parallel()
	needs(t, "ip", "redis-server", "bash", "curl")
	nas, laptop, desktop := newHost(t, "nas"), newHost(t, "lap"), newHost(t, "dsk")
	// The NAS is the switch too.
	nas.ip("link", "add", "lan", "type", "bridge")
	nas.ip("address", "add", "192.168.1.10/24", "dev", "lan")
	nas.ip("link", "set", "lan", "up")
	for number, other := range map[int]*host{21: laptop, 22: desktop} {
		port := fmt.Sprintf("port%d", number)
		other.ip("link", "add", "eth0", "type", "veth", "peer", "name", port, "netns", nas.space)
		nas.ip("link", "set", port, "master", "lan", "up")
		other.ip("address", "add", fmt.Sprintf("192.168.1.%d/24", number), "dev", "eth0")
		other.ip("link", "set", "eth0", "up")
	}
	nas.put(faultrig.Binary(t))
	follow(t, "quickstart-hosts.md", map[string]*host{"nas": nas, "laptop": laptop, "desktop": desktop})
}

// The runtime and the images are there when test/deploy asks for it.
func TestTheQuickStartWithContainers(t *testing.T) {
	program, port := os.Getenv("C3PO_QUICKSTART_PROGRAM"), os.Getenv("C3PO_PORT")
	if program == "" || port == "" {
		t.Skip("test/deploy runs this, which has a container runtime")
	}
	nas, laptop := &host{t: t, home: t.TempDir()}, &host{t: t, home: t.TempDir()}
	for _, h := range []*host{nas, laptop} {
		h.put(program)
		h.extra = append(os.Environ(), "HOME="+h.home, "PATH="+filepath.Join(h.home, "bin")+":"+os.Getenv("PATH"))
	}
	if err := os.CopyFS(filepath.Join(nas.home, "deploy"), os.DirFS("../../deploy")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		down := nas.command(context.WithoutCancel(t.Context()), "docker", "compose", "down", "-v")
		down.Dir = filepath.Join(nas.home, "deploy")
		_ = down.Run()
	})
	// Nobody has that address here, and somebody may have that port.
	follow(t, "quickstart-containers.md", map[string]*host{"nas": nas, "laptop": laptop}, "192.168.1.10", "127.0.0.1", ":8420", ":"+port)
}

// follow does what a page says, with some of its words, and what they are here.
func follow(t *testing.T, page string, hosts map[string]*host, replaced ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs/start", page))
	if err != nil {
		t.Fatal(err)
	}
	followText(t, "docs/start/"+page, strings.NewReplacer(replaced...).Replace(string(text)), hosts)
}

// followText does what the text of a page says.
func followText(t *testing.T, page, text string, hosts map[string]*host) {
	t.Helper()
	blocks, err := parsePage(text)
	if err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	seen := &names{real: map[string]string{}}
	terminals := map[string]*terminal{}
	for name, where := range hosts {
		terminals[name] = where.open(name)
	}
	var beside sync.WaitGroup
	began := time.Now()
	for _, b := range blocks {
		screen := terminals[b.terminal]
		if screen == nil {
			t.Fatalf("%s:%d: no terminal is called %q, but %v", page, b.line, b.terminal, slices.Sorted(maps.Keys(hosts)))
		}
		run := func() {
			for _, s := range b.steps {
				command := seen.command(s.command)
				printed, err := screen.run(t.Context(), command)
				if err == nil {
					err = seen.compare(s.prints, printed)
				}
				if err != nil {
					t.Errorf("%s:%d: %s: %v\nprinted:\n%s", page, s.line, command, err, strings.Join(printed, "\n"))
					return
				}
			}
		}
		if b.waits {
			beside.Go(run)
			continue
		}
		run()
		beside.Wait()
		if t.Failed() {
			return
		}
	}
	t.Logf("%s: %d blocks, all as they are shown, in %v", page, len(blocks), time.Since(began).Round(time.Millisecond))
}

// A host is a home, and a network of its own.
type host struct {
	t     *testing.T
	space string // of the network; that of this machine if empty
	root  string // of the files; that of this machine if empty
	home  string
	extra []string // variables, in place of ours
}

func newHost(t *testing.T, name string) *host {
	t.Helper()
	h := &host{t: t, space: fmt.Sprintf("c3q%d-%s", os.Getpid(), name), home: t.TempDir()}
	if out, err := exec.Command("ip", "netns", "add", h.space).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", h.space).Run() })
	h.ip("link", "set", "lo", "up")
	bin := filepath.Join(h.home, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	h.extra = []string{"HOME=" + h.home, "PATH=" + bin + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "C3PO_BIN=" + bin, "LANG=C.UTF-8"}
	t.Cleanup(func() { // before the network goes
		down := h.command(context.WithoutCancel(t.Context()), "c3po", "down")
		_ = down.Run()
	})
	return h
}

func (h *host) ip(args ...string) {
	h.t.Helper()
	if out, err := exec.Command("ip", append([]string{"-n", h.space}, args...)...).CombinedOutput(); err != nil {
		h.t.Fatalf("ip %v: %v: %s", args, err, out)
	}
}

// put installs the program.
func (h *host) put(program string) {
	h.t.Helper()
	bin := filepath.Join(h.home, "bin")
	text, err := os.ReadFile(program)
	if err := errors.Join(err, os.MkdirAll(bin, 0o755), os.WriteFile(filepath.Join(bin, "c3po"), text, 0o755)); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) command(ctx context.Context, args ...string) *exec.Cmd {
	if h.root != "" {
		args = append([]string{"chroot", h.root, "env", "-i", "-C", h.home}, append(slices.Clone(h.extra), args...)...)
		return exec.CommandContext(ctx, args[0], args[1:]...)
	}
	if h.space != "" {
		args = append([]string{"ip", "netns", "exec", h.space, "env", "-i"}, append(slices.Clone(h.extra), args...)...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = h.home
	if h.space == "" {
		cmd.Env = h.extra
	}
	return cmd
}

// A terminal is a shell that goes on from one block to the next.
type terminal struct {
	name  string
	input io.Writer
	lines chan string
}

const ended = "--the-command-has-ended-with-"

func (h *host) open(name string) *terminal {
	h.t.Helper()
	// It ends with its input, after the last command.
	shell := h.command(context.WithoutCancel(h.t.Context()), "bash", "--noprofile", "--norc")
	input, err := shell.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	output, err := shell.StdoutPipe()
	if err := errors.Join(err, shell.Start()); err != nil {
		h.t.Fatal(err)
	}
	at := &terminal{name: name, input: input, lines: make(chan string)}
	over := make(chan struct{})
	go func() {
		defer close(at.lines)
		for scan := bufio.NewScanner(output); scan.Scan(); {
			select {
			case at.lines <- scan.Text():
			case <-over:
			}
		}
	}()
	h.t.Cleanup(func() {
		close(over)
		input.Close()
		// A command that hangs has its own end; the shell does not wait for us.
		stop := time.AfterFunc(5*time.Second, func() { _ = shell.Process.Kill() })
		_ = shell.Wait()
		stop.Stop()
	})
	return at
}

// run types a command and reads what it prints, which must be all right.
func (at *terminal) run(ctx context.Context, command string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := fmt.Fprintf(at.input, "{ %s\n} </dev/null 2>&1; echo; echo %s$?\n", command, ended); err != nil {
		return nil, err
	}
	var printed []string
	for {
		select {
		case <-ctx.Done():
			return printed, fmt.Errorf("it goes on for longer than %v", patience)
		case line, open := <-at.lines:
			if !open {
				return printed, errors.New("the shell has ended")
			}
			code, over := strings.CutPrefix(line, ended)
			if !over {
				printed = append(printed, strings.TrimRight(line, " "))
				continue
			}
			printed = printed[:len(printed)-1] // our empty line, which ends one of theirs that nothing ends
			for len(printed) > 0 && printed[len(printed)-1] == "" {
				printed = printed[:len(printed)-1]
			}
			if code != "0" {
				return printed, errors.New("exit code " + code)
			}
			return printed, nil
		}
	}
}

func TestMain(m *testing.M) { faultrig.Main(m) }

// needs skips a test where something is missing; in CI nothing may be.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	why := ""
	if os.Geteuid() != 0 {
		why = "only root can make network namespaces"
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			why = program + " is not installed"
		}
	}
	if why == "" {
		probe := "c3q-probe-" + t.Name() + strconv.Itoa(os.Getpid())
		if out, err := exec.Command("ip", "netns", "add", probe).CombinedOutput(); err != nil {
			why = "network namespaces cannot be made here: " + string(out)
		}
		_ = exec.Command("ip", "netns", "del", probe).Run()
	}
	switch {
	case why == "":
	case os.Getenv("CI") == "true":
		t.Fatal(why)
	default:
		t.Skip(why)
	}
}
