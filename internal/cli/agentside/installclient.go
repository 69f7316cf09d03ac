package agentside

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/clients"
	"github.com/c3po-dev/c3po/internal/host/verify"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// InstallFlags are those of the commands that install, and take back.
type InstallFlags struct {
	DryRun  bool
	project bool
	stay    bool
	// approvals lets the person decide the client's dialogs from elsewhere.
	approvals bool
	hold      time.Duration // the same, for a client that keeps them closed meanwhile
	rooms     []string
}

// An Installer brings c3po into one coding agent, and out of it.
type Installer interface {
	Install(ctx context.Context, out io.Writer) error
	Uninstall(ctx context.Context, out io.Writer) error
}

// A Target is a coding agent one can install into.
type Target struct {
	Name, Title, Program string
	// files says that it takes c3po in by its own files, for one project or all.
	files bool
	// stays says that it can be made to wait for mail at the end of a turn.
	stays bool
	// approves says that its dialogs can be decided from elsewhere.
	approves bool
	// holds says that they open only when the person was asked elsewhere.
	holds     bool
	long      string
	Installer func(InstallFlags) (Installer, error)
}

// approvalsHelp says what --approvals does where the dialog stays usable.
const approvalsHelp = `

With --approvals a permission dialog is also a question to you, wherever you are: decide
it at the terminal or with c3po answer, whichever is first. Installing again without it
takes that back; c3po off --approvals does so for a while.`

// holdsHelp is the same where the dialog opens only then.
const holdsHelp = `

With --approvals you are asked elsewhere before a permission dialog opens, for a minute,
or longer with --approvals=10m: %[1]s opens its dialog only when c3po's hook has ended.
It opens at once if you typed at its terminal within the last minute or the coordinator
is away, and as soon as you press a key there. Installing again without it takes that
back; c3po off --approvals does so for a while.`

// Targets are all of them, in the order they are shown.
func Targets(a *console.Console) []Target {
	all := []Target{{
		Name: "claude", Title: "Claude Code", Program: "claude",
		long: `Install the plugin into Claude Code, for all projects of this user: tools, hooks, the
monitor that wakes an idle session, and /c3po:coordinate. Doing it again changes
nothing; c3po uninstall claude takes it back. Sessions that run already do not have
it. It ends with a test of what was installed.

With --room every session joins these rooms and has the tools for rooms; installing
again without it takes that back. Sessions stay in the rooms they have joined.` + approvalsHelp, approves: true,
		Installer: func(f InstallFlags) (Installer, error) { return claudeInstaller(a, f) },
	}}
	for _, c := range clients.All() {
		more := ""
		switch {
		case c.Holds:
			more = fmt.Sprintf(holdsHelp, c.Title)
		case c.Approvals:
			more = approvalsHelp
		}
		all = append(all, Target{
			Name: c.Name, Title: c.Title, Program: c.Program, files: true, stays: c.Stays, approves: c.Approvals, holds: c.Holds,
			long: fmt.Sprintf(`Add c3po to the settings of %[1]s, for all your projects or for the current folder:
tools, hooks, and a skill that says how to use them. Everything else in the files
stays, and a backup is kept. It says what you approve. Repeating it changes nothing;
c3po uninstall %[2]s undoes it. Restart sessions that are already running. It ends
with c3po verify.

With --room every session joins these rooms and has the tools for rooms; installing
again without it takes that back. Sessions stay in the rooms they have joined.`, c.Title, c.Name) + more,
			Installer: func(f InstallFlags) (Installer, error) { return NewFileInstaller(a, c, f) },
		})
	}
	return all
}

// TargetsHere are those whose program is on this host.
func TargetsHere(a *console.Console) []Target {
	var here []Target
	for _, t := range Targets(a) {
		if _, err := exec.LookPath(t.Program); err == nil {
			here = append(here, t)
		}
	}
	return here
}

// TargetCommand is install or uninstall for one coding agent.
func TargetCommand(a *console.Console, t Target, verb, short, long string, do func(Installer, context.Context, io.Writer) error) *cobra.Command {
	var flags InstallFlags
	cmd := &cobra.Command{
		Use: t.Name, Short: short, Long: long,
		Example: "  c3po " + verb + " " + t.Name + "\n  c3po " + verb + " " + t.Name + " --dry-run",
		Args:    console.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			i, err := t.Installer(flags)
			if err != nil {
				return err
			}
			return a.Narrate(func(out io.Writer) error { return do(i, cmd.Context(), out) })
		},
	}
	cmd.Flags().BoolVar(&flags.DryRun, "dry-run", false, "say what would be done, and do nothing")
	if t.files {
		cmd.Flags().BoolVar(&flags.project, "project", false, "only in the project of the current folder")
	}
	if verb == "install" {
		cmd.Example = "  c3po install " + t.Name + "\n  c3po install " + t.Name + " --room build --room lobby\n  c3po install " + t.Name + " --dry-run"
		cmd.Flags().StringSliceVar(&flags.rooms, "room", nil, "a room that every session joins when it starts; can be given again")
		switch {
		case t.holds:
			cmd.Flags().DurationVar(&flags.hold, "approvals", 0, "permission dialogs are questions to you first, for so long; installing again without it takes that back")
			cmd.Flags().Lookup("approvals").NoOptDefVal = session.DefaultApprovalWait.String()
		case t.approves:
			cmd.Flags().BoolVar(&flags.approvals, "approvals", false, "permission dialogs are questions to you too; installing again without it takes that back")
		}
		if t.stays {
			cmd.Flags().BoolVar(&flags.stay, "stay-reachable", false, "the end of a turn waits for mail, until Esc; installing again without it takes that back")
		}
	}
	cmd.SetFlagErrorFunc(badInstallFlag)
	return cmd
}

