package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/client"
)

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "c3po",
		Short: "Coding agents ask each other for help",
		Long: `c3po lets the coding agents you run ask each other for help.

With --json every command prints JSON. c3po help exit-codes says what the exit
codes mean; c3po config shows the settings and where they come from.`,
		Example: `  c3po up
  c3po inbox --as bob
  c3po send bob "What topics are there?" --as alice --wait 60`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              unknownCommand,
		PersistentPreRunE: a.settle,
		RunE:              a.overview,
		Version:           a.build().String(),
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().Bool("version", false, "print the version, as c3po version does")
	flags := root.PersistentFlags()
	flags.StringVar(&a.url, "url", "", "the coordinator's address; default the one that runs here, else "+client.DefaultURL)
	flags.StringVar(&a.as, "as", "", "agent to act as; default the folder's name")
	flags.StringVar(&a.space, "space", "", "space to act in; auto uses the repository's; default the token's, usually "+string(c3po.DefaultSpace))
	flags.BoolVar(&a.json, "json", false, "print JSON")
	setting(flags, "url", "C3PO_COORDINATOR_URL", "url")
	setting(flags, "as", "C3PO_AGENT_ID", "") // one file serves all agents of a user
	setting(flags, "space", "C3PO_SPACE", "space")
	root.SetFlagErrorFunc(badFlag)
	root.AddCommand(
		a.up(), a.down(), a.serve(), a.status(), a.health(), a.doctor(), a.verify(),
		a.send(), a.inbox(), a.reply(), a.wait(), a.ack(), a.claimMessage(), a.tickets(), a.cancel(), a.room(), a.broadcast(),
		a.agents(), a.whoami(), a.register(), a.unregister(), a.askHuman(), a.rename(), a.instances(), a.trace(), a.thread(), a.tail(), a.top(),
		a.human(), a.stuck(), a.notify(), a.pause(), a.resume(), a.token(), a.audit(), a.invite(), a.join(), a.login(), a.leave(), a.fsck(), a.sweep(), a.deadLetter(), a.backup(), a.restore(), a.export(), a.importFile(), a.bench(), a.config(), a.version(), a.upgrade(),
		a.open(), a.demo(), a.answer(), a.logs(),
		a.mcp(), a.run(), a.agent(), a.hook(), a.monitor(), a.install(), a.uninstall(), a.on(), a.off(),
		a.bridgeRegister(), a.bridgeReply(), a.bridgeControl(), a.formatStream(),
		a.completion(), a.man(), exitTopic(),
	)
	for _, t := range a.targets() {
		root.AddCommand(a.launch(t))
	}
	for name, aliases := range map[string][]string{"agents": {"ls", "ps"}, "up": {"start"}, "down": {"stop"}, "send": {"ask"}} {
		if cmd, _, err := root.Find([]string{name}); err == nil {
			cmd.Aliases = aliases
		}
	}
	everyCommand(root, func(cmd *cobra.Command) {
		if cmd.Args == nil && cmd.Runnable() {
			cmd.Args = argumentsOf(cmd.Use)
		}
	})
	a.completions(root)
	group(root)
	a.helps(root)
	return root
}

// group sorts the commands by what they are for, so that the list of them is
// short where a reader looks.
func group(root *cobra.Command) {
	for _, g := range []struct{ id, title, commands string }{
		{"mail", "Messages:", "send inbox reply wait ack claim thread tickets cancel ask-human room broadcast"},
		{"look", "Looking:", "top stuck agents whoami register unregister rename instances trace tail status logs health doctor verify fsck audit"},
		{"people", "For people:", "answer human open notify pause resume on off"},
		{"run", "Running a coordinator:", "demo up down serve config token invite sweep backup restore export import bench"},
		{"host", "This host and its agents:", "claude codex opencode gemini copilot kimi join login leave install uninstall upgrade mcp run agent"},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, name := range strings.Fields(g.commands) {
			for _, cmd := range root.Commands() {
				if cmd.Name() == name {
					cmd.GroupID = g.id
				}
			}
		}
	}
}
