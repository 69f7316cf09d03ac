package operate

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/agentside"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

const (
	// claimTime is how long a coordinator waits for one before it to end or to
	// become ready: a drain takes 10 s at the most.
	claimTime = 20 * time.Second
	pollEvery = 20 * time.Millisecond
)

// lockName is the lock a coordinator holds for as long as it lives. There is
// one coordinator for each state folder.
func lockName(state string) string { return filepath.Join(state, "coordinator.lock") }

func logName(state string) string { return filepath.Join(state, "coordinator.log") }

// engineConfig is where the private Redis of this user lives.
func engineConfig(a *console.Console, state string, log *slog.Logger) (engine.Config, error) {
	socket, err := a.Folders.Socket("redis.sock")
	return engine.Config{Dir: filepath.Join(state, "redis"), Socket: socket, Log: log}, err
}

// openRedis gives the address of this user's private Redis its password, which only
// the coordinator's files have. Another address stays as it is.
func openRedis(a *console.Console, address string) (string, error) {
	state, err := a.Folders.StateFile("redis")
	if err != nil {
		return "", err
	}
	return engine.Open(state, address)
}

// running finds the coordinator of a state folder: the process that wrote the
// note is still that process, and it answers.
func running(ctx context.Context, a *console.Console, state string) (*paths.Coordinator, error) {
	note, err := paths.ReadCoordinator(state)
	if err != nil || note == nil || engine.Started(note.PID) != note.Started {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if _, err := client.New(client.Config{URL: note.URL, Socket: note.Socket, Version: a.Version}).Health(ctx); errors.Is(err, c3po.CoordDown) {
		return nil, nil
	}
	// One that answers that it is unwell runs all the same.
	return note, nil
}

// claim makes this process the coordinator of a state folder, or finds the one
// that is.
func claim(ctx context.Context, a *console.Console, state string) (*paths.Lock, *paths.Coordinator, error) {
	if err := engine.Hostable(); err != nil {
		return nil, nil, err
	}
	limited, cancel := context.WithTimeout(ctx, claimTime)
	defer cancel()
	for {
		if lock, err := paths.TryLock(lockName(state)); lock != nil || err != nil {
			return lock, nil, err
		}
		if other, err := running(limited, a, state); other != nil || err != nil {
			return nil, other, err
		}
		select {
		case <-limited.Done():
			return nil, nil, c3po.Errorf(c3po.InvalidRequest, "another coordinator is starting or stopping").
				Suggest("Try again in a moment. Its log is %s.", logName(state))
		case <-time.After(pollEvery):
		}
	}
}

// A host is a coordinator with, unless it was given one, a Redis of its own.
type host struct {
	console  *console.Console
	settings coordinator
	state    string
	log      *slog.Logger

	mu   sync.Mutex
	note paths.Coordinator
}

// run starts what is missing and serves until ctx ends. The Redis outlives it:
// `c3po down` ends that.
func (h *host) run(ctx context.Context, ready func(paths.Coordinator)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	h.note = paths.Coordinator{PID: os.Getpid(), Started: engine.Started(os.Getpid()), Version: h.console.Version, Listen: h.settings.listen}
	var err error
	if h.note.Socket, err = h.console.Folders.Socket("coordinator.sock"); err != nil {
		return err
	}
	kept := make(chan error, 1)
	var private *engine.Engine
	if h.settings.redis == "" {
		if private, err = h.startEngine(ctx); err != nil {
			return err
		}
		go func() { kept <- private.Keep(ctx, h.engineRestarted) }()
	} else {
		kept <- nil
	}
	served := false
	var unpublished error
	var attending sync.WaitGroup
	defer attending.Wait()
	err = h.settings.run(ctx, h.console, h.note.Socket, h.log, func(url string) {
		var note paths.Coordinator
		if note, unpublished = h.publish(url); unpublished != nil {
			// Nobody would find it.
			stop()
			return
		}
		served = true
		ready(note)
		attending.Go(func() { h.attend(ctx) })
	})
	stop()
	err = errors.Join(err, unpublished, <-kept, h.note.Remove(h.state))
	if private != nil && private.New && !served {
		// A start that was refused leaves nothing running that was not there before.
		err = errors.Join(err, h.stopEngine(context.WithoutCancel(ctx)))
	}
	return err
}

// attend lets mail resume the closed sessions of this user, if the person has agreed and
// no other process does so.
func (h *host) attend(ctx context.Context) {
	if err := agentside.Attendance(h.console, h.log).Run(ctx); err != nil {
		h.log.WarnContext(ctx, "this process does not resume closed sessions", "err", err)
	}
}

func (h *host) stopEngine(ctx context.Context) error {
	cfg, err := engineConfig(h.console, h.state, h.log)
	if err != nil {
		return err
	}
	_, err = engine.Stop(ctx, cfg)
	return err
}

func (h *host) startEngine(ctx context.Context) (*engine.Engine, error) {
	cfg, err := engineConfig(h.console, h.state, h.log)
	if err != nil {
		return nil, err
	}
	private, err := engine.Start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	h.settings.redis = private.URL()
	h.note.RedisPID, h.note.RedisSocket = private.PID, private.Socket
	return private, nil
}

// publish leaves the note by which the other commands find us.
func (h *host) publish(url string) (paths.Coordinator, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.note.URL = url
	return h.note, h.note.Write(h.state)
}

func (h *host) engineRestarted(pid int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.note.RedisPID = pid
	if h.note.URL == "" {
		return
	}
	if err := h.note.Write(h.state); err != nil {
		h.log.Error("cannot write down the new redis", "err", err)
	}
}
