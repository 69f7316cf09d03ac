// Package people is the commands that are for people: answer, pause, token and audit, which
// only a person may run; invite, join and login, which let a host or a person in; top, open,
// on and off. The coordinator refuses agents what is a person's; nothing here decides that.
package people

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/cli/mail"
	"github.com/c3po-dev/c3po/internal/client"
)

func Human(a *console.Console) *cobra.Command {
	return console.Family(&cobra.Command{
		Use:   "human",
		Short: "See and answer what agents ask you, and write to them",
		Example: `  c3po human list
  c3po human answer api::human::0a1b2c3d "Use the second one"
  c3po human watch`,
	}, humanList(a), humanShow(a), humanAnswer(a), humanSend(a), humanWatch(a))
}

func humanList(a *console.Console) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Show what agents ask you and write to you",
		Long:    "Show what agents ask you and write to you: first the questions that they wait on, the\nmost urgent first, then the messages that need no answer.",
		Example: `  c3po human list`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			svc, err := a.Person(console.HumanToken)
			if err != nil {
				return err
			}
			asked, err := ReadAsked(cmd.Context(), svc)
			if err != nil {
				return err
			}
			all := append(append([]c3po.Message{}, asked.Questions...), asked.Notes...)
			shown := all[:min(limit, len(all))]
			return a.Show(shown, func(w io.Writer) {
				warnOfReset(a, passkeysEnd(cmd.Context(), svc))
				console.PrintMessages(w, shown)
				fmt.Fprintln(w, asked)
				if len(shown) < len(all) {
					fmt.Fprintf(w, "%d of %d shown; --limit %d shows all.\n", len(shown), len(all), len(all))
				}
				if len(asked.Questions) > 0 {
					fmt.Fprintln(w, "Answer with: c3po human answer ID TEXT")
				}
			})
		},
	}
	console.LimitFlag(cmd, &limit, 20)
	return cmd
}

// warnOfReset tells the owner of passkeys that all are about to be forgotten.
func warnOfReset(a *console.Console, at time.Time) {
	if warning := console.PasskeysEnd(at); warning != "" {
		fmt.Fprintln(a.Stdout, a.Ink().Warn(warning))
	}
}

// passkeysEnd is when all passkeys are forgotten; zero if nobody asked for it.
func passkeysEnd(ctx context.Context, svc *client.Client) time.Time {
	passkeys, err := svc.Passkeys(ctx)
	if err != nil { // an older coordinator has none
		return time.Time{}
	}
	return passkeys.ResetAt
}

func humanShow(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "show MESSAGE_ID",
		Short:   "Show one question, and what became of it",
		Example: `  c3po human show api::human::0a1b2c3d`,
		RunE:    console.Call(a, a.AsPerson(console.HumanToken), console.OfMessage(c3po.Service.HumanShow), printQuestion),
	}
}

func printQuestion(w io.Writer, q c3po.Question) {
	now := time.Now()
	console.PrintMessage(w, now, q.Message)
	fmt.Fprintf(w, "state: %s\n", console.TicketState(q.State))
	for _, told := range q.Told {
		what := "you were told"
		if told.Late {
			what = "you were reminded"
		}
		if told.At.IsZero() {
			fmt.Fprintf(w, "%s by %s: not yet, after %d tries\n", what, console.Inline(told.Channel), told.Tries)
		} else {
			fmt.Fprintf(w, "%s by %s: %s\n", what, console.Inline(told.Channel), console.Ago(now, told.At))
		}
	}
	if q.Reply != nil {
		fmt.Fprintln(w, "answer:")
		console.Block(w, q.Reply.Response)
	}
}

func humanSend(a *console.Console) *cobra.Command {
	var in c3po.SendInput
	var urgent bool
	cmd := &cobra.Command{
		Use:   "send AGENT [TEXT]",
		Short: "Write to an agent yourself",
		Long: `Write to an agent yourself: it sees that the message is from you, not from another
agent as with c3po send. Its reply comes to you, where c3po answer shows it. Without
TEXT, or with -, the text is read from stdin.`,
		Example: `  c3po human send api "Leave the staging database alone"`,
		Args:    console.NameInArgument(console.Arguments(1, 2, "AGENT [TEXT]"), 0, console.TargetName),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			svc, err := a.Person(console.HumanToken)
			if err != nil {
				return err
			}
			in.Target = args[0]
			if urgent {
				in.Priority = c3po.Urgent
			}
			if in.Message, err = a.Body(args[1:]); err != nil {
				return err
			}
			receipt, err := svc.SendMessage(cmd.Context(), in)
			if err != nil {
				return err
			}
			return a.Show(receipt, func(w io.Writer) { mail.PrintReceipt(w, receipt) })
		},
	}
	cmd.Flags().BoolVar(&urgent, "urgent", false, "have it read first")
	cmd.Flags().StringVar(&in.ClientKey, "key", "", "the same key never sends twice; a random one if left out")
	return cmd
}

func humanWatch(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "watch",
		Short: "Show questions as they come",
		Long: `Show the questions that wait for you, then each as it comes, and again when its
deadline passes, until interrupted.`,
		Example: `  c3po human watch`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			svc, err := a.Person(console.HumanToken)
			if err != nil {
				return err
			}
			// The place first: what comes while the list is read is shown twice rather
			// than never.
			page, err := svc.TailLog(cmd.Context(), c3po.LogInput{Limit: 1})
			if err != nil {
				return err
			}
			at, err := c3po.ParseEventCursor(page.At)
			if err != nil {
				return err
			}
			open, err := ReadAsked(cmd.Context(), svc)
			if err != nil {
				return err
			}
			for _, m := range slices.Concat(open.Questions, open.Notes) {
				if err := showQuestion(a, m); err != nil {
					return err
				}
			}
			return followQuestions(cmd.Context(), a, svc, at)
		},
	}
}

func showQuestion(a *console.Console, m c3po.Message) error {
	return a.Show(m, func(w io.Writer) { console.PrintMessage(w, time.Now(), m) })
}

// followQuestions prints each question when it comes and when it is overdue.
func followQuestions(ctx context.Context, a *console.Console, svc *client.Client, at c3po.EventCursor) error {
	for entry, err := range svc.Events(ctx, &at) {
		if err != nil {
			return err
		}
		if entry.Event == nil {
			continue
		}
		_, to, _ := entry.Event.ID.Split()
		isNew := entry.Event.Kind == c3po.EventAccepted || entry.Event.Kind == c3po.EventAnswered
		if to != c3po.Human || !isNew && entry.Event.Kind != c3po.EventTimedOut {
			continue
		}
		question, err := svc.HumanShow(ctx, c3po.MessageInput{MessageID: entry.Event.ID})
		if c3po.AsError(err) != nil && c3po.AsError(err).Code == c3po.InvalidRequest {
			continue // it is no longer known
		}
		if err != nil {
			return err
		}
		if err := showQuestion(a, question.Message); err != nil {
			return err
		}
	}
	return nil
}
