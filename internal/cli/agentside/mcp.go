package agentside

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/attend"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/transport/mcpserver"
)

func MCP(a *console.Console) *cobra.Command {
	var tools, rooms, clientName string
	var timeout int
	var approvalWait, stalledAfter time.Duration
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools to a coding agent over stdin and stdout",
		Long: `Serve the tools to the coding agent that starts this command, as an MCP server
over stdin and stdout. The agent is named after the project folder. The tools are
listed whether or not the coordinator is there.

A wait without a timeout lasts --timeout seconds. Many programs cut off a
call after a minute. So without --client, which c3po install sets, a wait ends after
50 seconds, or after --timeout if that is longer.`,
		Example: `  c3po mcp
  c3po mcp --tools core,more`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sets, err := mcpserver.ParseToolsets(tools)
			if err != nil {
				return err
			}
			// A client that was killed, or whose terminal was closed, leaves pipes that
			// nobody reads. There is still a goodbye to be said.
			signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP)
			r, err := sessionRun(a, clientName)
			if err != nil {
				return err
			}
			if r.lock != nil {
				defer r.lock.Release()
			}
			if err := a.CheckWait(timeout); err != nil {
				return err
			}
			cfg, err := sessionConfig(a, r, clientName, waits(a, clientName, timeout))
			if err != nil {
				return err
			}
			cfg.Tools, cfg.ApprovalWait, cfg.StalledAfter = sets, approvalWait, stalledAfter
			if cfg.Rooms, err = roomNames(rooms); err != nil {
				return err
			}
			if cfg.Defaults, err = bridgeDefaults(a); err != nil {
				return err
			}
			defer noteOpening(a, r, clientName, cfg.Profile.Cwd)()
			b := session.New(cfg)
			err = b.Run(cmd.Context(), io.NopCloser(a.Stdin), unclosed{a.Stdout})
			reportEnd(cmd.Context(), a, r, cfg.Client, !b.Owes())
			return err
		},
	}
	cmd.Flags().StringVar(&tools, "tools", "", "toolsets to offer, separated by commas; core if left out")
	cmd.Flags().StringVar(&rooms, "auto-join-rooms", "", "rooms to join when the session starts, separated by commas")
	console.Setting(cmd.Flags(), "auto-join-rooms", "C3PO_AUTO_JOIN_ROOMS", "")
	cmd.Flags().StringVar(&clientName, "client", "", "the program that starts this, for example claude-code")
	cmd.Flags().DurationVar(&approvalWait, "approval-wait", 0, "how long a permission dialog waits while you are asked elsewhere; c3po install sets it")
	cmd.Flags().DurationVar(&stalledAfter, "stalled-after", session.DefaultStalledAfter, "how long a question that was read may see no step before who asked hears of it")
	console.Setting(cmd.Flags(), "stalled-after", "C3PO_STALLED_AFTER", "")
	console.WaitFlag(cmd.Flags(), &timeout)
	return cmd
}

// maxToolCall is how long a call of an unknown program may take: many cut it after a
// minute.
const maxToolCall = 50 * time.Second

// waits are how long a client of the session process waits: when it is not told, and at the
// most. What we have installed does not cut calls, because we have told it so.
func waits(a *console.Console, clientName string, seconds int) client.Config {
	wait := time.Duration(seconds) * time.Second
	if clientName != "" {
		return client.Config{WaitDefault: wait}
	}
	if a.Origins["timeout"].From == console.FromDefault {
		wait = maxToolCall
	}
	return client.Config{WaitDefault: wait, MaxWait: max(wait, maxToolCall)}
}