// Everywhere installs into all coding agents of this host, or takes c3po out of
// them. One that fails does not keep the others from it.
func Everywhere(ctx context.Context, a *console.Console, out io.Writer, flags InstallFlags, do func(Installer, context.Context, io.Writer) error) error {
	here := TargetsHere(a)
	if len(here) == 0 {
		return c3po.Errorf(c3po.InvalidRequest, "no coding agent is in the PATH that c3po knows").
			Suggest("Install one first; c3po install --help lists them.")
	}
	var failed error
	for _, t := range here {
		fmt.Fprintf(out, "%s:\n", t.Title)
		i, err := t.Installer(flags)
		if err == nil {
			err = do(i, ctx, out)
		}
		if err != nil {
			e := c3po.AsError(err)
			fmt.Fprintf(out, "%s\n%s\n", console.Inline(e.Message), console.Inline(e.Suggestion))
			failed = c3po.Because(err, e.Code, t.Title+": "+e.Message).Suggest("%s", e.Suggestion)
		}
	}
	return failed
}

// minHold and maxHold bound how long a permission dialog may be kept closed while the
// person is asked elsewhere.
const (
	minHold = 5 * time.Second
	maxHold = time.Hour
)

// A FileInstaller changes the files of a client.
type FileInstaller struct {
	console *console.Console
	Plan    clients.Installer
	flags   InstallFlags
}

