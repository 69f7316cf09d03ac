package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

func logName(dir string) string { return filepath.Join(dir, "redis.log") }

// settings are those of a server whose accepted writes must survive a power
// cut and must never be evicted.
func settings(cfg Config) []string {
	return []string{
		"--port", "0", // only the socket, which only its owner can open
		"--unixsocket", cfg.Socket,
		"--unixsocketperm", "700",
		"--dir", cfg.Dir,
		"--appendonly", "yes",
		"--appendfsync", "always",
		"--aof-load-truncated", "yes", // a write that was cut off was never acknowledged
		"--maxmemory-policy", "noeviction",
		"--save", "",
		"--daemonize", "no",
		"--pidfile", filepath.Join(cfg.Dir, "redis.pid"),
		"--logfile", logName(cfg.Dir),
	}
}

// launch starts a server that inherits the lock on its folder, and returns when
// it answers.
func launch(ctx context.Context, cfg Config, password string, alive *paths.Lock) (*Engine, error) {
	command, isLauncher, err := starter(cfg.Dir)
	if err != nil {
		return nil, err
	}
	patience := reachTime
	if isLauncher {
		// What it starts need not see any other folder, and may take longer.
		cfg.Socket, patience = filepath.Join(cfg.Dir, "redis.sock"), launcherTime
	}
	program := command[0]
	// A new server would take the socket from whoever has it. With the lock in our
	// hands that is none of ours.
	at := door{cfg.Socket, password}
	if theirs, err := configuredFolder(at); err == nil {
		return nil, foreign(cfg.Socket, theirs, cfg.Dir)
	} else if errors.Is(err, errLocked) {
		return nil, c3po.Errorf(c3po.RedisUnavailable, "the Redis on %s has a password that is not the one in %s", cfg.Socket, cfg.Dir).
			Suggest("Stop it, or set XDG_RUNTIME_DIR to a folder of your own.")
	}
	if err := closeFiles(cfg.Dir); err != nil {
		return nil, err
	}
	// Written first, so that a server whose starter was ended can be found.
	n := note{Socket: cfg.Socket}
	if err := n.write(cfg.Dir); err != nil {
		return nil, err
	}
	cmd := privateCommand(program, slices.Concat(command[1:], []string{passwordName(cfg.Dir)}, settings(cfg)))
	cmd.ExtraFiles = []*os.File{alive.File()}
	// A pipe to us would end the server when it writes after we have ended; its
	// settings are refused on stderr before it opens its log, hence a file.
	stderr, err := os.CreateTemp("", "c3po-redis-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(stderr.Name())
	defer stderr.Close()
	cmd.Stdout, cmd.Stderr = stderr, stderr
	Detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, c3po.Errorf(c3po.RedisUnavailable, "cannot start %s: %w", program, err).Suggest("Check that it is a Redis or Valkey server.")
	}
	var how error
	ended := make(chan struct{})
	go func() {
		how = cmd.Wait()
		close(ended)
	}()

	answers := make(chan error, 1)
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { answers <- reachWithin(watching, at, cfg.Dir, patience) }()
	select {
	case err = <-answers:
	case <-ended:
		cancel()
		<-answers
		if err = errors.New("it ended at once"); how != nil {
			err = fmt.Errorf("it ended at once: %w", how)
		}
	}
	if err != nil {
		endUnreached(cmd.Process, ended)
		complaints, _ := os.ReadFile(stderr.Name())
		return nil, notStarted(cfg, program, string(complaints), err)
	}
	n.PID, n.Started = cmd.Process.Pid, Started(cmd.Process.Pid)
	if err := n.write(cfg.Dir); err != nil {
		return nil, err
	}
	cfg.Log.InfoContext(ctx, "started redis", "pid", n.PID, "program", program, "socket", n.Socket)
	return &Engine{cfg: cfg, password: password, Socket: n.Socket, PID: n.PID, New: true}, nil
}

// endUnreached ends a server that nobody could reach: it would hold the folder.
func endUnreached(process *os.Process, ended <-chan struct{}) {
	_ = Terminate(process.Pid) // it may have ended by itself
	select {
	case <-ended:
	case <-time.After(dyingTime):
		_ = process.Kill()
		<-ended
	}
}

func notStarted(cfg Config, program, complaints string, cause error) error {
	reason := lastLine(complaints)
	if reason == "" {
		log, _ := os.ReadFile(logName(cfg.Dir))
		reason = lastLine(string(log))
	}
	if reason != "" {
		reason = ": " + reason
	}
	return c3po.Errorf(c3po.RedisUnavailable, "%s did not start%s (%w)", program, reason, cause).
		Suggest("Its log is %s.", logName(cfg.Dir))
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// Program looks for a server on the PATH.
func Program() (string, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if program, err := exec.LookPath(name); err == nil {
			return filepath.Abs(program)
		}
	}
	return "", c3po.Errorf(c3po.RedisUnavailable, "neither redis-server nor valkey-server is installed").
		Suggest("%s", howToInstall(onPath, os.Geteuid() == 0))
}

func onPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// HowToInstallFor says how a Redis comes to this system, and what to do then.
func HowToInstallFor(command string) string {
	if line := packageLine(onPath, os.Geteuid() == 0); line != "" {
		return "Run `" + line + "`, then `" + command + "` again."
	}
	return "Install Redis 7 or Valkey, then run `" + command + "` again."
}

// packageLine installs a Redis with the package manager of this system; empty if none
// is known. Root needs no sudo, and often has none.
func packageLine(has func(string) bool, root bool) string {
	for _, way := range []struct{ program, line string }{
		{"apt-get", "sudo apt-get install redis-server"},
		{"dnf", "sudo dnf install valkey"},
		{"apk", "sudo apk add redis"},
		{"pacman", "sudo pacman -S valkey"},
		{"brew", "brew install redis"},
	} {
		if has(way.program) && root {
			return strings.TrimPrefix(way.line, "sudo ")
		}
		if has(way.program) {
			return way.line
		}
	}
	return ""
}

// howToInstall names the lines that help c3po up on this system.
func howToInstall(has func(string) bool, root bool) string {
	var lines []string
	if line := packageLine(has, root); line != "" {
		lines = append(lines, "Run `"+line+"`, then `c3po up` again.")
	}
	for _, runtime := range []string{"docker", "podman"} {
		if has(runtime) {
			lines = append(lines, "Or run Redis in a container: `c3po up --redis-container "+runtime+"`.")
			break
		}
	}
	if len(lines) > 0 {
		lines[0] = strings.Replace(lines[0], "Or run", "Run", 1)
		return strings.Join(lines, " ")
	}
	return "Install Redis 7 or Valkey, or give the address of one: `c3po up --redis redis://host:6379`."
}

// Keep starts the server again whenever it is gone, until ctx ends, and tells
// restarted the number of each new process.
func (e *Engine) Keep(ctx context.Context, restarted func(pid int)) error {
	const firstPause, maxPause = 100 * time.Millisecond, 30 * time.Second
	pause := firstPause
	socket := e.Socket
	for {
		began := time.Now()
		untilGone(ctx, socket)
		if ctx.Err() != nil {
			return nil
		}
		// One that had run well is started at once; one that keeps ending, because
		// its disk is full say, is not hurried.
		if time.Since(began) > maxPause {
			pause = firstPause
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
		again, err := Start(ctx, e.cfg)
		if err != nil {
			e.cfg.Log.ErrorContext(ctx, "redis does not start", "err", err)
			continue
		}
		socket = again.Socket
		restarted(again.PID)
	}
}
