package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/client"
)

const (
	// overviewTime is how long a person waits who has only typed c3po.
	overviewTime = 3 * time.Second
	// overviewAgents is how many agents it shows.
	overviewAgents = 8
)

// overview is what c3po alone shows on a terminal: where you stand, and what to do
// next. Elsewhere it is the help.
func (a *app) overview(cmd *cobra.Command, _ []string) error {
	if a.json || !isTerminal(a.Stdout) || a.agentHere() != "" || a.belowAgent() {
		return cmd.Help()
	}
	svc, err := a.looking()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), overviewTime)
	defer cancel()
	in := a.ink()
	health, err := svc.Health(ctx)
	if errors.Is(err, c3po.CoordDown) {
		e := a.forPerson(c3po.AsError(err))
		fmt.Fprintf(a.Stdout, "%s %s\n\n", in.warn("No coordinator runs here."), in.faint(inline(e.Message)))
		next(a.Stdout, in, "c3po demo", "watch two agents work together, in half a minute",
			"c3po claude", "start Claude Code as an agent in this folder, and what it needs",
			"c3po up", "only start the coordinator")
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "The coordinator at %s works; %s online.\n", inline(svc.URL()), count(health.AgentsOnline, "agent is", "agents are"))
	if err := a.overviewAgents(ctx, svc, in); err != nil {
		return err
	}
	steps := []string{"c3po claude", "start Claude Code as an agent in this folder", "c3po top", "watch everything in this terminal", "c3po open", "the dashboard in a browser"}
	if open, err := svc.HumanList(ctx, c3po.GetMessagesInput{Limit: 1}); err == nil && open.Count > 0 {
		fmt.Fprintf(a.Stdout, "\n%s\n", in.warn(count(open.Count, "question waits", "questions wait")+" for you."))
		steps = append([]string{"c3po answer", "answer them here"}, steps...)
	}
	fmt.Fprintln(a.Stdout)
	next(a.Stdout, in, steps...)
	return nil
}

func (a *app) overviewAgents(ctx context.Context, svc *client.Client, in ink) error {
	page, err := svc.ListAgents(ctx, c3po.ListAgentsInput{Status: c3po.Online, Limit: overviewAgents})
	if err != nil {
		return err
	}
	now := time.Now()
	table(a.Stdout, func(row func(...string)) {
		for _, agent := range page.Agents {
			row("  "+in.bold(inline(string(agent.ID))), showStanding(in, agent, now), inline(c3po.Clip(agent.CurrentTask)))
		}
	})
	return nil
}

// next shows commands, each with what it is for.
func next(w io.Writer, in ink, steps ...string) {
	fmt.Fprintln(w, "Next:")
	for i := 0; i+1 < len(steps); i += 2 {
		fmt.Fprintf(w, "  %s%s  %s\n", in.bold(steps[i]), strings.Repeat(" ", max(0, 12-len(steps[i]))), steps[i+1])
	}
}

// count is a number with its noun and verb.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
