package mail

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
)

func Agents(a *console.Console) *cobra.Command {
	var limit int
	var verbose, online bool
	var status, kind string
	cmd := &cobra.Command{
		Use:   "agents [AGENT]",
		Short: "List the agents, or show one",
		Long: `List the agents in the order in which they first registered, or show one. With -v each
comes with the reasons why mail wakes it or does not; a session on this host is
asked itself as well.`,
		Example: `  c3po agents
  c3po agents -v
  c3po agents --online --type codex`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && args[0] == "allow-resume" {
				return console.BadUsage("c3po agents does not decide which closed sessions mail may resume", "c3po attend allow "+console.Inline(args[1])+" does.")
			}
			return console.NameInArgument(console.Arguments(0, 1, "[AGENT]"), 0, console.AgentName)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			svc, err := a.Looking()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				agent, err := svc.GetAgentStatus(cmd.Context(), c3po.AgentInput{AgentID: args[0]})
				if err != nil {
					return err
				}
				if verbose {
					return showExplained(cmd.Context(), a, []c3po.Agent{agent})
				}
				return a.Show(agent, func(w io.Writer) { PrintAgents(w, a.Ink(), []c3po.Agent{agent}) })
			}
			if online {
				status = string(c3po.Online)
			}
			all, more, err := console.Pages(limit, func(cursor string, most int) ([]c3po.Agent, string, error) {
				page, err := svc.ListAgents(cmd.Context(), c3po.ListAgentsInput{Cursor: cursor, Limit: most, Status: c3po.Status(status), Type: kind})
				return page.Agents, page.Next, err
			})
			if err != nil {
				return err
			}
			defer a.More(more, "agents")
			if verbose {
				return showExplained(cmd.Context(), a, all)
			}
			return a.Show(all, func(w io.Writer) { PrintAgents(w, a.Ink(), all) })
		},
	}
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "say why mail does or does not wake each")
	console.CheckedFlag(cmd.Flags(), &status, "status", "", "only agents that are online or offline", console.OneOf(string(c3po.Online), string(c3po.Offline)))
	cmd.Flags().BoolVar(&online, "online", false, "only agents that are online, as --status online")
	cmd.MarkFlagsMutuallyExclusive("status", "online")
	cmd.Flags().StringVar(&kind, "type", "", "only agents of this kind of program")
	console.LimitFlag(cmd, &limit, 100)
	cmd.AddCommand(forget(a))
	return cmd
}

func showExplained(ctx context.Context, a *console.Console, agents []c3po.Agent) error {
	here, err := LocalSessions(ctx, a)
	if err != nil {
		return err
	}
	now := time.Now()
	all := []explained{}
	for _, agent := range agents {
		all = append(all, explained{agent, explain(agent, here, now)})
	}
	return a.Show(all, func(w io.Writer) { printExplained(w, a.Ink(), all, now) })
}

func PrintAgents(w io.Writer, in console.Ink, agents []c3po.Agent) {
	if len(agents) == 0 {
		fmt.Fprintln(w, "no agents yet; an agent registers with its first call")
		return
	}
	now := time.Now()
	isUsual := func(agent c3po.Agent) bool { return availability(agent) == string(c3po.Available) }
	// A person needs the room for when mail is read; a script gets every column.
	short := console.IsTerminal(w) && !slices.ContainsFunc(agents, func(agent c3po.Agent) bool { return !isUsual(agent) })
	console.Table(w, func(row func(...string)) {
		line := func(id, standing, available, mail, task string) {
			if short {
				row(id, standing, mail, task)
			} else {
				row(id, standing, available, mail, task)
			}
		}
		line(in.Bold("AGENT"), in.Bold("STATE"), in.Bold("AVAILABLE"), in.Bold("MAIL"), in.Bold("TASK"))
		for _, agent := range agents {
			line(console.Inline(string(agent.ID)), ShowStanding(in, agent, now), clip(availability(agent), maxAvailabilityColumns), console.Inline(agent.Reachability.Prospect()), console.Inline(agent.CurrentTask))
		}
	})
}

// maxAvailabilityColumns is how wide what an agent says of itself may be in a list: the reason
// of a pause is a person's, and may be long. With -v it is whole.
const maxAvailabilityColumns = 32

// clip cuts a text to so many characters.
func clip(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

func availability(agent c3po.Agent) string {
	if agent.Paused != nil {
		return console.Paused(*agent.Paused)
	}
	return console.Inline(string(agent.Availability))
}

// openMail counts the messages that an agent has neither acked nor answered, read or not.
func openMail(n int) string {
	if n == 0 {
		return "no open mail"
	}
	return console.CountOf(n, "open message")
}

func Whoami(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "whoami",
		Short:   "Show which agent you are here",
		Example: `  c3po whoami`,
		RunE: console.Call(a, a.Acting, func(ctx context.Context, svc *client.Client, _ []string) (c3po.Self, error) {
			if known, err := a.IsKnown(ctx, svc); err != nil || !known {
				return c3po.Self{Agent: c3po.Agent{ID: svc.ID(), Status: c3po.Offline}}, err
			}
			return svc.WhoAmI(ctx, c3po.None{})
		}, func(w io.Writer, self c3po.Self) {
			if self.Space == "" {
				fmt.Fprintf(w, "%s, not registered: its first message does that, or c3po register\n", console.Inline(string(self.ID)))
				return
			}
			fmt.Fprintf(w, "%s in space %s, %s, %s\n", console.Inline(string(self.ID)), console.Inline(string(self.Space)), console.Inline(string(self.Status)), openMail(self.Unread))
			console.PrintNotice(w, self.Notice)
			if len(self.Capabilities) > 0 {
				fmt.Fprintf(w, "helps with %s\n", console.Inline(strings.Join(self.Capabilities, ", ")))
			}
		}),
	}
}
