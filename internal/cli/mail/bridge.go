package mail

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/agentside"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

func BridgeRegister(a *console.Console) *cobra.Command {
	var in dialect.Register
	var pane, session, cwd, file string
	var capabilities []string
	cmd := &cobra.Command{
		Use:   agentside.BridgeRegister + " --agent NAME",
		Short: "Announce an agent of the agent-to-agent bridge",
		Long: `Announce an agent by name, so that others can send to it. To
register again is to reconnect. Its name is --agent, else BRIDGE_AGENT_ID. With
--file all agents of a file are announced: {"agents": [{"agentId": "Jerry", "type":
"codex", "metadata": {}}]}, or the list alone; what else the file has is ignored.`,
		Example: `  c3po bridge-register --agent Jerry --type codex --pane %0
  c3po bridge-register --agent Jerry --capability review --capability tests
  c3po bridge-register --file broker.config.json`,
		Args:   console.Arguments(0, 0, "--agent NAME"),
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file != "" && in.AgentID == "" {
				return registerFile(cmd.Context(), a, file)
			}
			a.As = cmp.Or(in.AgentID, a.As)
			if a.As == "" {
				return console.BadUsage("the agent has no name", "Give it one with --agent, or set BRIDGE_AGENT_ID.")
			}
			svc, err := a.Acting()
			if err != nil {
				return err
			}
			if cwd == "" {
				// A folder that is gone has no name, and the agent can do without.
				cwd, _ = os.Getwd()
			}
			about := map[string]any{}
			for name, value := range map[string]string{"paneId": pane, "session": session, "cwd": cwd} {
				if value != "" {
					about[name] = value
				}
			}
			if len(capabilities) > 0 {
				about["capabilities"] = capabilities
			}
			if in.Metadata, err = json.Marshal(about); err != nil {
				return err
			}
			out, err := dialect.Broker{Service: svc}.Register(cmd.Context(), in, c3po.DefaultLimits().OnlineWindow)
			if err != nil {
				return err
			}
			return a.Show(out, func(w io.Writer) { printRegistered(w, out) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&in.AgentID, "agent", "", "name of the agent")
	flags.StringVar(&file, "file", "", "announce the agents of this file")
	console.Setting(flags, "file", "BRIDGE_REGISTRY_FILE", "")
	flags.StringVar(&in.Type, "type", "", "the program it is, for example codex")
	flags.StringVar(&pane, "pane", "", "its pane of tmux, for example %0")
	flags.StringVar(&session, "session", "", "its session of tmux")
	flags.StringVar(&cwd, "cwd", "", "the folder it works in; else the current one")
	flags.StringArrayVar(&capabilities, "capability", nil, "what it can help with; may be given several times")
	flags.IntVar(&in.Heartbeat, "heartbeat-ms", 0, "milliseconds between the heartbeats it will send")
	return cmd
}

func BridgeReply(a *console.Console) *cobra.Command {
	var in dialect.Reply
	var agent string
	cmd := &cobra.Command{
		Use:   agentside.BridgeReply + " [TICKET] [TEXT]",
		Short: "Answer a ticket of the agent-to-agent bridge",
		Long: `Answer a ticket. Without TEXT and --message, or with -, the answer is read from
stdin; without TICKET and --ticket the ticket is BRIDGE_TICKET. Within c3po run
that is "current": the question that the program was told of last. It is answered
as --agent, else as BRIDGE_AGENT_ID, else as the agent it was sent to.`,
		Example: `  c3po bridge-reply uuid-123 "There are two tests missing"
  git diff | c3po bridge-reply --ticket uuid-123`,
		Args:   console.Arguments(0, 2, "[TICKET] [TEXT]"),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			texts := args
			if in.TicketID == "" && len(args) > 0 {
				in.TicketID, texts = args[0], args[1:]
			}
			var err error
			if in.TicketID, err = ticketToAnswer(a, in.TicketID); err != nil {
				return err
			}
			if err := c3po.CheckTicketID(in.TicketID); err != nil {
				return err
			}
			if cmd.Flags().Changed("message") {
				texts = append(texts, in.Payload.Text)
			}
			if len(texts) > 1 {
				return console.BadUsage("the answer is given twice", "Give it as --message or behind the ticket; a text of several words in quotes.")
			}
			if in.Payload.Text, err = a.Body(texts); err != nil {
				return err
			}
			a.As = cmp.Or(agent, a.As)
			svc, err := a.Answering()
			if err != nil {
				return err
			}
			if err := svc.PostReply(cmd.Context(), in); err != nil {
				return err
			}
			return a.Show(dialect.Ticket{TicketID: in.TicketID, Status: "responded"}, func(w io.Writer) {
				fmt.Fprintf(w, "answered %s\n", console.Inline(in.TicketID))
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&in.TicketID, "ticket", "", "the ticket")
	flags.StringVar(&in.Payload.Text, "message", "", "the answer")
	flags.StringVar(&agent, "agent", "", "who answers")
	return cmd
}

// currentTicket is the ticket of a program whose environment cannot change with
// each question: what c3po run wrote into the file of BRIDGE_TICKET_FILE.
const currentTicket = "current"

// ticketToAnswer is the ticket that was named, else that of the environment.
func ticketToAnswer(a *console.Console, named string) (string, error) {
	ticket := strings.TrimSpace(cmp.Or(named, a.Getenv("BRIDGE_TICKET")))
	file := a.Getenv("BRIDGE_TICKET_FILE")
	if ticket == currentTicket && file != "" {
		text, err := os.ReadFile(file) // #nosec G304 G703 -- the file that c3po run names in our environment
		if ticket = strings.TrimSpace(string(text)); err != nil || ticket == "" {
			return "", console.BadUsage("no question has come yet", "Name the ticket: bridge-reply TICKET TEXT.")
		}
		if several := strings.Fields(ticket); len(several) > 1 {
			return "", console.BadUsage(fmt.Sprintf("%d questions came at once", len(several)), "Name the ticket you answer: "+strings.Join(several, ", ")+".")
		}
	}
	if ticket == "" {
		return "", console.BadUsage("there is no ticket to answer", "Usage: bridge-reply TICKET TEXT")
	}
	return ticket, nil
}

// BridgeControl is two of our commands by the bridge's names.
func BridgeControl(a *console.Console) *cobra.Command {
	named := func(name, use, example string, cmd *cobra.Command) *cobra.Command {
		cmd.Use, cmd.Example = use, example
		return console.Family(&cobra.Command{Use: name, Short: cmd.Short, Example: example}, cmd)
	}
	return console.Family(&cobra.Command{
		Use:     agentside.BridgeControl,
		Short:   "Look at the agent-to-agent bridge",
		Example: "  c3po bridgectl list tickets\n  c3po bridgectl tail logs",
		Hidden:  true,
	},
		named("list", "tickets [TICKET]", "  c3po bridgectl list tickets --open", ticketList(a, true)),
		named("tail", "logs", "  c3po bridgectl tail logs --agent Jerry", tailLog(a, true)),
	)
}
