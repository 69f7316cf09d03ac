// Package operate is the commands about a coordinator on this host: up, down, serve,
// status, doctor, fsck, backup, upgrade, uninstall, and what starts one on the way (demo,
// claude). It contains no rule of what a coordinator does: those are in server and hub.
package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/runner/container"
)

// readyFile is the number of the pipe through which a detached coordinator
// tells who started it how that went: the first that a process inherits.
const readyFile = 3

// A start is how starting went: where the coordinator is, or why there is none.
type start struct {
	paths.Coordinator
	Service string      `json:"service,omitempty"` // the file that makes it one
	Already bool        `json:"already_running"`
	Error   *c3po.Error `json:"error,omitempty"`
}

func (s start) print(w io.Writer) {
	if s.Already {
		fmt.Fprintf(w, "c3po is already running at %s\n", console.Inline(s.URL))
		return
	}
	s.printURL(w)
	if console.IsTerminal(w) {
		fmt.Fprintln(w)
		next(w, console.InkFor(w, os.Getenv), "c3po claude", "start Claude Code as an agent, here and in a second folder",
			"c3po open", "the dashboard in a browser", "c3po down", "stop it; the mail stays")
	}
}

func (s start) printURL(w io.Writer) {
	fmt.Fprintf(w, "c3po is running at %s\n", console.Inline(s.URL))
}

func Up(a *console.Console) *cobra.Command {
	var s coordinator
	var foreground, detached, service bool
	var redisContainer string
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a coordinator here, with its own Redis",
		Long: `Start a coordinator on this machine, with its own Redis unless one is given, and
return when both are ready. They run until c3po down. What was sent is kept. Where no
Redis is installed, --redis-container runs it in a container.

The address that --listen names is kept for the next c3po up, until another is named.

With --service it runs as a user service (systemd on Linux, launchd on macOS) that
starts when you log in; c3po down --service undoes that. The service keeps the
settings that you give.`,
		Example: `  c3po up
  c3po up --foreground --listen 127.0.0.1:9000`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := engine.Hostable(); err != nil {
				return err
			}
			if err := s.check(a); err != nil {
				return err
			}
			s.leaveAddress(a)
			state, err := a.Folders.State()
			if err != nil {
				return err
			}
			prepare := func() error {
				if s.redis != "" {
					return nil
				}
				return ensureRedis(cmd.Context(), a, state, redisContainer)
			}
			switch {
			case detached:
				return upDetached(cmd.Context(), a, state, s)
			case service:
				return upAsService(a, cmd, state, s, prepare)
			case foreground:
				return upForeground(cmd.Context(), a, state, s, prepare)
			default:
				return upAndReturn(a, cmd, state, s, prepare)
			}
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&foreground, "foreground", false, "stay, for a service manager; the Redis outlives it all the same")
	cmd.Flags().BoolVar(&service, "service", false, "make it a service that starts when you log in")
	console.CheckedFlag(cmd.Flags(), &redisContainer, containerFlag, "", "docker or podman: run the private Redis in a container from now on; none takes that back", console.OneOf(append(container.Runtimes(), noContainer)...))
	cmd.MarkFlagsMutuallyExclusive("foreground", "service")
	cmd.MarkFlagsMutuallyExclusive("redis", containerFlag)
	cmd.Flags().BoolVar(&detached, "detached", false, "")
	_ = cmd.Flags().MarkHidden("detached") // it fails for a flag that is not there
	return cmd
}

// upAndReturn starts the coordinator as a process of its own.
func upAndReturn(a *console.Console, cmd *cobra.Command, state string, s coordinator, prepare func() error) error {
	ctx := cmd.Context()
	if note, err := running(ctx, a, state); err != nil {
		return err
	} else if note != nil {
		return showRunning(a, cmd, s, *note)
	}
	if err := refuseJoined(a); err != nil {
		return err
	}
	if err := prepare(); err != nil {
		return err
	}
	s.listenAsBefore(state)
	started, err := spawn(ctx, a, state, s)
	if err != nil {
		return err
	}
	if started.Error != nil {
		return s.explainKept(started.Error)
	}
	if started.Already {
		return showRunning(a, cmd, s, started.Coordinator)
	}
	if err := s.keepListen(a, state); err != nil {
		return err
	}
	warnOfOpenDoors(a, s.auth == string(auth.None))
	warnOfOtherPort(a, s, started.URL)
	return a.Show(started, started.print)
}

// showRunning tells of the coordinator that runs already, and of what was asked for
// that it does not do.
func showRunning(a *console.Console, cmd *cobra.Command, s coordinator, note paths.Coordinator) error {
	if err := refuseElsewhere(a, s, note); err != nil {
		return err
	}
	started := start{Coordinator: note, Already: true}
	warnOfOpenDoors(a, openNow(cmd.Context(), a, note))
	warnOfUnused(a, cmd)
	return a.Show(started, started.print)
}

