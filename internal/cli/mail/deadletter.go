package mail

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
)

func DeadLetter(a *console.Console) *cobra.Command {
	return console.Family(&cobra.Command{
		Use:   "dead-letter",
		Short: "See, replay and purge messages that nobody acked",
		Long: `See, replay and purge messages that nobody acked: they expired, were damaged, or
their recipient was removed. They are kept for 30 days.`,
		Example: `  c3po dead-letter list --to bob
  c3po dead-letter replay alice::bob::0a1b2c3d`,
	}, deadLetterList(a), deadLetterShow(a), deadLetterReplay(a), deadLetterPurge(a))
}

// A letterChoice is what the flags of these commands select.
type letterChoice struct {
	to, reason, since string
	all               bool
}

func (c *letterChoice) flags(cmd *cobra.Command) {
	console.CheckedFlag(cmd.Flags(), &c.to, "to", "", "only letters to this agent", console.AgentName)
	cmd.Flags().StringVar(&c.reason, "reason", "", "only letters that died for this reason: expired, corrupt, recipient_removed")
	console.CheckedFlag(cmd.Flags(), &c.since, "since", "", "only letters that died since then: a time (RFC 3339), or 12h, 7d ago", console.ParseTime)
}

func deadLetterList(a *console.Console) *cobra.Command {
	var limit int
	var choice letterChoice
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List dead letters, the oldest first",
		Example: `  c3po dead-letter list
  c3po dead-letter list --to bob --reason expired --since 7d`,
		RunE: console.List(a, a.AsPerson(console.HumanToken), &limit, "letters", func(ctx context.Context, svc *client.Client, _ []string, cursor string, most int) ([]c3po.Letter, string, error) {
			page, err := svc.DeadLetters(ctx, c3po.LettersInput{AgentID: choice.to, Reason: choice.reason, Since: choice.since, Cursor: cursor, Limit: most})
			return page.Letters, page.Next, err
		}, printLetters),
	}
	choice.flags(cmd)
	console.LimitFlag(cmd, &limit, 100)
	return cmd
}

func printLetters(w io.Writer, letters []c3po.Letter) {
	if len(letters) == 0 {
		fmt.Fprintln(w, "no dead letters")
		return
	}
	now := time.Now()
	console.Table(w, func(row func(...string)) {
		row("MESSAGE", "REASON", "SENT", "DIED", "BYTES")
		for _, letter := range letters {
			row(console.Inline(string(letter.ID)), console.Inline(letter.Reason), console.Ago(now, letter.SentAt), console.Ago(now, letter.DiedAt), fmt.Sprint(letter.Bytes))
		}
	})
}

func deadLetterShow(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "show MESSAGE_ID",
		Short:   "Show a dead letter with its text",
		Example: `  c3po dead-letter show alice::bob::0a1b2c3d`,
		RunE: console.Call(a, a.AsPerson(console.HumanToken), console.OfMessage(c3po.Service.DeadLetter), func(w io.Writer, letter c3po.LetterView) {
			console.PrintMessage(w, time.Now(), letter.Message)
			fmt.Fprintf(w, "dead since %s: %s\n", letter.Letter.DiedAt.Local().Format(time.DateTime), console.Inline(letter.Letter.Reason))
		}),
	}
}

func deadLetterReplay(a *console.Console) *cobra.Command {
	return forLetters(a, "replay", "Deliver dead letters again", "is in its inbox again", `Deliver dead letters again: those named, those that the flags select, or with
--all all of them. Their senders get a notice.`, c3po.Service.DeadLetterReplay)
}

func deadLetterPurge(a *console.Console) *cobra.Command {
	return forLetters(a, "purge", "Forget dead letters at once", "is forgotten", `Forget dead letters at once: those named, those that the flags select, or with
--all all of them. They cannot be brought back.`, c3po.Service.DeadLetterPurge)
}

// forLetters is what replay and purge have in common.
func forLetters(a *console.Console, verb, short, done, long string, do func(c3po.Service, context.Context, c3po.LetterSelection) (c3po.LetterOutcome, error)) *cobra.Command {
	var choice letterChoice
	cmd := &cobra.Command{
		Use:   verb + " [MESSAGE_ID...]",
		Short: short,
		Long:  long,
		Example: fmt.Sprintf(`  c3po dead-letter %[1]s alice::bob::0a1b2c3d
  c3po dead-letter %[1]s --to bob --since 12h
  c3po dead-letter %[1]s --all`, verb),
		Args: console.Arguments(0, -1, "[MESSAGE_ID...]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			svc, err := a.Person(console.HumanToken)
			if err != nil {
				return err
			}
			if len(args) == 0 && choice == (letterChoice{}) {
				return console.BadUsage("which dead letters?", "Name them, select them with --to, --reason or --since, or give --all. c3po dead-letter list shows what there is.")
			}
			ids, err := console.MessageIDs(cmd.Context(), svc, args)
			if err != nil {
				return err
			}
			in := c3po.LetterSelection{MessageIDs: ids, AgentID: choice.to, Reason: choice.reason, Since: choice.since, All: choice.all}
			outcome, err := do(svc, cmd.Context(), in)
			if err != nil {
				return err
			}
			return a.Show(outcome, func(w io.Writer) { printOutcome(w, outcome, done) })
		},
	}
	choice.flags(cmd)
	cmd.Flags().BoolVar(&choice.all, "all", false, "every dead letter of the space")
	return cmd
}

func printOutcome(w io.Writer, outcome c3po.LetterOutcome, done string) {
	for _, id := range outcome.Done {
		fmt.Fprintf(w, "%s %s\n", console.Inline(string(id)), done)
	}
	for _, left := range outcome.Left {
		fmt.Fprintf(w, "%s was left: %s\n", console.Inline(string(left.ID)), console.Inline(left.Why))
	}
	for _, id := range outcome.Undecided {
		fmt.Fprintf(w, "%s was not tried, or nobody knows what became of it\n", console.Inline(string(id)))
	}
	console.PrintNotice(w, outcome.Notice)
	if outcome.More {
		fmt.Fprintln(w, "there are more: do it again for the next")
	}
	if len(outcome.Done)+len(outcome.Left) == 0 {
		fmt.Fprintln(w, "no dead letters")
	}
}
