package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/internal/cli/console"
)

// everyday are the commands most people ever need, in the order in which they meet
// them. The others are in c3po help all.
var everyday = []struct{ title, commands string }{
	{"Start", "demo up claude"},
	{"Talk", "send inbox reply wait"},
	{"Stay in control", "answer top open agents pause"},
	{"When something is wrong", "status doctor logs"},
}

// allTopic is the name of the help that lists every command.
const allTopic = "all"

// long is what a command says of itself, as wide as the help. It is not made for every
// command at every start: that took a twelfth of the time of a short one.
func long(cmd *cobra.Command) string { return console.Reflow(cmd.Long, console.HelpColumns) }

// helps gives the program a first help that fits a screen, and a second with everything.
func helps(a *console.Console, root *cobra.Command) {
	wrapped := fmt.Sprintf(".FlagUsagesWrapped %d", console.HelpColumns)
	root.SetUsageTemplate(strings.NewReplacer(".FlagUsages", wrapped, "Additional Commands:", "Other:", "Additional help topics:", "More help:").Replace(root.UsageTemplate()))
	plain := root.HelpFunc()
	whole := func(cmd *cobra.Command, args []string) {
		cmd.Long = long(cmd)
		plain(cmd, args)
	}
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		switch {
		case a.JSON:
			_ = a.Show(describe(cmd), nil) // nobody may be reading
		case cmd == root:
			everydayHelp(a, root)
		default:
			whole(cmd, args)
		}
	})
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show help for a command, or with all every command",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == allTopic {
				if a.JSON {
					return root.Help()
				}
				whole(root, nil)
				return nil
			}
			topic, rest, err := root.Find(args)
			switch {
			case err != nil || topic == root && len(rest) > 0:
				return console.UnknownCommand(root, args)
			case len(rest) > 0 && topic.HasSubCommands():
				return console.UnknownCommand(topic, rest)
			case len(rest) > 0:
				return console.BadUsage(fmt.Sprintf("%s has no commands, so there is no help for %q", topic.CommandPath(), strings.Join(rest, " ")), "c3po help "+topic.Name()+" shows how to use it.")
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	})
}

// A description is the help of a command as JSON.
type description struct {
	Command  string        `json:"command"`
	Usage    string        `json:"usage,omitempty"`
	Short    string        `json:"short"`
	Long     string        `json:"long,omitempty"`
	Example  string        `json:"example,omitempty"`
	Aliases  []string      `json:"aliases,omitempty"`
	Flags    []flagHelp    `json:"flags,omitempty"`
	Commands []description `json:"commands,omitempty"`
}

// A flagHelp is one flag of a command.
type flagHelp struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Default string `json:"default,omitempty"`
	Usage   string `json:"usage"`
}

// describe is a command with its flags, and the commands below it in a line each.
func describe(cmd *cobra.Command) description {
	d := description{Command: cmd.CommandPath(), Short: cmd.Short, Long: long(cmd), Example: cmd.Example, Aliases: cmd.Aliases}
	if cmd.Runnable() {
		d.Usage = cmd.UseLine()
	}
	for _, f := range shownFlags(cmd.Flags()) {
		d.Flags = append(d.Flags, flagHelp{Name: f.Name, Type: f.Value.Type(), Default: f.DefValue, Usage: f.Usage})
	}
	for _, child := range childrenOf(cmd) {
		d.Commands = append(d.Commands, description{Command: child.CommandPath(), Short: child.Short, Aliases: child.Aliases})
	}
	return d
}

func everydayHelp(a *console.Console, root *cobra.Command) {
	in := a.Ink()
	fmt.Fprintln(a.Stdout, "c3po lets the coding agents you run ask each other for help.")
	for _, group := range everyday {
		fmt.Fprintf(a.Stdout, "\n%s\n", in.Bold(group.title+":"))
		for name := range strings.FieldsSeq(group.commands) {
			if cmd, _, err := root.Find([]string{name}); err == nil {
				fmt.Fprintf(a.Stdout, "  %-8s %s\n", name, cmd.Short)
			}
		}
	}
	fmt.Fprint(a.Stdout, `
Also codex, opencode, gemini, copilot and kimi in place of claude.
c3po COMMAND --help shows how to use one, c3po help all lists every command.
`)
}
