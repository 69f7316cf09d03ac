package engine_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/engine"
)

// newConfig is a folder of the test's own, whose server is ended with the test.
func newConfig(t *testing.T) engine.Config {
	t.Helper()
	if !installed() {
		if os.Getenv("CI") == "true" {
			t.Fatal("no redis-server is installed")
		}
		t.Skip("no redis-server is installed")
	}
	dir, err := os.MkdirTemp("/tmp", "e") // short: it holds a socket
	if err != nil {
		t.Fatal(err)
	}
	cfg := engine.Config{Dir: filepath.Join(dir, "data"), Socket: filepath.Join(dir, "r.sock"), Log: slog.New(slog.DiscardHandler)}
	t.Cleanup(func() {
		if _, err := engine.Stop(context.Background(), cfg); err != nil {
			t.Error(err)
		}
		os.RemoveAll(dir)
	})
	return cfg
}

func installed() bool {
	_, err1 := exec.LookPath("redis-server")
	_, err2 := exec.LookPath("valkey-server")
	return err1 == nil || err2 == nil
}

func start(t *testing.T, cfg engine.Config) *engine.Engine {
	t.Helper()
	e, err := engine.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// do sends one command and returns the first line of the answer, and for a
// string its text.
func do(t *testing.T, socket, command string) string {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	r := bufio.NewReader(conn)
	if password := passwordBeside(socket); password != "" {
		fmt.Fprintf(conn, "AUTH %s\r\n", password)
		if line, err := r.ReadString('\n'); err != nil || line != "+OK\r\n" {
			t.Fatalf("the password is answered %q, %v", line, err)
		}
	}
	fmt.Fprintf(conn, "%s\r\n", command)
	line, err := r.ReadString('\n')
	if err == nil && line[0] == '$' && line[1] != '-' {
		line, err = r.ReadString('\n')
	}
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func kill(t *testing.T, pid int) {
	t.Helper()
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return engine.Started(pid) == 0 })
}

func eventually(t *testing.T, done func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(30 * time.Second)
	for !done() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("it did not happen within 30 s")
		}
	}
}

func TestAServerKeepsWhatItAcceptedOnDisk(t *testing.T) {
	t.Parallel()
	e := start(t, newConfig(t))
	for setting, want := range map[string]string{
		"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction", "port": "0", "unixsocketperm": "700",
	} {
		conn, err := net.Dial("unix", e.Socket)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "AUTH %s\r\nCONFIG GET %s\r\nQUIT\r\n", passwordBeside(e.Socket), setting)
		answer, err := io.ReadAll(conn)
		conn.Close()
		if err != nil || !strings.Contains(string(answer), "\r\n"+want+"\r\n") {
			t.Errorf("%s is %q, %v; want %s", setting, answer, err, want)
		}
	}
	info, err := os.Stat(e.Socket)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the socket has mode %v, %v", info.Mode(), err)
	}
}

func TestARunningServerIsAdopted(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	first := start(t, cfg)
	do(t, first.Socket, "SET k v")
	second := start(t, cfg)
	if second.PID != first.PID {
		t.Errorf("a second server was started: %d beside %d", second.PID, first.PID)
	}
	// Another session of the same user may have another folder for sockets.
	moved := cfg
	moved.Socket = cfg.Socket + "2"
	third := start(t, moved)
	if third.PID != first.PID || third.Socket != first.Socket {
		t.Errorf("a third server was started: %+v beside %+v", third, first)
	}
	if got := do(t, third.Socket, "GET k"); got != "v" {
		t.Errorf("k is %q", got)
	}
}

func TestManyStartsAtOnceMakeOneServer(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	const many = 8
	pids := make(chan int, many)
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			e, err := engine.Start(t.Context(), cfg)
			if err != nil {
				t.Error(err)
				return
			}
			pids <- e.PID
		})
	}
	all.Wait()
	close(pids)
	one := map[int]bool{}
	for pid := range pids {
		one[pid] = true
	}
	if len(one) != 1 {
		t.Errorf("the servers are %v", one)
	}
}