func NewFileInstaller(a *console.Console, c clients.Client, flags InstallFlags) (*FileInstaller, error) {
	rooms := strings.Join(flags.rooms, ",")
	if _, err := roomNames(rooms); err != nil {
		return nil, err
	}
	home := a.Home()
	if !filepath.IsAbs(home) {
		return nil, console.BadUsage("HOME is not set", "The files of "+c.Title+" are in it.")
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	data, err := a.Folders.Data()
	if err != nil {
		return nil, err
	}
	if flags.hold != 0 && (flags.hold < minHold || flags.hold > maxHold) {
		return nil, console.BadUsage("--approvals is "+flags.hold.String(), "It must be between "+minHold.String()+" and "+maxHold.String()+".")
	}
	place := clients.Place{Home: home, Program: program, Rooms: rooms, Stay: flags.stay, Approvals: flags.approvals || flags.hold > 0, Hold: flags.hold, Getenv: a.Getenv}
	if flags.project {
		if place.Project, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	return &FileInstaller{console: a, flags: flags, Plan: clients.Installer{Client: c, Place: place, Folder: filepath.Join(data, "clients")}}, nil
}

// refuseShell keeps from a client of Windows what only sh can run: each of its turns would
// begin and end with an error.
func refuseShell(title, client string) error {
	if runtime.GOOS != "windows" {
		return nil
	}
	return c3po.Errorf(c3po.InvalidRequest, "c3po can't be installed into %s on Windows", title).
		Suggest("Use both in WSL, or give %s the tools only: they are served by c3po mcp --client %s", title, client)
}

func (i *FileInstaller) Install(ctx context.Context, out io.Writer) error {
	if i.Plan.Client.Shell {
		if err := refuseShell(i.Plan.Client.Title, i.Plan.Client.Name); err != nil {
			return err
		}
	}
	plan, err := i.Plan.PlanInstall()
	if err != nil {
		return err
	}
	changed := i.say(out, plan)
	if !changed {
		fmt.Fprintf(out, "%s has c3po already\n", i.Plan.Client.Title)
	}
	for _, words := range i.Plan.Client.Approves {
		fmt.Fprintf(out, "you approve: %s\n", words)
	}
	if i.Plan.Place.Approvals {
		fmt.Fprintln(out, "you approve: a hook of c3po at each permission dialog. What you allow from elsewhere runs, once, as if you had allowed it in the dialog")
	}
	if i.flags.DryRun {
		return nil
	}
	if err := i.Plan.Install(plan); err != nil {
		return err
	}
	for _, words := range i.Plan.Client.Notes {
		fmt.Fprintf(out, "note: %s\n", words)
	}
	if i.Plan.Place.Hold > 0 {
		fmt.Fprintf(out, "note: %s opens a permission dialog only after you were asked elsewhere, for up to %s. Press a key at its terminal to see it sooner\n", i.Plan.Client.Title, i.Plan.Place.Hold)
	}
	return i.test(ctx, out)
}

func (i *FileInstaller) Uninstall(_ context.Context, out io.Writer) error {
	plan, err := i.Plan.PlanUninstall()
	if err != nil {
		return err
	}
	if !i.say(out, plan) {
		fmt.Fprintf(out, "%s has nothing of c3po\n", i.Plan.Client.Title)
	}
	if i.flags.DryRun {
		return nil
	}
	if err := i.Plan.Uninstall(plan); err != nil || i.flags.project {
		return err
	}
	return errors.Join(i.console.Folders.ForgetHookRun(i.Plan.Client.Name), i.console.Folders.ForgetSessions(i.Plan.Client.Name))
}

// say tells what the plan does to which files, and whether it does anything.
func (i *FileInstaller) say(out io.Writer, plan []clients.Change) (changes bool) {
	for _, c := range plan {
		switch {
		case c.Left != "":
			fmt.Fprintf(out, "%s stays: %s\n", console.Inline(c.Path), console.Inline(c.Left))
			continue
		case bytes.Equal(c.Before, c.After) && !c.Remove:
			continue
		}
		changes = true
		if i.flags.DryRun {
			for _, line := range sanitise.Lines(strings.TrimSuffix(c.Diff(), "\n")) {
				fmt.Fprintln(out, line)
			}
			continue
		}
		verb := "change"
		if c.Remove {
			verb = "remove"
		} else if len(c.Before) == 0 {
			verb = "write"
		}
		fmt.Fprintf(out, "%s %s\n", verb, console.Inline(c.Path))
		if verb == "change" && c.Backup != "" {
			fmt.Fprintf(out, "  what it was is kept in %s\n", console.Inline(c.Backup))
		}
	}
	return changes
}

// test starts what the client will start, and looks whether the coordinator is
// there, which it need not be. If it is, mail must arrive.
func (i *FileInstaller) test(ctx context.Context, out io.Writer) error {
	title := i.Plan.Client.Title
	tools, err := session.SelfTest(ctx, i.console.Version, exec.Command(i.Plan.Place.Program, "mcp", "--client", i.Plan.Client.Name))
	if err != nil {
		return c3po.Errorf(c3po.Internal, "%w", err).Suggest("Run `c3po mcp` by hand to see what it says.")
	}
	fmt.Fprintf(out, "%s has c3po with %d tools, from its next session on\n", title, tools)
	answers, err := coordinatorAnswers(ctx, i.console, out)
	if err != nil || !answers {
		return err
	}
	return i.verify(ctx, out)
}

// verify proves that mail arrives at the client, as c3po verify does.
func (i *FileInstaller) verify(ctx context.Context, out io.Writer) error {
	cfg, _, done, err := verification(ctx, i.console)
	if err != nil {
		return err
	}
	defer done()
	cfg.Clients = []verify.Client{i.verifyClient(cfg.Own.Env)}
	all := verify.Run(ctx, cfg, func(r verify.Result) { printPath(out, i.console.Ink(), r) })
	if pathsCode(all) == console.ExitOK {
		return ctx.Err()
	}
	return c3po.Errorf(c3po.Internal, "c3po is in the files of %s, but mail does not arrive on all ways", i.Plan.Client.Title).
		Suggest("Run `c3po verify` to see which; `c3po uninstall %s` takes it back.", i.Plan.Client.Name)
}

// verifyClient is the client as verify tries it: by what its files name.
func (i *FileInstaller) verifyClient(env []string) verify.Client {
	c := verify.Client{Name: i.Plan.Client.Name, Fix: "c3po install " + i.Plan.Client.Name}
	setup, err := i.Plan.Client.Setup(i.Plan.Place)
	if err != nil {
		c.Trouble = c3po.AsError(err).Message
		return c
	}
	if r, err := RunOf(i.console, os.Getpid()); err == nil && c.Name == console.CodexName {
		// Its session process is a run of its own, unless it is told that it belongs to this one.
		env = append(slices.Clone(env), "C3PO_RUN="+r.Name)
	}
	if len(setup.Command) > 0 {
		c.Server = &verify.Command{Args: setup.Command, Env: env}
	}
	if c.Wakes = setup.Wakes; len(setup.Monitor) > 0 {
		c.Monitor = &verify.Command{Args: setup.Monitor, Env: env}
	}
	for _, h := range setup.Hooks {
		hook := verify.Hook{Event: h.Event, Tool: h.Tool, Input: h.Input}
		if len(h.Command) > 0 {
			hook.Command = &verify.Command{Args: h.Command, Env: env}
		}
		if h.Missing {
			hook.Trouble = "it is not in the files of " + i.Plan.Client.Title
		}
		c.Hooks = append(c.Hooks, hook)
	}
	return c
}

// coordinatorAnswers says whether it does; that it does not is no failure.
func coordinatorAnswers(ctx context.Context, a *console.Console, out io.Writer) (bool, error) {
	svc, err := a.Looking()
	if err != nil {
		return false, err
	}
	if _, err := svc.Health(ctx); err != nil {
		e := c3po.AsError(err)
		fmt.Fprintf(out, "%s\n%s\n", console.Inline(e.Message), console.Inline(e.Suggestion))
		return false, nil
	}
	fmt.Fprintf(out, "the coordinator at %s answers\n", console.Inline(svc.URL()))
	return true, nil
}
