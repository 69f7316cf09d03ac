package agentside

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/attend"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/host/unit"
)

func Attend(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "attend",
		Short: "Let mail resume closed sessions",
		Long: `Wait for the mail of agents whose session you have closed. When mail comes that
expects an answer, resume that very session without a terminal: it answers and ends.
Only agents that you have allowed are resumed, and never one whose session is open.

c3po up does this too while it runs. On a host that has joined another's coordinator
this command does it; c3po attend unit prints a service that keeps it running.`,
		Example: `  c3po attend allow api
  c3po attend`,
		Args: console.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log := slog.New(slog.NewTextHandler(a.Stderr, nil))
			if consents, err := a.Folders.Consents(); err == nil { // else the service says so
				log.InfoContext(cmd.Context(), "waiting for the mail of closed sessions", "allowed", cmp.Or(allowed(consents), "none yet; allow one with c3po attend allow NAME"))
			}
			return Attendance(a, log).Run(cmd.Context())
		},
	}
	cmd.AddCommand(attendAllow(a), attendDeny(a), attendList(a), attendUnit(a))
	return cmd
}

// Attendance is what resumes the closed sessions of this user.
func Attendance(a *console.Console, log *slog.Logger) *attend.Service {
	host, _ := os.Hostname() // else it is not named
	return attend.New(attend.Config{
		Folders: a.Folders, Lives: runLives, Awaited: isAwaited, Host: host, Log: log,
		Client:  func(s paths.Session) (*client.Client, error) { return clientFor(a, s, "") },
		Command: resumeCommand,
		ReportEnded: func(ctx context.Context, s paths.Session) error {
			own, err := RunOf(a, os.Getpid())
			if err != nil {
				return err
			}
			to, err := clientFor(a, s, own.Name)
			if err != nil {
				return err
			}
			return reportEnded(ctx, a, to)
		},
	})
}

// clientFor acts for the agent of a session, with the settings that the session had.
func clientFor(a *console.Console, s paths.Session, run string) (*client.Client, error) {
	own := *a
	own.URL, own.Space, own.As = s.URL, s.Space, s.As
	cfg, err := own.ClientConfig(s.Agent)
	cfg.ClientName, cfg.Run, cfg.Closed = "attend", run, true
	return client.New(cfg), err
}

// resumeCommand is the command that resumes a session, with the settings it had, and the
// mode it runs in.
func resumeCommand(s paths.Session, chosen, prompt string) (cmd *exec.Cmd, mode string, err error) {
	by, ok := attend.Clients()[s.Client]
	if !ok {
		return nil, "", c3po.Errorf(c3po.InvalidRequest, "sessions of %s cannot be resumed", s.Client)
	}
	mode, ok = by.Mode(chosen)
	if !ok {
		return nil, "", c3po.Errorf(c3po.InvalidRequest, "%s has no permission mode as restrictive as %s", s.Client, chosen)
	}
	argv := by.Argv(s, mode, prompt)
	cmd = exec.Command(argv[0], argv[1:]...) // #nosec G204 -- the client's own command, and what it has told us
	cmd.Dir = s.Folder
	own := map[string]string{
		"C3PO_COORDINATOR_URL": s.URL, "C3PO_SPACE": s.Space, "C3PO_AGENT_ID": s.As,
		answersVariable: "answer", attend.ResumedVariable: s.ID, "PWD": s.Folder,
	}
	if by.Folder != "" {
		own[by.Folder] = s.Config
	}
	// The settings of who starts it are not its own, and a coordinator's have secrets.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		_, replaced := own[name]
		return replaced || strings.HasPrefix(name, "C3PO_") && name != "C3PO_BINARY"
	})
	for name, value := range own {
		if value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Env = append(cmd.Env, by.Rights[mode].Env...)
	return cmd, mode, nil
}

func attendUnit(a *console.Console) *cobra.Command {
	var system string
	cmd := &cobra.Command{
		Use:   "unit",
		Short: "Print a service that keeps c3po attend running",
		Long: `Print a unit of systemd, or on macOS a property list of launchd, that keeps
c3po attend running for this user. Its first lines say where to put it. It has no
secret in it.`,
		Example: `  c3po attend unit
  c3po attend unit --for launchd`,
		RunE: func(*cobra.Command, []string) error {
			program, err := os.Executable()
			if err != nil {
				return err
			}
			service := unit.Service{
				Name: "c3po-attend", Label: "dev.c3po.attend", Description: "c3po: mail resumes closed sessions",
				Program: program, Arguments: []string{"attend"}, Log: filepath.Join(a.Home(), "Library", "Logs", "c3po-attend.log"), StopWithin: 10 * time.Second, Sessions: true,
			}
			for _, name := range []string{"PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
				if value := a.Getenv(name); value != "" {
					service.Environment = append(service.Environment, unit.Variable{Name: name, Value: value})
				}
			}
			return showUnit(a, system, service)
		},
	}
	addSystem(cmd, &system)
	return console.WithoutSettings(cmd)
}

// addSystem adds the flag that says whose services a unit is for.
func addSystem(cmd *cobra.Command, system *string) {
	systems := map[string]string{"darwin": "launchd"}
	cmd.Flags().StringVar(system, "for", cmp.Or(systems[runtime.GOOS], "systemd"), "systemd or launchd")
}

// showUnit prints a service as a system takes it.
func showUnit(a *console.Console, system string, service unit.Service) error {
	written := writtenUnit{For: system}
	switch system {
	case "systemd":
		written.Text = service.Systemd()
	case "launchd":
		written.Text = service.Launchd()
	default:
		return console.BadUsage(fmt.Sprintf("there are no services of %q", system), "Give systemd or launchd.")
	}
	return a.Show(written, func(w io.Writer) { fmt.Fprint(w, written.Text) })
}