// warnOfOpenDoors tells who starts a coordinator that it asks nobody for a token. The
// setting may stand in a file that somebody else has written.
func warnOfOpenDoors(a *console.Console, open bool) {
	if !open {
		return
	}
	hint := "Start it without --auth none."
	if from := a.Origins["auth"]; from.From == console.FromFile || from.From == console.FromVariable {
		hint = "It is set in " + from.Where + "; take it out there, then c3po down and c3po up."
	}
	a.Warn("WARNING: authentication is off: whoever reaches the coordinator may act as anybody", hint)
}

// openNow says that a coordinator that runs asks nobody for a token.
func openNow(ctx context.Context, a *console.Console, note paths.Coordinator) bool {
	info, err := client.New(client.Config{URL: note.URL, Socket: note.Socket, Version: a.Version}).ServerInfo(ctx, c3po.None{})
	return err == nil && info.Auth == string(auth.None)
}

// refuseJoined keeps a host that has joined another's coordinator, or whose user has
// signed in at one, from starting an empty one of its own: its agents would move to it
// and reach nobody, and its user's token would be overwritten.
func refuseJoined(a *console.Console) error {
	agents, person, err := a.Elsewhere()
	switch {
	case err != nil:
		return err
	case agents != "":
		return c3po.Errorf(c3po.InvalidRequest, "this host has joined the coordinator at %s", agents).
			Suggest("Start that one on its own host. To run one here instead, leave that one first: c3po leave")
	case person != "":
		return c3po.Errorf(c3po.InvalidRequest, "you are signed in on this host at the coordinator at %s", person).
			Suggest("Start that one on its own host. To run one here instead, sign out first: c3po leave --person")
	default:
		return nil
	}
}

func spawn(ctx context.Context, a *console.Console, state string, s coordinator) (start, error) {
	program, err := os.Executable()
	if err != nil {
		return start{}, err
	}
	log, err := os.OpenFile(logName(state), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return start{}, err
	}
	defer log.Close()
	read, write, err := os.Pipe()
	if err != nil {
		return start{}, err
	}
	defer read.Close()
	cmd := exec.Command(program, "up", "--detached")
	cmd.Env = append(os.Environ(), s.variables()...)
	cmd.Dir = state // not the current folder, which somebody may want to unmount
	cmd.Stderr = log
	cmd.ExtraFiles = []*os.File{write}
	engine.Detach(cmd)
	err = cmd.Start()
	write.Close()
	if err != nil {
		return start{}, c3po.Errorf(c3po.Internal, "cannot start the coordinator: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { read.Close() })
	defer stop()
	var started start
	if err := json.NewDecoder(read).Decode(&started); err != nil {
		if ctx.Err() != nil {
			return start{}, ctx.Err()
		}
		return start{}, c3po.Errorf(c3po.Internal, "the coordinator ended while it was starting").
			Suggest("Its log is %s.", logName(state))
	}
	return started, cmd.Process.Release()
}

// upDetached is the process that spawn starts.
func upDetached(ctx context.Context, a *console.Console, state string, s coordinator) error {
	pipe := os.NewFile(readyFile, "ready")
	tell := func(how start) {
		// Who started us may have been ended meanwhile; we go on.
		_ = json.NewEncoder(pipe).Encode(how)
		_ = pipe.Close()
	}
	lock, other, err := claim(ctx, a, state)
	if err != nil {
		tell(start{Error: console.Explain(err)})
		return err
	}
	if other != nil {
		tell(start{Coordinator: *other, Already: true})
		return nil
	}
	defer lock.Release()
	h := &host{console: a, settings: s, state: state, log: s.log(boundLog(a.Stderr, logName(state), maxLogBytes))}
	err = h.run(ctx, func(note paths.Coordinator) { tell(start{Coordinator: note}) })
	if err != nil {
		tell(start{Error: console.Explain(err)})
	}
	return err
}

// upForeground is the coordinator in this process.
func upForeground(ctx context.Context, a *console.Console, state string, s coordinator, prepare func() error) error {
	lock, other, err := claim(ctx, a, state)
	if err != nil {
		return err
	}
	if other != nil {
		return c3po.Errorf(c3po.InvalidRequest, "c3po is already running at %s", other.URL).
			Suggest("Run `c3po down` first.")
	}
	defer lock.Release()
	if err := refuseJoined(a); err != nil {
		return err
	}
	if err := prepare(); err != nil {
		return err
	}
	s.listenAsBefore(state)
	h := &host{console: a, settings: s, state: state, log: s.log(boundLog(a.Stderr, logName(state), maxLogBytes))}
	var kept error
	err = h.run(ctx, func(note paths.Coordinator) {
		started := start{Coordinator: note}
		kept = s.keepListen(a, state)
		warnOfOpenDoors(a, s.auth == string(auth.None))
		warnOfOtherPort(a, s, note.URL)
		_ = a.Show(started, started.print) // nobody may be reading
	})
	return errors.Join(s.explainKept(err), kept)
}
