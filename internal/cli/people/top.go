package people

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/cli/mail"
	"github.com/c3po-dev/c3po/internal/person/top"
)

func Top(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "top",
		Short: "Watch agents, questions and tickets, and answer from there",
		Long: `Watch a space live: what needs you, who is there, how much mail waits for each, and
what happens. You can answer questions, write to agents and pause them; ? lists the
keys.

It says when the coordinator is unreachable, and reconnects automatically. With an
observer's token it is read-only. Without a terminal, or with --json, it prints the
current state once.`,
		Example: `  c3po top
  c3po top --space main`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.As == "" {
				if err := a.RefuseUnsigned(); err != nil {
					return err
				}
			}
			svc, err := a.Looking()
			if err != nil {
				return err
			}
			which := c3po.TicketsAll
			if a.As != "" {
				which = ""
			}
			if !a.JSON && top.Interactive(a.Stdin, a.Stdout) {
				svc.RefuseProofs()
				return top.Run(cmd.Context(), top.Config{Source: svc, Which: which, Now: a.Now, In: a.Stdin, Out: a.Stdout})
			}
			seen, err := top.Look(cmd.Context(), svc, which)
			if err != nil {
				return err
			}
			return a.Show(seen, func(w io.Writer) { printTop(a, w, seen) })
		},
	}
}

// printTop is what the view shows, as text.
func printTop(a *console.Console, w io.Writer, seen top.Snapshot) {
	now := time.Now()
	in := a.Ink()
	warnOfReset(a, seen.PasskeysEnd)
	fmt.Fprintln(w, in.Bold("Questions"))
	for _, q := range seen.Questions {
		what, block := "question", console.Block
		switch {
		case q.Permits:
			what, block = "request for permission", console.ExactBlock
		case q.Informs:
			what = "message"
		}
		fmt.Fprintf(w, "%s  %s from %s, %s\n", console.Inline(string(q.ID)), what, console.Inline(string(q.From)), console.Ago(now, q.At))
		if q.Text != "" {
			block(w, q.Text)
		}
		if q.Why != "" {
			fmt.Fprintln(w, "  why:")
			console.Block(w, q.Why)
		}
		for i, choice := range q.Choices {
			fmt.Fprintf(w, "  %d: %s\n", i+1, console.Inline(choice))
		}
	}
	switch {
	case a.As != "":
		fmt.Fprintf(w, "those that wait for you are not shown to %s\n", console.Inline(a.As))
	case len(seen.Questions) == 0:
		fmt.Fprintln(w, "no agent waits for you")
	}
	fmt.Fprintf(w, "\n%s\n", in.Bold("Agents"))
	mail.PrintAgents(w, in, seen.Agents)
	fmt.Fprintf(w, "\n%s\n", in.Bold("Open tickets"))
	mail.PrintTickets(w, now, seen.Tickets)
	fmt.Fprintf(w, "\n%s\n", in.Bold("Flow"))
	for _, e := range seen.Events {
		mail.PrintEvent(w, in, e)
	}
}
