package mail

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

func Stuck(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "stuck",
		Short: "Show who waits for whom, and who holds up the most",
		Long: `Show who waits for whom, from the questions that are still open: first what waits
for you, then the agent that holds up the most others. Each line is followed by
those who wait behind it.`,
		Example: `  c3po stuck
  c3po stuck --json`,
		RunE: console.Operation(a, a.AsPerson(console.HumanToken), c3po.Service.Stuck, console.NoInput, func(w io.Writer, stuck c3po.Stuck) { printStuck(w, time.Now(), stuck) }),
	}
}

func printStuck(w io.Writer, now time.Time, stuck c3po.Stuck) {
	if len(stuck.HoldUps) == 0 {
		fmt.Fprintln(w, "nobody waits")
	}
	for i, h := range stuck.HoldUps {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, holdUpLine(h))
		for _, wait := range h.Waits {
			fmt.Fprintf(w, "%s%s\n", strings.Repeat("  ", wait.Depth), waitLine(now, wait))
		}
	}
	if stuck.More {
		fmt.Fprintln(w, "\nolder questions were not looked at; c3po tickets --open lists them")
	}
}

// holdUpLine says who has to move, and when it will.
func holdUpLine(h c3po.HoldUp) string {
	agents := console.CountOf(h.Behind, "agent")
	switch {
	case h.Agent == c3po.Human:
		questions := 0
		for _, wait := range h.Waits {
			if wait.ToAgent == c3po.Human {
				questions += wait.Questions
			}
		}
		hold := "hold"
		if questions == 1 {
			hold = "holds"
		}
		return fmt.Sprintf("%s for you %s up %s; answer with: c3po answer", console.CountOf(questions, "question"), hold, agents)
	case h.Circle:
		return fmt.Sprintf("%s waits in a circle and holds up %s", console.Inline(string(h.Agent)), agents)
	case h.Reachability == "":
		return fmt.Sprintf("%s holds up %s", console.Inline(string(h.Agent)), agents)
	case h.Reachability == c3po.ReachNow:
		return fmt.Sprintf("%s holds up %s; it reads mail at once", console.Inline(string(h.Agent)), agents)
	default:
		return fmt.Sprintf("%s holds up %s; it reads mail %s", console.Inline(string(h.Agent)), agents, console.Inline(h.Reachability.When()))
	}
}

// waitLine says who waits, for how long, and how far the question has come.
func waitLine(now time.Time, w c3po.Wait) string {
	facts := []string{c3po.Age(now.Sub(w.Since))}
	switch {
	case w.Stalled:
		facts = append(facts, "read, and no step for a while: stalled")
	case w.Silent && w.State == c3po.TicketPending:
		facts = append(facts, "told of it several times, and not read")
	case w.Silent:
		facts = append(facts, "read, and its turn ended without an answer")
	case w.State == c3po.TicketPending:
		facts = append(facts, "not read yet")
	default:
		facts = append(facts, "read, no answer yet")
	}
	if !w.Deadline.IsZero() && now.After(w.Deadline) {
		facts = append(facts, "overdue for "+c3po.Age(now.Sub(w.Deadline)))
	}
	if w.Questions > 1 {
		facts = append(facts, fmt.Sprintf("%d questions", w.Questions))
	}
	whom := "you"
	if w.ToAgent != c3po.Human {
		whom = console.Name(w.ToAgent)
	}
	return fmt.Sprintf("%s waits for %s: %s", console.Inline(string(w.FromAgent)), whom, strings.Join(facts, ", "))
}
