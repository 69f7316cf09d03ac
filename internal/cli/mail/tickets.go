package mail

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

func Tickets(a *console.Console) *cobra.Command { return ticketList(a, false) }

// ticketList lists tickets by their ids, or for the bridge dialect by the names
// that their senders chose.
func ticketList(a *console.Console, named bool) *cobra.Command {
	var in c3po.TicketsInput
	var limit int
	var open, closed bool
	cmd := &cobra.Command{
		Use:   "tickets [MESSAGE_ID]",
		Short: "List questions and how far each has come",
		Long: `List questions and how far each has come, the newest first: those an agent asked
or was asked with --as, else all of the space.

States: pending (nobody was served it), served (not answered yet), answered, timed
out (its deadline passed unanswered; an answer still comes through), cancelled. With
--json they are pending, delivered, responded, timed_out and cancelled.`,
		Example: `  c3po tickets --open
  c3po tickets --as api --which received
  c3po tickets alice::bob::0a1b2c3d`,
		Args: console.Arguments(0, 1, "[MESSAGE_ID]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			svc, err := a.LookingAtOwn()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				if in.MessageID, err = console.MessageID(cmd.Context(), svc, args[0]); err != nil {
					return err
				}
			}
			if open && closed {
				return console.BadUsage("--open and --closed are all of them", "Give one, or neither.")
			}
			if open != closed {
				in.State = c3po.TicketsOpen
				if closed {
					in.State = c3po.TicketsClosed
				}
			}
			if a.As == "" && in.Which == "" {
				in.Which = c3po.TicketsAll
			}
			tickets, more, err := console.Pages(limit, func(cursor string, most int) ([]c3po.Ticket, string, error) {
				in.Cursor, in.Limit = cursor, most
				page, err := svc.Tickets(cmd.Context(), in)
				return page.Tickets, page.Next, err
			})
			if err != nil {
				return err
			}
			defer a.More(more, "tickets")
			if !named {
				return a.Show(tickets, func(w io.Writer) { PrintTickets(w, time.Now(), tickets) })
			}
			rows := []namedTicket{}
			for _, t := range tickets {
				rows = append(rows, namedTicket{t.TicketName(), t})
			}
			return a.Show(rows, func(w io.Writer) { printTicketsAs(w, time.Now(), tickets, stateInDialect, c3po.Ticket.TicketName) })
		},
	}
	flags := cmd.Flags()
	console.CheckedFlag(flags, &in.Which, "which", "", "asked, received or all", console.OneOf("asked", "received", c3po.TicketsAll))
	flags.BoolVar(&open, "open", false, "only those that can still be answered")
	flags.BoolVar(&closed, "closed", false, "only those that have come to an end")
	console.LimitFlag(cmd, &limit, 100)
	return cmd
}

// A namedTicket is a ticket as bridgectl prints it as JSON.
type namedTicket struct {
	TicketID string `json:"ticketId"`
	c3po.Ticket
}

func PrintTickets(w io.Writer, now time.Time, tickets []c3po.Ticket) {
	printTicketsAs(w, now, tickets, ticketState, func(t c3po.Ticket) string {
		if name := t.TicketName(); name != string(t.ID) {
			return string(t.ID) + " (" + name + ")"
		}
		return string(t.ID)
	})
}

// stateInDialect is the state in the words of the bridge dialect.
func stateInDialect(t c3po.Ticket) string { return string(t.State) }

// printTicketsAs calls each ticket and its state by their names.
func printTicketsAs(w io.Writer, now time.Time, tickets []c3po.Ticket, state, name func(c3po.Ticket) string) {
	if len(tickets) == 0 {
		fmt.Fprintln(w, "no tickets; a message that expects an answer is one")
		return
	}
	console.Table(w, func(row func(...string)) {
		row("TICKET", "FROM", "TO", "STATE", "SINCE", "ASKED", "REPLIES")
		for _, t := range tickets {
			row(console.Inline(name(t)), console.Inline(string(t.FromAgent)), console.Name(t.ToAgent), console.Inline(state(t)),
				console.Ago(now, stateSince(t)), console.Ago(now, t.CreatedAt), fmt.Sprint(len(t.Replies)))
		}
	})
}

// ticketState is the state of a ticket, and of one that was read whether its reader is stalled
// or has gone on to other things. A text that came with a wake is read before that is proved.
func ticketState(t c3po.Ticket) string {
	if t.State.Open() && !t.StalledAt.IsZero() {
		return console.TicketState(t.State) + ", stalled"
	}
	if t.State == c3po.TicketDelivered && !t.SilentAt.IsZero() {
		return console.TicketState(t.State) + ", no answer"
	}
	return console.TicketState(t.State)
}

// stateSince is when a ticket came into its state.
func stateSince(t c3po.Ticket) time.Time {
	if t.State.Open() && !t.StalledAt.IsZero() {
		return t.StalledAt
	}
	switch t.State {
	case c3po.TicketDelivered:
		if !t.SilentAt.IsZero() {
			return t.SilentAt
		}
		return t.DeliveredAt
	case c3po.TicketResponded:
		return t.RespondedAt
	case c3po.TicketTimedOut:
		return t.TimedOutAt
	case c3po.TicketCancelled:
		return t.CancelledAt
	default:
		return t.CreatedAt
	}
}

func Cancel(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel MESSAGE_ID",
		Short: "Withdraw a message that nobody has answered",
		Long: `Withdraw a message that nobody has answered: it leaves the inbox it is in. Who
has read it gets a notice that no answer is needed.`,
		Example: `  c3po cancel alice::bob::0a1b2c3d --as alice`,
		RunE: console.Call(a, a.Acting, console.OfMessage(c3po.Service.Cancel), func(w io.Writer, result c3po.CancelResult) {
			fmt.Fprintln(w, console.Inline(console.ForPeople(result.Message)))
		}, func(result c3po.CancelResult) error {
			switch result.Outcome {
			case c3po.CancelDone, c3po.CancelAlready:
				return nil
			default:
				return c3po.Errorf(c3po.InvalidRequest, "%s is not cancelled: %s", result.MessageID, result.Outcome).
					Suggest("`c3po tickets` shows what can be.")
			}
		}),
	}
}
