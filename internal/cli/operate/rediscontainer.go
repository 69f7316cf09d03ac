package operate

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/runner/container"
)

const (
	redisImage = "docker.io/library/redis:7"
	// noContainer takes back that Redis runs in one.
	noContainer   = "none"
	containerFlag = "redis-container"
)

// ensureRedis sees to it that the private Redis can be started: with the container that
// was asked for, or, where none is installed, with one after asking.
func ensureRedis(ctx context.Context, a *console.Console, state, wanted string) error {
	dir := filepath.Join(state, "redis")
	if wanted == noContainer {
		return engine.KeepLauncher(dir, nil)
	}
	if wanted != "" {
		return redisInContainer(ctx, a, dir, wanted)
	}
	missing := engine.Available(dir)
	if missing == nil || runtime.GOOS != "linux" || !a.AtTerminal() {
		return missing
	}
	found, err := container.Find(ctx, container.Config{Flag: "--" + containerFlag})
	if err != nil {
		return missing
	}
	fmt.Fprintf(a.Stdout, "%s.\n", c3po.AsError(missing).Message)
	yes, err := a.Confirm(fmt.Sprintf("Run Redis in a container, with %s? It has no network, and its data stays in %s.", filepath.Base(found.Program()), console.Inline(dir)), true)
	if err != nil {
		return err
	}
	if !yes {
		return missing
	}
	return redisInContainer(ctx, a, dir, found.Program())
}

// redisInContainer is launchInContainer, whose failure leaves no Redis to be used.
func redisInContainer(ctx context.Context, a *console.Console, dir, program string) error {
	err := launchInContainer(ctx, a, dir, program)
	if e, ok := errors.AsType[*c3po.Error](err); ok && e.Code == c3po.InvalidRequest {
		return c3po.Because(err, c3po.RedisUnavailable, e.Message).Suggest("%s", e.Suggestion)
	}
	return err
}

// launchInContainer makes the Redis of a folder one in a container, from now on. It is
// reached by its socket alone, and sees that folder alone.
func launchInContainer(ctx context.Context, a *console.Console, dir, program string) error {
	if runtime.GOOS != "linux" {
		return c3po.Errorf(c3po.InvalidRequest, "on %s a container's socket cannot be reached from outside", runtime.GOOS).
			Suggest("Install Redis: %s", c3po.AsError(engine.Available(dir)).Suggestion)
	}
	found, err := container.Find(ctx, container.Config{Runtime: program, Flag: "--" + containerFlag})
	if err != nil {
		return c3po.Because(err, c3po.InvalidRequest, c3po.AsError(err).Message).Suggest("Install docker or podman and see that it runs, or install Redis itself.")
	}
	if _, there, err := found.ImageLabel(ctx, redisImage, ""); err != nil {
		return err
	} else if !there {
		if err := found.Pull(ctx, redisImage, a.Stderr); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	name := fnv.New32a()
	_, _ = name.Write([]byte(dir)) // it never fails
	command, err := found.CommandLine(ctx, container.Spec{
		// By its name no two servers can have one folder, even if who started the first
		// was killed.
		Name: fmt.Sprintf("c3po-redis-%08x", name.Sum32()), Image: redisImage, Entrypoint: "redis-server",
		Mounts: []container.Mount{{Host: dir, Inside: dir}}, Network: "none", User: fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()),
	})
	if err != nil {
		return err
	}
	return engine.KeepLauncher(dir, command)
}
