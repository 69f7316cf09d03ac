package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/cli/mail"
	"github.com/c3po-dev/c3po/internal/cli/people"
)

const (
	// overviewTime is how long a person waits who has only typed c3po.
	overviewTime = 3 * time.Second
	// overviewAgents is how many agents it shows.
	overviewAgents = 8
)

// Overview is what c3po alone shows on a terminal: where you stand, and what to do
// next. Elsewhere it is the help.
func Overview(a *console.Console, cmd *cobra.Command, _ []string) error {
	if a.JSON || !console.IsTerminal(a.Stdout) || a.AgentHere() != "" || a.BelowAgent() {
		return cmd.Help()
	}
	svc, err := a.Looking()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), overviewTime)
	defer cancel()
	in := a.Ink()
	var online c3po.AgentList
	health, err := svc.Health(ctx)
	if err == nil {
		online, err = svc.ListAgents(ctx, c3po.ListAgentsInput{Status: c3po.Online, Limit: overviewAgents})
	}
	if errors.Is(err, c3po.CoordDown) || a.IsForeign(err) {
		e := a.ForPerson(c3po.AsError(err))
		fmt.Fprintf(a.Stdout, "%s %s\n\n", in.Warn("You have no coordinator here."), in.Faint(console.Inline(e.Message)))
		next(a.Stdout, in, "c3po demo", "watch two agents work together, in half a minute",
			"c3po claude", "start Claude Code as an agent in this folder, and what it needs",
			"c3po up", "only start the coordinator")
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "The coordinator at %s works; %s online.\n", console.Inline(svc.URL()), console.CountOf(health.AgentsOnline, "agent"))
	now := time.Now()
	console.Table(a.Stdout, func(row func(...string)) {
		for _, agent := range online.Agents {
			row("  "+in.Bold(console.Inline(string(agent.ID))), mail.ShowStanding(in, agent, now), console.Inline(c3po.Clip(agent.CurrentTask)))
		}
	})
	steps := []string{"c3po claude", "start Claude Code as an agent in this folder", "c3po top", "watch everything in this terminal", "c3po open", "the dashboard in a browser"}
	if asked, err := people.ReadAsked(ctx, svc); err == nil && len(asked.Questions)+len(asked.Notes) > 0 {
		fmt.Fprintf(a.Stdout, "\n%s\n", in.Warn(asked.String()+"."))
		steps = append([]string{"c3po answer", "go through them here"}, steps...)
	}
	fmt.Fprintln(a.Stdout)
	next(a.Stdout, in, steps...)
	return nil
}

// next shows commands, each with what it is for.
func next(w io.Writer, in console.Ink, steps ...string) {
	fmt.Fprintln(w, "Next:")
	for i := 0; i+1 < len(steps); i += 2 {
		fmt.Fprintf(w, "  %s%s  %s\n", in.Bold(steps[i]), strings.Repeat(" ", max(0, 12-len(steps[i]))), steps[i+1])
	}
}