// roomNames reads a list of rooms, separated by commas.
func roomNames(list string) ([]c3po.RoomName, error) {
	var names []c3po.RoomName
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		name, err := c3po.ParseRoomName(text)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// unclosed keeps a server from closing what is not its own.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

func sessionConfig(a *console.Console, r ClientRun, clientName string, waits client.Config) (session.Config, error) {
	project, id, err := agentHere(a)
	if err != nil {
		return session.Config{}, err
	}
	reach := func() (*client.Client, error) {
		cfg, err := a.ClientConfig(id)
		cfg.Run, cfg.ClientName = r.Name, cmp.Or(clientName, "mcp")
		cfg.WaitDefault, cfg.MaxWait = waits.WaitDefault, waits.MaxWait
		return client.New(cfg), err
	}
	first, err := reach()
	if err != nil {
		return session.Config{}, err
	}
	profile := c3po.RegisterInput{Type: clientName, Cwd: project, Host: r.Host, PID: r.PID, PIDStart: r.Started}
	return session.Config{
		Dialect: hook.Dialect(clientName), Rouse: rouser(a, clientName), Attended: isAttended(clientName, r.PID),
		Unattended: isUnattended(a, clientName), Answers: answers(a, r), Sees: sight(a, clientName, os.Getppid()),
		Client: first, Asked: id, Profile: profile, Run: r.Name, Socket: r.Socket, Version: a.Version,
		Note: func(run session.HookRun) {
			// That it cannot be written down is no reason to disturb a session.
			_ = a.Folders.NoteHookRun(clientName, paths.HookRun{Event: run.Event, Agent: first.ID(), At: run.At, Took: run.Took})
		},
		Stranger: func(conn net.Conn) bool {
			return auth.KnowsPeers && Stranger(a, auth.PeerPID(conn), r.Socket) && !hasStarted(auth.PeerPID(conn))
		},
		Off:      func() bool { return a.Folders.Off(project) },
		Approves: func() bool { return !a.Folders.ApprovalsOff(project) },
		Resumed:  clientName == string(hook.ClaudeCode) && a.Getenv(attend.ResumedVariable) != "",
		Closing:  func() bool { return isAttendedTo(a, r) },
		Switch: func(on, everywhere bool) error {
			where := project
			if everywhere {
				where = ""
			}
			if on {
				return a.Folders.SwitchOn(where)
			}
			return a.Folders.SwitchOff(where)
		},
		Keep: keeper(a, r, clientName, project),
		Before: func(ctx context.Context, to *client.Client, session string) error {
			if err := makeWay(ctx, a, session); err != nil {
				return err
			}
			noteRun(a, r, to.ID())
			return reportEnded(ctx, a, to)
		},
		Registered: func(id c3po.AgentID) { noteRun(a, r, id) },
		Reach: func() *client.Client {
			found, err := reach()
			if err != nil {
				return nil
			}
			return found
		},
		Log: slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}, nil
}

// agentHere is the agent of this folder, or the one that is named, and the folder.
func agentHere(a *console.Console) (project string, id c3po.AgentID, err error) {
	if project, err = Project(a); err != nil {
		return "", "", err
	}
	if a.As != "" {
		id, err = a.Named()
		return project, id, err
	}
	return project, c3po.AgentIDFromFolder(filepath.Base(project)), nil
}

// Project is the folder the agent works in.
func Project(a *console.Console) (string, error) {
	if dir := a.Getenv("CLAUDE_PROJECT_DIR"); filepath.IsAbs(dir) {
		return dir, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", console.BadUsage("the current folder has no name", "Say who you are with --as.")
	}
	return dir, nil
}

// A ClientRun is the process of an agent, by which its session process, hooks and monitor know
// that they belong together. A client's own session ids change while it runs.
type ClientRun struct {
	Name    string
	Host    string
	PID     int
	Started int64 // as this machine counts; 0 if it cannot say
	Socket  string
	lock    *paths.Lock // of a run that a runner has named: held until the process ends
}

// RunOf is the run of the agent with that process id.
func RunOf(a *console.Console, pid int) (ClientRun, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	r := ClientRun{Host: host, PID: pid, Started: engine.Started(pid)}
	r.Name = fmt.Sprintf("%s:%d:%d", host, pid, r.Started)
	r.Socket, err = a.Folders.Socket(session.SocketName(r.Name))
	return r, err
}

// sessionRun is the run of the agent that has started this process. A runner may
// have named it; but an agent that this agent starts inherits the name, and is
// another run.
func sessionRun(a *console.Console, clientName string) (ClientRun, error) {
	r, err := RunOf(a, os.Getppid())
	if err != nil {
		return r, err
	}
	if clientName == console.CodexName {
		// One daemon starts the session processes of all its sessions, so each is a run of its
		// own. The socket stays that of the daemon: what it starts is below an agent.
		socket := r.Socket
		if r, err = RunOf(a, os.Getpid()); err != nil {
			return r, err
		}
		r.Socket = socket
	}
	named := a.Getenv("C3PO_RUN")
	if named == "" {
		return r, nil
	}
	claim, err := a.Folders.Socket(session.SocketName(named))
	if err != nil {
		return r, err
	}
	if r.lock, err = paths.TryLock(claim + ".lock"); err == nil && r.lock != nil {
		r.Name = named
	}
	return r, nil
}
