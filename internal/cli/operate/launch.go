package operate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/agentside"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

// Launch is c3po claude, c3po codex and so on: what a coding agent needs to be one of
// several is put in place, and it starts in this folder.
func Launch(a *console.Console, t agentside.Target) *cobra.Command {
	return &cobra.Command{
		Use:   t.Name + " [ARGS...]",
		Short: "Start " + t.Title + " here, as an agent that others can ask",
		Long: fmt.Sprintf(`Start %[1]s in this folder, as an agent that others can ask. If no coordinator
runs, one is started; if %[1]s does not have c3po yet, you see what would be changed
and are asked. What follows %[2]s is for its own command, %[3]s, except --as NAME: it names
the agent, which is otherwise called like the folder.`, t.Title, t.Name, t.Program),
		Example:            "  c3po " + t.Name + "\n  c3po " + t.Name + " --as gateway",
		DisableFlagParsing: true,
		Args:               cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			args, as, err := ownFlags(a, cmd, args)
			if err != nil {
				return err
			}
			if as != "" && t.Name == console.CodexName {
				return console.BadUsage("c3po codex takes no --as: one daemon serves all its terminals, so an agent is called like its folder", "Start it in a folder that has the name you want.")
			}
			if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			program, err := exec.LookPath(t.Program)
			if err != nil {
				return c3po.Errorf(c3po.InvalidRequest, "%s is not installed: there is no command %s in the PATH", t.Title, t.Program).
					Suggest("Install it first, or try `c3po demo`, which needs none.")
			}
			if err := a.RefuseUnjoined(); err != nil {
				return err
			}
			// Before anything is started: whoever says no, or cannot be asked, leaves no trace.
			if err := askToInstall(cmd.Context(), a, t); err != nil {
				return err
			}
			if err := ensureCoordinator(cmd.Context(), a); err != nil {
				return err
			}
			if err := ensureInstalled(cmd.Context(), a, t); err != nil {
				return err
			}
			if err := agentside.OfferLeases(a); err != nil {
				return err
			}
			return become(program, args, as)
		},
	}
}

// ownFlags takes out what is for c3po: cobra hands everything to a command that reads its
// own flags. As is the name that --as gives the agent.
func ownFlags(a *console.Console, cmd *cobra.Command, args []string) (rest []string, as string, err error) {
	before := min(max(0, slices.Index(a.Args, cmd.CalledAs())), len(args))
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		switch {
		case args[i] == "--":
			return append(rest, args[i:]...), as, nil
		case name == "--as":
			if !given {
				if i++; i == len(args) {
					return nil, "", console.BadUsage("--as needs a name", "For example: "+cmd.CommandPath()+" --as gateway")
				}
				value = args[i]
			}
			id, err := c3po.ParseAgentID(value)
			if err != nil {
				return nil, "", console.BadUsage(err.Error(), c3po.AsError(err).Suggestion)
			}
			as = string(id)
		case i >= before:
			rest = append(rest, args[i])
		case args[i] == "--json":
			a.JSON = true
		default:
			return nil, "", console.BadUsage(fmt.Sprintf("%s takes no %s", cmd.CommandPath(), args[i]), "What follows "+cmd.Name()+" is for its own command; set C3PO_SPACE or C3PO_COORDINATOR_URL instead.")
		}
	}
	return rest, as, nil
}

// ensureCoordinator starts one if none runs here and this host has joined none.
func ensureCoordinator(ctx context.Context, a *console.Console) error {
	svc, err := a.Looking()
	if err != nil {
		return err
	}
	_, err = svc.ListAgents(ctx, c3po.ListAgentsInput{Limit: 1})
	if a.IsForeign(err) {
		return startOwn(ctx, a)
	}
	if !errors.Is(err, c3po.CoordDown) || a.URL != "" || refuseJoined(a) != nil {
		return err // it runs, or it is another host's, which only that one can start
	}
	return startOwn(ctx, a)
}

// startOwn starts a coordinator as c3po up does.
func startOwn(ctx context.Context, a *console.Console) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := runOwn(exec.CommandContext(ctx, program, "up", "--json")) // #nosec G204 -- this program
	if err != nil {
		return err
	}
	var started start
	if err := json.Unmarshal(out, &started); err != nil {
		return err
	}
	started.printURL(a.Stdout)
	return nil
}

// runOwn runs a command of this program that prints JSON, and passes its error on.
func runOwn(cmd *exec.Cmd) ([]byte, error) {
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	var refused c3po.Error
	if json.Unmarshal(said.Bytes(), &refused) == nil && refused.Code != "" {
		return nil, &refused
	}
	return nil, c3po.Errorf(c3po.Internal, "c3po %s: %w: %s", strings.Join(cmd.Args[1:], " "), err, strings.TrimSpace(said.String())).
		Suggest("Run `c3po doctor`.")
}

