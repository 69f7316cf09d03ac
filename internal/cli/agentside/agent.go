package agentside

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/runner"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

// ClaudeDocker is a name of the program under which it has the commands of
// claude-docker.
const ClaudeDocker = "claude-docker"

// DockerArguments are the arguments of claude-docker in our words: what is no
// command of it is a prompt.
func DockerArguments(args []string) []string {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		if arg == "agent" {
			i := slices.Index(args, arg)
			return append([]string{"agent"}, append(slices.Clone(args[i+1:]), args[:i]...)...)
		}
		if slices.Contains([]string{"setup", "setup-c3po", "shell"}, arg) {
			return append([]string{"agent"}, args...)
		}
		break
	}
	if len(args) == 0 || args[0] == "--help" || args[0] == "-h" {
		return append([]string{"agent"}, args...)
	}
	return append([]string{"agent", "prompt"}, args...)
}

// showFlags are how the output of a container is shown.
type showFlags struct {
	stream   bool
	raw      bool
	noStream bool
	build    bool
	runtime  string
}

func (f *showFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&f.stream, "stream", "s", false, "show what it does while it does it")
	flags.BoolVarP(&f.raw, "raw", "j", false, "with -s: as the program writes it, JSON line by line")
	flags.BoolVar(&f.noStream, "no-stream", false, "show only the result, at the end")
	flags.BoolVarP(&f.build, "build", "b", false, "build the image although it is current")
	addRuntime(cmd, &f.runtime)
}

func addRuntime(cmd *cobra.Command, runtime *string) {
	cmd.Flags().StringVar(runtime, "runtime", "", "docker, podman or finch, or the path of one; else the first that is here")
	console.Setting(cmd.Flags(), "runtime", "C3PO_RUNTIME", "")
}

func (f *showFlags) streaming(otherwise runner.Streaming) (runner.Streaming, error) {
	switch {
	case f.noStream && (f.stream || f.raw):
		return 0, console.BadUsage("--no-stream and -s contradict each other", "Give one of them.")
	case f.noStream:
		return runner.Buffered, nil
	case f.raw:
		return runner.Raw, nil
	case f.stream:
		return runner.Formatted, nil
	default:
		return otherwise, nil
	}
}

// agentStreaming is how the output of agents is shown: as a flag says, else as
// streamLogging in claude-docker.yaml does.
func agentStreaming(a *console.Console, f showFlags) (runner.Streaming, error) {
	places, err := runnerPlaces(a)
	if err != nil {
		return 0, err
	}
	streams, err := places.StreamLogging()
	if err != nil {
		return 0, err
	}
	if !streams {
		return f.streaming(runner.Buffered)
	}
	return f.streaming(runner.Formatted)
}

func Agent(a *console.Console) *cobra.Command {
	run := agentRun(a)
	cmd := &cobra.Command{
		Use:   "agent [NAME]",
		Short: "Run agents in containers, started by their mail",
		Long: `Run agents in containers. agents.yaml names them; c3po agent NAME runs one of
them. An agent with triggers is started whenever one of them fires, and nothing of
it runs in between. See docs/guides/runner.md.`,
		Example: `  c3po agent list
  c3po agent run reviewer
  c3po agent prompt "What does this repository do?"`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			if err := run.Args(cmd, args); err != nil {
				return err
			}
			return run.RunE(cmd, args)
		},
	}
	// The flags of run are also those of c3po agent NAME.
	cmd.Flags().AddFlagSet(run.Flags())
	cmd.AddCommand(run, agentList(a), agentPrompt(a), agentShell(a), agentSetup(a), agentSetupC3PO(a),
		agentCheck(a), agentUnit(a), agentUp(a), agentStatus(a), agentPs(a), agentStop(a), agentLogs(a))
	return cmd
}

func agentRun(a *console.Console) *cobra.Command {
	var flags showFlags
	var once bool
	cmd := &cobra.Command{
		Use:   "run NAME",
		Short: "Run an agent of agents.yaml",
		Long: `Run an agent of agents.yaml in a container. One with triggers runs now, and again
whenever one of them fires, until this command is interrupted. The exit code
comes from the program in the container, or is 0 if you end the loop.`,
		Example: `  c3po agent run reviewer
  c3po agent run reviewer --once`,
		RunE: func(cmd *cobra.Command, args []string) error {
			how, err := agentStreaming(a, flags)
			if err != nil {
				return err
			}
			file, err := agentsOfHost(a)
			if err != nil {
				return err
			}
			agent, err := file.Agent(args[0])
			if err != nil {
				return err
			}
			warnOfWaiting(a, agent)
			cfg, err := withCoordinator(cmd.Context(), a, flags.runtime)
			if err != nil {
				return err
			}
			code, err := runner.New(cfg).Agent(cmd.Context(), agent, runner.AgentOptions{How: how, Build: flags.build, Once: once})
			if errors.Is(err, runner.ErrStopped) {
				return nil
			}
			return exitError(code, err)
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&once, "once", false, "run it one time, whatever its triggers")
	return cmd
}

// exitError is the exit code of a container as the end of a command.
func exitError(code int, err error) error {
	if err != nil {
		return err
	}
	if code == 0 {
		return nil
	}
	return &console.EndedError{Code: code}
}

// warnOfWaiting says that an agent will wait in its container, which costs a
// model's time.
func warnOfWaiting(a *console.Console, agent agentfile.Agent) {
	if agent.Prompt == "" && len(agent.Triggers) == 0 {
		a.Warn(fmt.Sprintf("%s has no prompt and no triggers, so it waits for mail inside its container, which is deprecated: waiting costs tokens", agent.Name),
			"Give it a prompt, or `triggers: [{type: c3po}]`, in agents.yaml.")
	}
}

// An agentRow is an agent of agents.yaml as it is listed.
type agentRow struct {
	Name      string   `json:"name"`
	Workspace string   `json:"workspace"`
	Client    string   `json:"client"`
	Model     string   `json:"model,omitempty"`
	Triggers  []string `json:"triggers"`
}

func agentList(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the agents of agents.yaml",
		Example: `  c3po agent list`,
		RunE: func(*cobra.Command, []string) error {
			file, err := agentsOfHost(a)
			if err != nil {
				return err
			}
			rows := []agentRow{}
			for _, agent := range file.Agents {
				row := agentRow{Name: agent.Name, Workspace: agent.Workspace, Client: agent.Client, Model: agent.Model, Triggers: []string{}}
				for _, t := range agent.Triggers {
					row.Triggers = append(row.Triggers, string(t.Type))
				}
				rows = append(rows, row)
			}
			return a.Show(rows, func(w io.Writer) {
				if len(rows) == 0 {
					fmt.Fprintf(w, "no agents are named in %s\n", console.Inline(file.Path))
					return
				}
				console.Table(w, func(line func(...string)) {
					line("AGENT", "CLIENT", "MODEL", "STARTED BY", "WORKSPACE")
					for _, r := range rows {
						line(console.Inline(r.Name), console.Inline(r.Client), console.Inline(cmp.Or(r.Model, "-")), console.Inline(cmp.Or(strings.Join(r.Triggers, ", "), "-")), console.Inline(r.Workspace))
					}
				})
			})
		},
	}
}