func TestNothingIsLostWhenTheServerIsKilled(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	first := start(t, cfg)
	for i := range 100 {
		if got := do(t, first.Socket, fmt.Sprintf("RPUSH all %d", i)); got != fmt.Sprintf(":%d", i+1) {
			t.Fatalf("RPUSH answered %q", got)
		}
	}
	kill(t, first.PID)
	second := start(t, cfg)
	if second.PID == first.PID {
		t.Fatal("the dead server was adopted")
	}
	if got := do(t, second.Socket, "LLEN all"); got != ":100" {
		t.Errorf("%s of 100 are left", got)
	}
}

func TestAServerWhoseSocketVanishedIsReplaced(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	first := start(t, cfg)
	do(t, first.Socket, "SET k v")
	// What a session manager does to the runtime folder at log-out.
	if err := os.Remove(first.Socket); err != nil {
		t.Fatal(err)
	}
	second := start(t, cfg)
	if engine.Started(first.PID) != 0 {
		t.Error("two servers use one folder")
	}
	if got := do(t, second.Socket, "GET k"); got != "v" {
		t.Errorf("k is %q", got)
	}
}

func TestAServerNobodyKnowsIsNotJoinedByAnother(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	first := start(t, cfg)
	note := filepath.Join(cfg.Dir, "engine.json")
	known, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(note); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Start(t.Context(), cfg); !errors.Is(err, c3po.RedisUnavailable) {
		t.Errorf("Start = %v, want %s", err, c3po.RedisUnavailable)
	}
	if engine.Started(first.PID) == 0 {
		t.Error("the server was ended without proof that it is ours")
	}
	if err := os.WriteFile(note, known, 0o600); err != nil {
		t.Fatal(err)
	}
}

// note writes down another server than the one that runs.
func note(t *testing.T, cfg engine.Config, socket string, pid int, started int64) {
	t.Helper()
	text := fmt.Appendf(nil, `{"socket":%q,"pid":%d,"started":%d}`, socket, pid, started)
	if err := os.WriteFile(filepath.Join(cfg.Dir, "engine.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The number in the note may be anybody's, after a restart of the machine at once.
func TestAProcessThatGotTheNumberOfAServerIsNotEnded(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	e := start(t, cfg)
	bystander := exec.Command("sleep", "600")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = bystander.Process.Kill()
		_ = bystander.Wait()
	}()
	pid := bystander.Process.Pid
	note(t, cfg, cfg.Socket+".gone", pid, engine.Started(pid)-1)
	if _, err := engine.Start(t.Context(), cfg); !errors.Is(err, c3po.RedisUnavailable) {
		t.Errorf("Start = %v, want %s", err, c3po.RedisUnavailable)
	}
	if engine.Started(pid) == 0 {
		t.Error("a process that is none of ours was ended")
	}
	note(t, cfg, e.Socket, e.PID, engine.Started(e.PID)) // for the end of the test
}

// Two servers of one user may get the same socket, one after the other.
func TestAServerWithAnotherFolderIsNeitherAdoptedNorStopped(t *testing.T) {
	t.Parallel()
	for name, copied := range map[string]bool{"a copy of ours, with its password": true, "with a password of its own": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mine, theirs := newConfig(t), newConfig(t)
			first := start(t, mine)
			if copied {
				givePassword(t, theirs.Dir, passwordBeside(first.Socket))
			}
			other := start(t, theirs)
			do(t, first.Socket, "SET k mine")
			do(t, other.Socket, "SET k theirs")
			note(t, mine, other.Socket, first.PID, engine.Started(first.PID))
			second := start(t, mine)
			if got := do(t, second.Socket, "GET k"); got != "mine" {
				t.Errorf("k is %s in the server that was found", got)
			}
			note(t, mine, other.Socket, second.PID, engine.Started(second.PID))
			if stopped, err := engine.Stop(t.Context(), mine); !stopped || err != nil {
				t.Errorf("Stop = %v, %v", stopped, err)
			}
			if engine.Started(second.PID) != 0 || engine.Started(other.PID) == 0 {
				t.Errorf("after Stop our server runs: %v, the other one: %v", engine.Started(second.PID) != 0, engine.Started(other.PID) != 0)
			}
		})
	}
}

