package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/person/top"
)

func (a *app) top() *cobra.Command {
	return &cobra.Command{
		Use:   "top",
		Short: "Watch agents, questions and tickets, and answer from there",
		Long: `Watch a space live: what agents ask you, who is there, how much mail waits for
each, which tickets are open, and what happens. You can answer questions and pause
agents; ? lists the keys.

It says when the coordinator is unreachable, and reconnects automatically. With an
observer's token it is read-only. Without a terminal, or with --json, it prints the
current state once.`,
		Example: `  c3po top
  c3po top --space main`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			svc, err := a.looking()
			if err != nil {
				return err
			}
			which := c3po.TicketsAll
			if a.as != "" {
				which = ""
			}
			if !a.json && top.Interactive(a.Stdin, a.Stdout) {
				return top.Run(cmd.Context(), top.Config{Source: svc, Which: which, Now: a.Now, In: a.Stdin, Out: a.Stdout})
			}
			seen, err := top.Look(cmd.Context(), svc, which)
			if err != nil {
				return err
			}
			return a.show(seen, func(w io.Writer) { a.printTop(w, seen) })
		},
	}
}

// printTop is what the view shows, as text.
func (a *app) printTop(w io.Writer, seen top.Snapshot) {
	now := time.Now()
	in := a.ink()
	fmt.Fprintln(w, in.bold("Questions"))
	for _, q := range seen.Questions {
		fmt.Fprintf(w, "%s  from %s, %s\n", inline(string(q.ID)), inline(string(q.From)), ago(now, q.At))
		if q.Text != "" {
			block(w, q.Text)
		}
		if q.Why != "" {
			fmt.Fprintln(w, "  why:")
			block(w, q.Why)
		}
		for i, choice := range q.Choices {
			fmt.Fprintf(w, "  %d: %s\n", i+1, inline(choice))
		}
	}
	if len(seen.Questions) == 0 {
		fmt.Fprintln(w, "no agent waits for you")
	}
	fmt.Fprintf(w, "\n%s\n", in.bold("Agents"))
	printAgents(w, in, seen.Agents)
	fmt.Fprintf(w, "\n%s\n", in.bold("Open tickets"))
	printTickets(w, now, seen.Tickets)
	fmt.Fprintf(w, "\n%s\n", in.bold("Flow"))
	for _, e := range seen.Events {
		printEvent(w, in, e)
	}
}