// askToInstall says what putting c3po into a coding agent changes, and asks, if it does
// not have it.
func askToInstall(ctx context.Context, a *console.Console, t agentside.Target) error {
	if has(a, t) {
		return nil
	}
	plan, err := t.Installer(agentside.InstallFlags{DryRun: true})
	if err != nil {
		return err
	}
	if !a.AtTerminal() {
		return c3po.Errorf(c3po.InvalidRequest, "%s does not have c3po yet, and nobody is at a terminal to be asked", t.Title).
			Suggest("Run `c3po install %s` first.", t.Name)
	}
	fmt.Fprintf(a.Stdout, "%s does not have c3po yet. To install it, c3po\n\n", t.Title)
	var changes bytes.Buffer
	if err := plan.Install(ctx, &changes); err != nil {
		return err
	}
	fmt.Fprint(a.Stdout, inShort(changes.String(), t.Name))
	fmt.Fprintf(a.Stdout, "\n%s\n", console.Hang(a.Stdout, 0, fmt.Sprintf("That is for all your projects: %s gets c3po's tools, which it may use without asking you, and learns of mail while it works. Where %s can be woken, mail can start a turn.", t.Title, t.Title)))
	yes, err := a.Confirm(fmt.Sprintf("c3po uninstall %s takes all of it back. Install it now?", t.Name), true)
	if err != nil {
		return err
	}
	if !yes {
		return c3po.Errorf(c3po.InvalidRequest, "nothing was changed").Suggest("Start %s without c3po with: %s", t.Title, t.Program)
	}
	return nil
}

// maxPlanLines are what a person reads before a question; of a longer plan the start would
// have scrolled away.
const maxPlanLines = 15

// inShort is what an installation changes, with a line for each file if the lines of all
// are too many to be read.
func inShort(plan, client string) string {
	if strings.Count(plan, "\n") <= maxPlanLines {
		return plan
	}
	var short strings.Builder
	file, added, removed := "", 0, 0
	end := func() {
		if file != "" {
			fmt.Fprintf(&short, "%s: %s, %s\n", file, console.CountOf(added, "line")+" added", fmt.Sprint(removed)+" removed")
		}
		file, added, removed = "", 0, 0
	}
	for line := range strings.Lines(plan) {
		switch {
		case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "--- "):
			end()
		case strings.HasPrefix(line, "+++ "):
			file, _, _ = strings.Cut(strings.TrimSpace(line[4:]), " (with the change)")
		case file != "" && line[0] == '+':
			added++
		case file != "" && line[0] == '-':
			removed++
		case file != "" && (line[0] == ' ' || line[0] == '@' || line[0] == '\\'):
		default:
			end()
			short.WriteString(line)
		}
	}
	end()
	fmt.Fprintf(&short, "c3po install %s --dry-run shows each line.\n", client)
	return short.String()
}

// ensureInstalled puts c3po into a coding agent that does not have it.
func ensureInstalled(ctx context.Context, a *console.Console, t agentside.Target) error {
	if has(a, t) {
		return nil
	}
	real, err := t.Installer(agentside.InstallFlags{})
	if err != nil {
		return err
	}
	return real.Install(ctx, a.Stdout)
}

// has says that a coding agent has c3po. Claude Code is read, not asked: asking it
// takes a second.
func has(a *console.Console, t agentside.Target) bool {
	i, err := t.Installer(agentside.InstallFlags{})
	if err != nil {
		return false
	}
	switch i := i.(type) {
	case *agentside.FileInstaller:
		return i.Plan.Installed()
	case *agentside.ClaudeInstaller:
		list, err := os.ReadFile(agentside.ClaudeFolder(a, "plugins", "installed_plugins.json"))
		_, missing := os.Stat(i.Folder)
		return err == nil && missing == nil && bytes.Contains(list, []byte(`"`+agentside.PluginID+`"`))
	default:
		return false
	}
}

// become makes this process the program, where a system can do that; elsewhere it
// waits for it.
func become(program string, args []string, as string) error {
	env := os.Environ()
	if as != "" {
		env = append(env, "C3PO_AGENT_ID="+as)
	}
	if runtime.GOOS != "windows" {
		return syscall.Exec(program, append([]string{program}, args...), env) // #nosec G204 -- what the person has typed
	}
	cmd := exec.Command(program, args...) // #nosec G204 -- what the person has typed
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return &console.EndedError{Code: ended.ExitCode()}
	}
	return err
}
