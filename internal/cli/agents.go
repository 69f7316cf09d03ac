package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
)

func (a *app) agents() *cobra.Command {
	var limit int
	var verbose bool
	var status, kind string
	cmd := &cobra.Command{
		Use:   "agents [AGENT]",
		Short: "List the agents, or show one",
		Long: `List the agents in the order in which they first registered, or show one. With -v each
comes with the reasons why mail wakes it or does not; a session on this host is
asked itself as well.`,
		Example: `  c3po agents
  c3po agents -v
  c3po agents --status online --type codex`,
		RunE: func(cmd *cobra.Command, args []string) error {
			svc, err := a.looking()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				agent, err := svc.GetAgentStatus(cmd.Context(), c3po.AgentInput{AgentID: args[0]})
				if err != nil {
					return err
				}
				if verbose {
					return a.showExplained(cmd.Context(), []c3po.Agent{agent})
				}
				return a.show(agent, func(w io.Writer) { printAgents(w, a.ink(), []c3po.Agent{agent}) })
			}
			all, more, err := pages(limit, func(cursor string, most int) ([]c3po.Agent, string, error) {
				page, err := svc.ListAgents(cmd.Context(), c3po.ListAgentsInput{Cursor: cursor, Limit: most, Status: c3po.Status(status), Type: kind})
				return page.Agents, page.Next, err
			})
			if err != nil {
				return err
			}
			defer a.more(more, "agents")
			if verbose {
				return a.showExplained(cmd.Context(), all)
			}
			return a.show(all, func(w io.Writer) { printAgents(w, a.ink(), all) })
		},
	}
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "say why mail does or does not wake each")
	checkedFlag(cmd.Flags(), &status, "status", "", "only agents that are online or offline", oneOf(string(c3po.Online), string(c3po.Offline)))
	cmd.Flags().StringVar(&kind, "type", "", "only agents of this kind of program")
	limitFlag(cmd, &limit, 100)
	return cmd
}

func (a *app) showExplained(ctx context.Context, agents []c3po.Agent) error {
	here, err := a.localSessions(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	all := []explained{}
	for _, agent := range agents {
		all = append(all, explained{agent, explain(agent, here, now)})
	}
	return a.show(all, func(w io.Writer) { printExplained(w, a.ink(), all, now) })
}

func printAgents(w io.Writer, in ink, agents []c3po.Agent) {
	if len(agents) == 0 {
		fmt.Fprintln(w, "no agents yet; an agent registers with its first call")
		return
	}
	now := time.Now()
	table(w, func(row func(...string)) {
		row(in.bold("AGENT"), in.bold("STATE"), in.bold("AVAILABLE"), in.bold("MAIL"), in.bold("TASK"))
		for _, agent := range agents {
			row(inline(string(agent.ID)), showStanding(in, agent, now), clip(availability(agent), maxAvailabilityColumns), inline(agent.Reachability.Prospect()), inline(agent.CurrentTask))
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
		return "paused: " + inline(*agent.Paused)
	}
	return inline(string(agent.Availability))
}

func (a *app) whoami() *cobra.Command {
	return &cobra.Command{
		Use:     "whoami",
		Short:   "Show which agent you are here",
		Example: `  c3po whoami`,
		RunE: operation(a, a.acting, c3po.Service.WhoAmI, noInput, func(w io.Writer, self c3po.Self) {
			fmt.Fprintf(w, "%s in space %s, %s, %d unread\n", inline(string(self.ID)), inline(string(self.Space)), inline(string(self.Status)), self.Unread)
			printNotice(w, self.Notice)
			if len(self.Capabilities) > 0 {
				fmt.Fprintf(w, "helps with %s\n", inline(strings.Join(self.Capabilities, ", ")))
			}
		}),
	}
}
