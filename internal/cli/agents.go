package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
)

func (a *app) agents() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:     "agents",
		Short:   "List the agents",
		Example: `  c3po agents`,
		Args:    arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			svc, err := a.looking()
			if err != nil {
				return err
			}
			var list c3po.AgentList
			var more bool
			list.Agents, more, err = pages(limit, func(cursor string, most int) ([]c3po.Agent, string, error) {
				page, err := svc.ListAgents(cmd.Context(), c3po.ListAgentsInput{Cursor: cursor, Limit: most})
				return page.Agents, page.Next, err
			})
			if err != nil {
				return err
			}
			defer a.more(more, "agents")
			return a.show(&list, func(w io.Writer) { printAgents(w, list.Agents) })
		},
	}
	limitFlag(cmd, &limit, 100)
	return cmd
}

func printAgents(w io.Writer, agents []c3po.Agent) {
	if len(agents) == 0 {
		fmt.Fprintln(w, "no agents yet; an agent registers with its first call")
		return
	}
	now := time.Now()
	table(w, func(row func(...string)) {
		row("AGENT", "STATUS", "AVAILABLE", "MAIL", "SEEN", "TASK")
		for _, agent := range agents {
			row(inline(string(agent.ID)), inline(string(agent.Status)), availability(agent), prospect(agent.Reachability),
				ago(now, agent.LastSeen), inline(agent.CurrentTask))
		}
	})
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
		Args:    arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			svc, err := a.acting()
			if err != nil {
				return err
			}
			self, err := svc.WhoAmI(cmd.Context(), c3po.None{})
			if err != nil {
				return err
			}
			return a.show(self, func(w io.Writer) {
				fmt.Fprintf(w, "%s in space %s, %s, %d unread\n", inline(string(self.ID)), inline(string(self.Space)), inline(string(self.Status)), self.Unread)
				if self.Notice != "" {
					fmt.Fprintln(w, inline(self.Notice))
				}
				if len(self.Capabilities) > 0 {
					fmt.Fprintf(w, "helps with %s\n", inline(strings.Join(self.Capabilities, ", ")))
				}
			})
		},
	}
}
