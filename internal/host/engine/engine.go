// Package engine runs the private Redis of a machine that was given none: one
// server on a unix socket, detached, whose data folder only one server ever
// uses. Two servers on one folder destroy what both have promised to keep, so
// the server itself holds a lock on the folder for as long as it lives, and
// nobody starts another without that lock.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

const (
	// reachTime is how long a server that lives may stay unreachable.
	reachTime = 5 * time.Second
	// launcherTime is how long one may take that a launcher starts.
	launcherTime = 30 * time.Second
	// endTime is how long a server may take to end: it writes its log first.
	endTime = 30 * time.Second
	// dyingTime is how long one that was killed may hold on.
	dyingTime = 3 * time.Second

	pollEvery = 10 * time.Millisecond
)

// Config says where the server lives.
type Config struct {
	Dir    string // its data folder; made if need be
	Socket string // where a server that is started listens
	Log    *slog.Logger
}

// An Engine is a server that answers.
type Engine struct {
	cfg      Config
	password string
	Socket   string
	PID      int
	New      bool // it was started, not found
}

// URL is the address of the server as a Redis client writes it, with its password.
func (e *Engine) URL() string {
	at := url.URL{Scheme: "unix", Path: e.Socket}
	if e.password != "" {
		at.User = url.UserPassword("", e.password)
	}
	return at.String()
}

