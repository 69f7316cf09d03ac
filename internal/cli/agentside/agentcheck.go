package agentside

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/runner"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

// A checkedAgent is one of a file that was understood.
type checkedAgent struct {
	Name      string   `json:"name"`
	Line      int      `json:"line"`
	Workspace string   `json:"workspace"`
	Client    string   `json:"client"`
	Triggers  []string `json:"triggers"`
	Warnings  []string `json:"warnings"`
}

func agentCheck(a *console.Console) *cobra.Command {
	var schema bool
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Say whether agents.yaml is right",
		Long: `Read agents.yaml, or FILE, and say what is wrong with it: line, column and the key
that was meant. What is allowed and yet may surprise is a warning. Nothing is
started and nothing is asked for over the network.`,
		Example: `  c3po agent check
  c3po agent check --schema`,
		RunE: func(_ *cobra.Command, args []string) error {
			if schema {
				_, err := a.Stdout.Write(agentfile.Schema())
				return err
			}
			p, err := runnerPlaces(a)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				if _, err := os.Stat(args[0]); err != nil {
					return c3po.Errorf(c3po.InvalidRequest, "there is no file %s", args[0]).Suggest("Without a name it is %s that is checked.", p.AgentFile)
				}
				p.AgentFile = args[0]
			}
			file, err := agentFile(a, p)
			if err != nil {
				return err
			}
			if left := p.LeftBehind(); left != "" {
				a.Warn(fmt.Sprintf("%s is no longer the ~/.claude of containers: any of them could write to it, and each agent has its own now", left),
					fmt.Sprintf("Look at it, and copy what you want in all of them to %s.", p.Template))
			}
			cfg, err := runnerConfig(a)
			if err != nil {
				return err
			}
			r := runner.New(cfg)
			checked := []checkedAgent{}
			for _, agent := range file.Agents {
				checked = append(checked, checkAgent(a, r, agent, file.Agents))
			}
			return a.Show(checked, func(w io.Writer) { showChecked(w, file, checked) })
		},
	}
	cmd.Flags().BoolVar(&schema, "schema", false, "print a JSON Schema of the file, for editors")
	return cmd
}

// checkAgent looks at what a file cannot know of this host.
func checkAgent(a *console.Console, r *runner.Runner, agent agentfile.Agent, all []agentfile.Agent) checkedAgent {
	c := checkedAgent{Name: agent.Name, Line: agent.Line, Workspace: agent.Workspace, Client: agent.Client, Triggers: []string{}, Warnings: []string{}}
	warn := func(format string, args ...any) { c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...)) }
	for _, t := range agent.Triggers {
		c.Triggers = append(c.Triggers, string(t.Type))
	}
	if info, err := os.Stat(agent.Workspace); err != nil || !info.IsDir() {
		warn("there is no folder %s", agent.Workspace)
	} else if err := r.CheckWorkspace(agent); err != nil {
		warn("it will not run: %v", err)
	}
	for _, other := range all {
		if other.Name != agent.Name && other.Workspace != agent.Workspace && runner.Within(agent.Workspace, other.Workspace) {
			warn("its workspace is inside the workspace of %s, which controls what is in it", other.Name)
		}
	}
	for _, v := range agent.Env {
		if v.Inherit && a.Getenv(v.Name) == "" {
			warn("%s has no value in the file, and none in this environment", v.Name)
		}
	}
	for _, t := range agent.Triggers {
		if t.Type == agentfile.TriggerScript && touches(t.Command, agent) {
			warn("a script trigger works on what the container wrote: run no program of the workspace, and no git, make or npm in it")
		}
	}
	for i, command := range agent.PostRun {
		if touches(command, agent) {
			warn("command %d of post_run works on what the container wrote: run no program of the workspace, and no git, make or npm in it; `push:` is for git", i+1)
		}
	}
	c.Warnings = append(c.Warnings, r.Misplaced(agent)...)
	if agent.Network == agentfile.NetworkHost {
		warn("network: host: the container reaches everything that listens on this host's loopback, such as databases and the coordinator, and may listen there itself")
	}
	if agent.Prompt == "" && len(agent.Triggers) == 0 {
		warn("%s has no prompt and no triggers: it waits for mail inside its container, which costs tokens", agent.Name)
	}
	return c
}

// gitWord is a git that is run by a command.
var gitWord = regexp.MustCompile(`(^|[\s;&|(])git\s`)

// touches says that a command of this host seems to work in the workspace.
func touches(command string, agent agentfile.Agent) bool {
	return strings.Contains(command, runner.WorkspaceVariable) || strings.Contains(command, agent.Workspace) || gitWord.MatchString(command)
}

func showChecked(w io.Writer, file *agentfile.File, checked []checkedAgent) {
	if len(checked) == 0 {
		fmt.Fprintf(w, "no agents are named in %s\n", console.Inline(file.Path))
		return
	}
	console.Table(w, func(row func(...string)) {
		row("AGENT", "CLIENT", "TRIGGERS", "WORKSPACE")
		for _, c := range checked {
			triggers := strings.Join(c.Triggers, ", ")
			if triggers == "" {
				triggers = "-"
			}
			row(console.Inline(c.Name), console.Inline(c.Client), console.Inline(triggers), console.Inline(c.Workspace))
		}
	})
	for _, c := range checked {
		for _, warning := range c.Warnings {
			fmt.Fprintf(w, "%s:%d: warning: %s\n", console.Inline(file.Path), c.Line, console.Inline(warning))
		}
	}
	fmt.Fprintf(w, "%s is right\n", console.Inline(file.Path))
}
