package mail

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
)

func Trace(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "trace MESSAGE_ID",
		Short: "Show the life of a message",
		Long: `Show the life of a message: one line for each fact that was proved. A ticketId that
its sender chose is as good as the message's id.`,
		Example: `  c3po trace alice::bob::0a1b2c3d`,
		RunE:    console.Call(a, a.LookingAtOwn, console.OfMessage(c3po.Service.Trace), printTrace),
	}
}

// An occurrence is one line of a life.
type occurrence struct {
	at   time.Time
	what string
}

func printTrace(w io.Writer, t c3po.Trace) {
	from, to, _ := t.ID.Split()
	about := []string{string(t.Kind), string(t.Priority), fmt.Sprintf("%d bytes in Redis", t.Bytes)}
	if t.ExpectsReply {
		about = append(about, "expects an answer")
	}
	fmt.Fprintf(w, "%s, %s\n", console.Inline(string(t.ID)), console.Inline(strings.Join(about, ", ")))
	fmt.Fprintf(w, "thread %s\n", console.Inline(t.Thread))
	if t.TraceID != "" {
		fmt.Fprintf(w, "trace %s\n", console.Inline(t.TraceID))
	}
	if t.MessageID != "" {
		label := "about"
		if t.Kind == c3po.KindReply {
			label = "answers"
		}
		fmt.Fprintf(w, "%s %s\n", label, console.Inline(string(t.MessageID)))
	}
	if t.Follows != "" {
		fmt.Fprintf(w, "follows from thread %s\n", console.Inline(t.Follows))
	}
	if t.GoesBackTo != nil {
		fmt.Fprintf(w, "goes back to %s, which you wrote at %s, %s\n", console.Inline(string(t.GoesBackTo.ID)), t.GoesBackTo.At.Local().Format("2006-01-02 15:04"), wordProof(*t.GoesBackTo))
	}
	console.Table(w, func(row func(...string)) {
		for _, o := range life(t, console.Inline(string(from)), console.Inline(string(to))) {
			row(o.at.Local().Format("2006-01-02 15:04:05.000"), o.what)
		}
	})
	switch {
	case t.State == c3po.StatePending && t.Expires != "":
		fmt.Fprintf(w, "now pending; expires %s\n", console.Inline(t.Expires))
	case t.Reason != "":
		fmt.Fprintf(w, "now %s: %s\n", console.Inline(t.State), console.Inline(t.Reason))
	default:
		fmt.Fprintf(w, "now %s\n", console.Inline(t.State))
	}
	printCost(w, t)
	if t.Reachability != "" && len(t.Served) == 0 && t.Received == nil {
		fmt.Fprintf(w, "%s %s%s\n", console.Inline(string(to)), console.Inline(t.Reachability.Prospect()), sinceWhen(t.StateSince, time.Now()))
	}
	if t.BodyGone {
		fmt.Fprintln(w, "its text is no longer kept")
	}
}

// printCost says what an answer has cost, and the conversation. Of an answer for which no
// client has said so, that is unknown.
func printCost(w io.Writer, t c3po.Trace) {
	_, to, _ := t.ID.Split()
	switch {
	case t.Cost != nil:
		about, says := "", ""
		if t.Cost.Shared {
			about = "about "
		}
		if len(t.Cost.Clients) > 0 {
			says = ", as reported by " + strings.Join(t.Cost.Clients, " and ")
		}
		fmt.Fprintf(w, "cost %s%s%s\n", about, t.Cost.Usage, console.Inline(says))
	case len(t.Answered) > 0 && to != c3po.Human:
		fmt.Fprintln(w, "cost unknown")
	}
	if c := t.ChainCost; c != nil && (t.Cost == nil || c.Usage != t.Cost.Usage) {
		fmt.Fprintf(w, "the whole conversation %s, from %s\n", c.Usage, console.CountOf(c.Messages, "answer"))
	}
}

// sinceWhen is how old what is known of a session is.
func sinceWhen(at *time.Time, now time.Time) string {
	if at == nil {
		return ""
	}
	return ", as its session showed " + console.Ago(now, *at)
}