// Start returns the server of the folder: the one that runs, or a new one.
func Start(ctx context.Context, cfg Config) (*Engine, error) {
	starting, err := begin(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer starting.Release()

	password, err := keepPassword(cfg.Dir)
	if err != nil {
		return nil, err
	}
	note := readNote(cfg.Dir)
	alive, err := paths.TryLock(aliveName(cfg.Dir))
	if err != nil {
		return nil, err
	}
	if alive == nil {
		if err := reach(ctx, door{note.Socket, password}, cfg.Dir); err == nil {
			return adopt(cfg, note, password)
		} else if ctx.Err() != nil {
			return nil, err
		}
		cfg.Log.WarnContext(ctx, "the running redis cannot be reached; it is ended and started again", "pid", note.PID, "socket", note.Socket)
		if alive, err = end(ctx, cfg.Dir, note); err != nil {
			return nil, err
		}
	}
	defer alive.Release()
	return launch(ctx, cfg, password, alive)
}

// Stop ends the server of the folder and reports whether there was one. All it
// has accepted is on disk when Stop returns.
func Stop(ctx context.Context, cfg Config) (bool, error) {
	starting, err := begin(ctx, cfg)
	if err != nil {
		return false, err
	}
	defer starting.Release()

	alive, err := paths.TryLock(aliveName(cfg.Dir))
	if err != nil {
		return false, err
	}
	if alive != nil {
		return false, alive.Release()
	}
	note := readNote(cfg.Dir)
	password, err := readPassword(cfg.Dir)
	if err != nil {
		return true, err
	}
	at := door{note.Socket, password}
	if err := reach(ctx, at, cfg.Dir); err == nil {
		alive, err = shutDown(ctx, cfg.Dir, at)
		if err != nil {
			return true, err
		}
	} else if alive, err = end(ctx, cfg.Dir, note); err != nil {
		return true, err
	}
	return true, errors.Join(os.Remove(noteName(cfg.Dir)), alive.Release())
}

// begin makes the folder and takes the lock under which servers are started
// and stopped.
func begin(ctx context.Context, cfg Config) (*paths.Lock, error) {
	err := os.MkdirAll(cfg.Dir, 0o700)
	if err == nil {
		err = os.Chmod(cfg.Dir, 0o700) // #nosec G302 -- a folder is entered by its x
	}
	if err != nil {
		return nil, c3po.Errorf(c3po.InvalidRequest, "cannot make the folder %s: %w", cfg.Dir, err).
			Suggest("Check who owns its parents.")
	}
	lock, err := paths.WaitLock(ctx, filepath.Join(cfg.Dir, "start.lock"))
	if err != nil && ctx.Err() != nil {
		return nil, c3po.Errorf(c3po.RedisUnavailable, "another process is starting or stopping the Redis in %s", cfg.Dir).
			Suggest("Try again in a moment.")
	}
	return lock, err
}

// aliveName is the lock that a running server holds itself.
func aliveName(dir string) string { return filepath.Join(dir, "alive.lock") }

func noteName(dir string) string { return filepath.Join(dir, "engine.json") }

// A note says how the server of a folder was started. The folder of sockets
// differs between the sessions of a user, so it cannot be computed.
type note struct {
	Socket  string `json:"socket"`
	PID     int    `json:"pid"`
	Started int64  `json:"started"` // of the process, as this machine counts
}

// readNote gives an empty note if there is none that can be read: the lock,
// not the note, says whether a server runs.
func readNote(dir string) note {
	var n note
	data, err := os.ReadFile(noteName(dir))
	if err != nil || json.Unmarshal(data, &n) != nil {
		return note{}
	}
	return n
}

func (n note) write(dir string) error {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return paths.WriteFile(noteName(dir), data)
}

// adopt takes over a server that somebody else started. One of an older version
// gets the password; whoever is connected to it stays so.
func adopt(cfg Config, n note, password string) (*Engine, error) {
	at := door{n.Socket, password}
	if err := at.lock(); err != nil {
		return nil, err
	}
	if err := closeFiles(cfg.Dir); err != nil {
		return nil, err
	}
	if n.PID == 0 {
		// Who started it was ended before it could write the number down.
		pid, err := processID(at)
		if err != nil {
			return nil, err
		}
		n.PID, n.Started = pid, Started(pid)
		if err := n.write(cfg.Dir); err != nil {
			return nil, err
		}
	}
	cfg.Log.Info("found a running redis", "pid", n.PID, "socket", n.Socket)
	return &Engine{cfg: cfg, password: password, Socket: n.Socket, PID: n.PID}, nil
}

// reach waits until the server on the socket has read its data and answers,
// and proves that its data is ours.
func reach(ctx context.Context, at door, dir string) error {
	return reachWithin(ctx, at, dir, reachTime)
}

func reachWithin(ctx context.Context, at door, dir string, patience time.Duration) error {
	giveUp := time.Now().Add(patience)
	for {
		theirs, err := dataFolder(at)
		switch {
		case err == nil && sameFolder(theirs, dir):
			return nil
		case err == nil:
			return foreign(at.socket, theirs, dir)
		case errors.Is(err, errLoading):
			// It lives and reads its data, which takes as long as it takes.
			giveUp = time.Now().Add(patience)
		case time.Now().After(giveUp):
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

func foreign(socket, theirs, dir string) error {
	return c3po.Errorf(c3po.RedisUnavailable, "the Redis on %s keeps its data in %s, not in %s", socket, theirs, dir).
		Suggest("Stop it, or set XDG_RUNTIME_DIR to a folder of your own.")
}

func sameFolder(a, b string) bool {
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}

// shutDown asks the server to end and returns the lock it held.
func shutDown(ctx context.Context, dir string, at door) (*paths.Lock, error) {
	if err := requestShutdown(at); err != nil {
		return nil, c3po.Errorf(c3po.RedisUnavailable, "the Redis in %s does not end: %w", dir, err).
			Suggest("Its log is %s.", logName(dir))
	}
	return waitUntilFree(ctx, dir, endTime)
}

// end ends a server by its process number, once that is proved to be its own.
func end(ctx context.Context, dir string, n note) (*paths.Lock, error) {
	if n.PID == 0 || n.Started == 0 || Started(n.PID) != n.Started {
		// One that was just killed holds the folder until it is all gone, and so
		// does a child of it that was rewriting the log.
		if lock, err := waitUntilFree(ctx, dir, dyingTime); err == nil {
			return lock, nil
		}
		return nil, c3po.Errorf(c3po.RedisUnavailable, "a Redis uses %s but cannot be reached", dir).
			Suggest("Find the redis-server of that folder and end it, then run `c3po up` again. Its log is %s.", logName(dir))
	}
	if err := Terminate(n.PID); err != nil {
		return nil, c3po.Errorf(c3po.RedisUnavailable, "cannot end the Redis with process number %d: %w", n.PID, err).
			Suggest("End it by hand.")
	}
	return waitUntilFree(ctx, dir, endTime)
}

// Terminate asks a process to end in its own time.
func Terminate(pid int) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return process.Signal(syscall.SIGTERM)
}

// waitUntilFree waits until no server holds the folder.
func waitUntilFree(ctx context.Context, dir string, most time.Duration) (*paths.Lock, error) {
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	lock, err := paths.WaitLock(limited, aliveName(dir))
	if err != nil {
		return nil, c3po.Errorf(c3po.RedisUnavailable, "the Redis in %s has not ended", dir).
			Suggest("Its log is %s.", logName(dir))
	}
	return lock, nil
}
