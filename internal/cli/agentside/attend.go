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

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/agent/attend"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/host/unit"
)

// defaultStarts is how often in an hour mail may resume an agent unless the person says
// otherwise.
const defaultStarts = 12

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

func attendAllow(a *console.Console) *cobra.Command {
	var all bool
	var mode string
	var starts int
	modes := attend.Modes()
	cmd := &cobra.Command{
		Use:   "allow [NAME]",
		Short: "Let mail resume an agent's closed session",
		Long: `Let mail that expects an answer resume the closed session of an agent of this host.

Nobody sits at a resumed session. In the default mode, manual, it can read and answer.
What would open a dialog is a question to you in Claude Code, and denied in others;
--mode gives it more. After so many starts in an hour, --starts, you are asked before
another.`,
		Example: `  c3po attend allow api
  c3po attend allow api --mode acceptEdits`,
		Args: console.Arguments(0, 1, "[NAME]"),
		RunE: func(_ *cobra.Command, args []string) error {
			name, err := attendName(args, all)
			if err != nil {
				return err
			}
			if starts < 1 {
				return console.BadUsage("--starts must be at least 1", "To allow none: c3po attend deny "+name)
			}
			consent := paths.Consent{Mode: mode, Starts: starts}
			if err := checkMode(a, name, consent); err != nil {
				return err
			}
			if _, err := a.Folders.Consent(name, &consent); err != nil {
				return err
			}
			return a.Show(map[string]any{"agent": name, "mode": mode, "starts": starts}, func(w io.Writer) {
				fmt.Fprintf(w, "mail resumes %s when its session is closed, in mode %s, at most %s an hour\n", who(name), mode, console.CountOf(starts, "time"))
				fmt.Fprintln(w, "c3po up does that while it runs; on a host that has joined: c3po attend")
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every agent of this host")
	console.CheckedFlag(cmd.Flags(), &mode, "mode", modes[0], "permission mode of resumed sessions: "+strings.Join(modes, ", "), console.OneOf(modes...))
	cmd.Flags().IntVar(&starts, "starts", defaultStarts, "how often in an hour before you are asked")
	return console.WithoutSettings(cmd)
}

// checkMode refuses a mode that the client of the agent's session does not have.
func checkMode(a *console.Console, name string, consent paths.Consent) error {
	for _, s := range attend.Last(a.Folders.Sessions()) {
		if name != string(s.Agent) && name != s.Agent.Name() {
			continue
		}
		if _, ok := attend.Permitted(s, paths.Consents{name: consent}); !ok {
			return console.BadUsage(fmt.Sprintf("%s of %s has no mode as restrictive as %s when nobody sits at it", s.Client, s.Agent, consent.Mode),
				fmt.Sprintf("If it may do everything: c3po attend allow %s --mode %s", name, attend.Bypass))
		}
	}
	return nil
}

func attendDeny(a *console.Console) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "deny [NAME]",
		Short:   "Let mail resume an agent's closed session no longer",
		Long:    `Take back c3po attend allow, for an agent or with --all for all that are not named themselves.`,
		Example: `  c3po attend deny api`,
		Args:    console.Arguments(0, 1, "[NAME]"),
		RunE: func(_ *cobra.Command, args []string) error {
			name, err := attendName(args, all)
			if err != nil {
				return err
			}
			was, err := a.Folders.Consent(name, nil)
			if err != nil {
				return err
			}
			return a.Show(map[string]any{"agent": name, "was_allowed": was}, func(w io.Writer) {
				if !was {
					fmt.Fprintf(w, "mail did not resume %s; see c3po attend list\n", who(name))
					return
				}
				fmt.Fprintf(w, "mail no longer resumes %s\n", who(name))
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every agent that is not named itself")
	return console.WithoutSettings(cmd)
}

// attendName is whom a command is about.
func attendName(args []string, all bool) (string, error) {
	switch {
	case all && len(args) == 0:
		return paths.Everyone, nil
	case all || len(args) == 0:
		return "", console.BadUsage("give the name of one agent, or --all", "c3po attend list shows them.")
	}
	id, err := c3po.ParseAgentID(args[0])
	return string(id), console.Misspelled(err)
}

func who(name string) string {
	if name == paths.Everyone {
		return "every agent"
	}
	return console.Inline(name)
}

// An attended session is one as it is listed.
type attendedRow struct {
	Agent   c3po.AgentID `json:"agent"`
	Client  string       `json:"client"`
	Session string       `json:"session"`
	Folder  string       `json:"folder"`
	Open    bool         `json:"open"`
	Allowed bool         `json:"allowed"`
	Mode    string       `json:"mode,omitempty"`
	Starts  int          `json:"starts_this_hour"`
	Most    int          `json:"max_starts_an_hour,omitempty"`
	At      time.Time    `json:"at"`
}

func attendList(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the sessions of this host that mail can resume",
		Long:    `List the last session of each agent on this host, whether mail may resume it, and with which rights.`,
		Example: `  c3po attend list`,
		RunE: func(*cobra.Command, []string) error {
			rows, err := attendedRows(a)
			if err != nil {
				return err
			}
			return a.Show(rows, func(w io.Writer) {
				if len(rows) == 0 {
					fmt.Fprintln(w, "no session of this host can be resumed yet")
					return
				}
				console.Table(w, func(row func(...string)) {
					row("AGENT", "CLIENT", "SESSION", "STATE", "MAIL RESUMES IT", "FOLDER")
					for _, r := range rows {
						state, resumes := "closed "+console.Ago(time.Now(), r.At), "no"
						if r.Open {
							state = "open"
						}
						if r.Allowed {
							resumes = fmt.Sprintf("%s, %d of %d starts this hour", r.Mode, r.Starts, r.Most)
						}
						row(console.Inline(string(r.Agent)), console.Inline(r.Client), console.Inline(r.Session), state, console.Inline(resumes), console.Inline(r.Folder))
					}
				})
			})
		},
	}
	return console.WithoutSettings(cmd)
}

func attendedRows(a *console.Console) ([]attendedRow, error) {
	consents, err := a.Folders.Consents()
	if err != nil {
		return nil, err
	}
	starts, err := a.Folders.Starts()
	if err != nil {
		return nil, err
	}
	rows := []attendedRow{}
	for _, s := range attend.Last(a.Folders.Sessions()) {
		consent, _ := consents.For(s.Agent)
		mode, allowed := attend.Permitted(s, consents)
		recent := slices.DeleteFunc(starts[s.Agent], func(at time.Time) bool { return time.Since(at) >= time.Hour })
		rows = append(rows, attendedRow{
			Agent: s.Agent, Client: s.Client, Session: s.ID, Folder: s.Folder, Open: runLives(s.Run), Allowed: allowed, Mode: mode,
			Starts: len(recent), Most: consent.Starts, At: s.At,
		})
	}
	return rows, nil
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
				Program: program, Arguments: []string{"attend"}, Log: filepath.Join(Home(a), "Library", "Logs", "c3po-attend.log"), StopWithin: 10 * time.Second,
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