// life puts the facts in the order in which they came about.
func life(t c3po.Trace, from, to string) []occurrence {
	all := []occurrence{{t.Accepted.At, "accepted from " + from + ", " + console.Worth(t.Accepted.Durability) + provedBy(t.Proof) + withheld(t.Unproved)}}
	for _, f := range t.Notified {
		all = append(all, occurrence{f.At, to + " was told that there is mail" + where(f)})
	}
	for _, f := range t.Started {
		all = append(all, occurrence{f.At, to + "'s session was resumed: " + console.Inline(f.Session)})
	}
	for _, f := range t.Served {
		served := "served to " + to + where(f)
		if f.Times > 1 {
			served += fmt.Sprintf(", %d times", f.Times)
		}
		all = append(all, occurrence{f.At, served})
	}
	if t.Received != nil {
		all = append(all, occurrence{t.Received.At, "received by " + to + where(*t.Received)})
	}
	if t.Stalled != nil {
		all = append(all, occurrence{t.Stalled.At, to + " stalled: it has made no step for a while"})
	}
	if t.Silent != nil {
		left := to + "'s turn ended without an answer"
		if t.Received == nil && len(t.Served) == 0 {
			left = to + " was told of it several times and has not read it"
		}
		all = append(all, occurrence{t.Silent.At, left})
	}
	for _, answer := range t.Answered {
		answered := "answered with " + console.Inline(string(answer.ID))
		if answer.Verdict != "" {
			answered = "you " + console.Inline(answer.Verdict)
		}
		all = append(all, occurrence{answer.At, answered + provedBy(answer.Proof) + withheld(answer.Unproved)})
	}
	if t.Ended != nil {
		all = append(all, occurrence{t.Ended.At, console.Inline(t.State)})
	}
	slices.SortStableFunc(all, func(a, b occurrence) int { return a.at.Compare(b.at) })
	return all
}

// withheld says what became of a message in the person's name that is not proved.
func withheld(unproved bool) string {
	if !unproved {
		return ""
	}
	return ", in your name but confirmed by no passkey: it is withheld"
}

func provedBy(proof *c3po.Proof) string {
	if proof == nil {
		return ""
	}
	return ", proved by passkey " + console.Inline(proof.Passkey)
}

// wordProof is what is known of it that it was the person.
func wordProof(word c3po.Word) string {
	if word.Passkey == "" {
		return "by token"
	}
	return "proved by passkey " + console.Inline(word.Passkey)
}

func where(f c3po.Fact) string {
	var parts []string
	if f.Session != "" && f.Session != "anonymous" {
		parts = append(parts, "session "+console.Inline(f.Session))
	}
	if f.Route != "" {
		parts = append(parts, "over "+console.Inline(f.Route))
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func Thread(a *console.Console) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:     "thread THREAD",
		Short:   "Read a conversation back",
		Long:    `Show a conversation, oldest first. THREAD is its id, or the id of any message in it.`,
		Example: `  c3po thread alice::bob::0a1b2c3d`,
		RunE: console.List(a, a.LookingAtOwn, &limit, "messages", func(ctx context.Context, svc *client.Client, args []string, cursor string, most int) ([]c3po.Message, string, error) {
			thread, err := console.ThreadID(ctx, svc, args[0])
			if err != nil {
				return nil, "", err
			}
			page, err := svc.GetThread(ctx, c3po.ThreadInput{Thread: thread, Cursor: cursor, Limit: most})
			return page.Messages, page.Next, err
		}, console.PrintMessages),
	}
	console.LimitFlag(cmd, &limit, 100)
	cmd.AddCommand(threadResume(a))
	return cmd
}

func threadResume(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "resume THREAD",
		Short: "Let a conversation go on whose budget is spent",
		Long: `Let a conversation go on that was paused because its budget is spent. THREAD is
its id, or the id of any message in it.`,
		Example: `  c3po thread resume alice::bob::0a1b2c3d`,
		RunE: console.Operation(a, a.AsPerson(console.HumanToken), c3po.Service.ThreadResume, func(args []string) (c3po.ThreadResumeInput, error) {
			return c3po.ThreadResumeInput{Thread: args[0]}, nil
		}, func(w io.Writer, done c3po.ThreadResumed) {
			if !done.Resumed {
				fmt.Fprintf(w, "%s was not paused\n", console.Inline(done.Thread))
				return
			}
			fmt.Fprintf(w, "%s goes on with a new budget\n", console.Inline(done.Thread))
		}),
	}
}