// A new server would take the socket away, and whoever knows the old one by it
// would write into the new one's folder.
func TestASocketThatAnotherServerUsesIsNotTakenFromIt(t *testing.T) {
	t.Parallel()
	mine, theirs := newConfig(t), newConfig(t)
	other := start(t, theirs)
	do(t, other.Socket, "SET k theirs")
	mine.Socket = other.Socket
	_, err := engine.Start(t.Context(), mine)
	if !errors.Is(err, c3po.RedisUnavailable) || !strings.Contains(err.Error(), theirs.Socket) || !strings.Contains(c3po.AsError(err).Suggestion, "XDG_RUNTIME_DIR") {
		t.Errorf("Start = %v, %+v", err, c3po.AsError(err))
	}
	if got := do(t, other.Socket, "GET k"); got != "theirs" {
		t.Errorf("k is %q behind the socket", got)
	}
	if text, err := os.ReadFile(filepath.Join(mine.Dir, "redis.pid")); err == nil {
		t.Error("a server was left behind")
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			kill(t, pid) // by its number: its socket is not its own
		}
	}
}

func TestAServerWhoseStarterWasKilledIsAdopted(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	first := start(t, cfg)
	// The note as it is while a server starts.
	if err := os.WriteFile(filepath.Join(cfg.Dir, "engine.json"), fmt.Appendf(nil, `{"socket":%q}`, first.Socket), 0o600); err != nil {
		t.Fatal(err)
	}
	if second := start(t, cfg); second.PID != first.PID {
		t.Errorf("it is %d, not %d", second.PID, first.PID)
	}
}

func TestStoppingEndsTheServerAndNothingElse(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	if stopped, err := engine.Stop(t.Context(), cfg); stopped || err != nil {
		t.Errorf("with no server Stop = %v, %v", stopped, err)
	}
	e := start(t, cfg)
	do(t, e.Socket, "SET k v")
	if stopped, err := engine.Stop(t.Context(), cfg); !stopped || err != nil {
		t.Errorf("Stop = %v, %v", stopped, err)
	}
	if engine.Started(e.PID) != 0 {
		t.Error("the server is still there")
	}
	if got := do(t, start(t, cfg).Socket, "GET k"); got != "v" {
		t.Errorf("k is %q", got)
	}
}

func TestAKeptServerComesBack(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	e := start(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	again, kept := make(chan int, 1), make(chan error, 1)
	go func() { kept <- e.Keep(ctx, func(pid int) { again <- pid }) }()
	do(t, e.Socket, "SET k v")
	kill(t, e.PID)
	select {
	case pid := <-again:
		if pid == e.PID {
			t.Errorf("the new server has the old number %d", pid)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("there is no new server")
	}
	if got := do(t, e.Socket, "GET k"); got != "v" {
		t.Errorf("k is %q", got)
	}
	cancel()
	select {
	case err := <-kept:
		if err != nil {
			t.Errorf("Keep = %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("Keep goes on although it was told to end")
	}
}

func TestAServerThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	cfg.Socket = filepath.Join(cfg.Dir, strings.Repeat("s", 200))
	_, err := engine.Start(t.Context(), cfg)
	if !errors.Is(err, c3po.RedisUnavailable) || !strings.Contains(c3po.AsError(err).Suggestion, "redis.log") {
		t.Errorf("Start = %v, %+v", err, c3po.AsError(err))
	}
}

func TestAProcessNumberIsNotAProcess(t *testing.T) {
	t.Parallel()
	ours := engine.Started(os.Getpid())
	if again := engine.Started(os.Getpid()); ours == 0 || again != ours {
		t.Errorf("this process started at %d and at %d", ours, again)
	}
	if got := engine.Started(1 << 30); got != 0 {
		t.Errorf("a process that is not there started at %d", got)
	}
}
