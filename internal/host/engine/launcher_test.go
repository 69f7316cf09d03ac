package engine_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/host/engine"
)

func TestALauncherStartsTheServerUntilItIsTakenBack(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	redis, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip(err)
	}
	called := filepath.Join(t.TempDir(), "called")
	script := filepath.Join(t.TempDir(), "launch")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$1\" >>"+called+"\nshift\nexec "+redis+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := engine.KeepLauncher(cfg.Dir, []string{script, "first argument"}); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if e.Socket != filepath.Join(cfg.Dir, "redis.sock") {
		t.Errorf("it listens on %s, which a container does not have", e.Socket)
	}
	if stopped, err := engine.Stop(t.Context(), cfg); err != nil || !stopped {
		t.Errorf("it is stopped: %v, %v", stopped, err)
	}
	if got, err := os.ReadFile(called); err != nil || strings.TrimSpace(string(got)) != "first argument" {
		t.Errorf("it was started with %q, %v", got, err)
	}
	if err := engine.KeepLauncher(cfg.Dir, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Start(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Stop(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(called); err != nil || strings.Count(string(got), "\n") != 1 {
		t.Errorf("the launcher is still used: %q, %v", got, err)
	}
}

func TestAServerThatNeverAnswersIsEnded(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	noted := filepath.Join(t.TempDir(), "pid")
	script := filepath.Join(t.TempDir(), "launch")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntrap '' TERM\necho $$ >"+noted+".new\nmv "+noted+".new "+noted+"\nwhile :; do sleep 1; done\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := engine.KeepLauncher(cfg.Dir, []string{script}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pid := 0
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if text, err := os.ReadFile(noted); err == nil {
				pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
				return
			}
			runtime.Gosched()
		}
	}()
	if _, err := engine.Start(ctx, cfg); err == nil {
		t.Fatal("what never answers is taken for a server")
	}
	if pid == 0 || engine.Started(pid) != 0 {
		t.Errorf("process %d still runs", pid)
	}
}
