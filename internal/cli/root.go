package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/agentside"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/cli/mail"
	"github.com/c3po-dev/c3po/internal/cli/operate"
	"github.com/c3po-dev/c3po/internal/cli/people"
	"github.com/c3po-dev/c3po/internal/client"
)

func root(a *console.Console) *cobra.Command {
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
		Args:              console.UnknownCommand,
		PersistentPreRunE: a.Settle,
		RunE:              func(cmd *cobra.Command, args []string) error { return operate.Overview(a, cmd, args) },
		Version:           operate.Build(a).String(),
	}
	root.SetVersionTemplate("{{.Version}}\n")
	if slices.Contains(a.Args, "--json") {
		if data, err := json.Marshal(operate.Build(a)); err == nil {
			root.SetVersionTemplate(string(data) + "\n")
		}
	}
	root.Flags().Bool("version", false, "print the version, as c3po version does")
	flags := root.PersistentFlags()
	flags.StringVar(&a.URL, "url", "", "the coordinator's address; default the one that runs here, else "+client.DefaultURL)
	flags.StringVar(&a.As, "as", "", "agent to act as; default the folder's name")
	flags.StringVar(&a.Space, "space", "", "space to act in; auto uses the repository's; default the token's, usually "+string(c3po.DefaultSpace))
	flags.BoolVar(&a.JSON, "json", false, "print JSON")
	console.Setting(flags, "url", "C3PO_COORDINATOR_URL", "url")
	console.Setting(flags, "as", "C3PO_AGENT_ID", "") // one file serves all agents of a user
	console.Setting(flags, "space", "C3PO_SPACE", "space")
	root.SetFlagErrorFunc(console.BadFlag)
	root.AddCommand(
		operate.Up(a), operate.Down(a), operate.Serve(a), operate.Status(a), operate.Health(a), operate.Doctor(a), agentside.Verify(a),
		mail.Send(a), mail.Inbox(a), mail.Reply(a), mail.Wait(a), mail.Ack(a), mail.ClaimMessage(a), mail.Tickets(a), mail.Cancel(a), mail.Room(a), mail.Broadcast(a),
		mail.Agents(a), mail.Whoami(a), mail.Register(a), mail.Unregister(a), mail.AskHuman(a), mail.Rename(a), mail.Instances(a), mail.Save(a), mail.Apply(a), mail.Files(a), mail.Trace(a), mail.Thread(a), mail.Tail(a), people.Top(a),
		people.Human(a), mail.Stuck(a), mail.Search(a), operate.Notify(a), operate.Hooks(a), people.Pause(a), people.Resume(a), people.Token(a), people.Passkey(a), people.Audit(a), people.Invite(a), people.Join(a), people.Login(a), people.Leave(a), operate.Fsck(a), operate.Sweep(a), mail.DeadLetter(a), operate.Backup(a), operate.Restore(a), operate.Export(a), operate.ImportFile(a), operate.Config(a), operate.Version(a), operate.Upgrade(a),
		people.Open(a), operate.Demo(a), people.Answer(a), operate.Logs(a),
		agentside.MCP(a), agentside.Run(a), agentside.Agent(a), agentside.Attend(a), agentside.Hook(a), agentside.Monitor(a), agentside.Leases(a), agentside.Install(a), operate.Uninstall(a), people.On(a), people.Off(a),
		mail.BridgeRegister(a), mail.BridgeReply(a), mail.BridgeControl(a), agentside.FormatStream(a), agentside.ACP(a),
		completion(a), man(a), console.ExitTopic(),
	)
	for _, t := range agentside.Targets(a) {
		root.AddCommand(operate.Launch(a, t))
	}
	for name, aliases := range map[string][]string{"agents": {"ls", "ps"}, "up": {"start"}, "down": {"stop"}, "send": {"ask"}} {
		if cmd, _, err := root.Find([]string{name}); err == nil {
			cmd.Aliases = aliases
		}
	}
	everyCommand(root, func(cmd *cobra.Command) {
		if cmd.Args == nil && cmd.Runnable() {
			cmd.Args = console.ArgumentsOf(cmd.Use)
		}
	})
	completions(a, root)
	group(root)
	helps(a, root)
	return root
}

// group sorts the commands by what they are for, so that the list of them is
// short where a reader looks.
func group(root *cobra.Command) {
	for _, g := range []struct{ id, title, commands string }{
		{"mail", "Messages:", "send inbox reply wait ack claim thread tickets cancel ask-human room broadcast"},
		{"look", "Looking:", "top stuck search leases agents whoami register unregister rename instances trace tail status logs health doctor verify fsck audit"},
		{"people", "For people:", "answer human open notify pause resume on off"},
		{"run", "Running a coordinator:", "demo up down serve config token invite sweep dead-letter backup restore export import"},
		{"host", "This host and its agents:", "claude codex opencode gemini copilot kimi join login leave install uninstall upgrade mcp run agent attend"},
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
