// Package mail is the commands about messages and about who is there to read them: send,
// inbox, reply, tickets, rooms, agents, trace. It starts nothing and installs nothing.
package mail

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
)

// askTime is how long c3po ask waits for the answer.
const askTime = 5 * time.Minute

func Send(a *console.Console) *cobra.Command {
	var in c3po.SendInput
	var files []string
	var urgent, noReply bool
	var deadline time.Duration
	asking := func() bool { return false }
	fill := func(args []string) (err error) {
		in.Target = args[0]
		if most := int(c3po.DefaultLimits().MaxWait / time.Second); in.WaitSeconds < 0 || in.WaitSeconds > most {
			return console.BadUsage(fmt.Sprintf("--wait must be between 0 and %d seconds", most), "Wait for the rest later, with: c3po wait --for ID")
		}
		if asking() {
			in.WaitSeconds = int(askTime / time.Second)
		}
		if in.Message, err = a.Body(args[1:]); err != nil {
			return err
		}
		if urgent {
			in.Priority = c3po.Urgent
		}
		if noReply {
			expects := false
			in.ExpectsReply = &expects
		}
		if deadline < 0 {
			return console.BadUsage("--deadline is negative", "Give a time such as 90s or 10m.")
		}
		in.DeadlineMS = int(deadline.Milliseconds())
		return nil
	}
	cmd := &cobra.Command{
		Use:   "send TARGET [MESSAGE]",
		Short: "Send a message to an agent",
		Long: `Send a message to an agent, or with role:NAME to any one agent that has this
capability. Without MESSAGE, or with -, the text is read from stdin. With --wait
the answer is printed when it comes; as c3po ask it waits for five minutes. A file
that travels with it is read with c3po save, and a patch with c3po apply.`,
		Example: `  c3po send bob "Which MQTT topics are there?" --wait 60
  git diff | c3po send reviewer - --context "Please review"
  c3po send reviewer "Does this fix it?" --file fix.diff
  c3po send role:review "Who is free to look at #12?"
  c3po send bob "Hold the release?" --if-away fail --deadline 10m`,
		Args: console.NameInArgument(console.Arguments(1, 2, "TARGET [MESSAGE]"), 0, console.TargetName),
		RunE: func(cmd *cobra.Command, args []string) error {
			svc, err := a.Acting()
			if err != nil {
				return err
			}
			if err := fill(args); err != nil {
				return err
			}
			if err := checkTarget(cmd.Context(), a, svc, in.Target, len(files) > 0); err != nil {
				return err
			}
			if in.Attach, err = upload(cmd.Context(), svc, files); err != nil {
				return err
			}
			wait := in.WaitSeconds
			in.WaitSeconds = 0 // what was accepted is shown before the reply comes
			in.ClientKey = cmp.Or(in.ClientKey, rand.Text())
			receipt, err := svc.SendMessage(a.Traced(cmd.Context()), in)
			if err != nil {
				return console.WithKey(err, in.ClientKey)
			}
			a.Done(in.ClientKey)
			receipt.Notice, receipt.Warning = console.ForPeople(receipt.Notice), console.ForPeople(receipt.Warning)
			if !a.JSON {
				PrintReceipt(a.Stdout, receipt)
			}
			if wait > 0 {
				receipt.Reply, receipt.Wait = awaitReply(cmd.Context(), a, svc, receipt.ID, wait)
			}
			if err := a.Show(receipt, func(w io.Writer) { printReply(w, receipt.Reply) }); err != nil {
				return err
			}
			if wait > 0 && receipt.Reply == nil && receipt.Wait == nil {
				return stoppedWaiting(a, receipt.ID)
			}
			return afterWait(a, receipt.Wait)
		},
	}
	flags := cmd.Flags()
	asking = func() bool { return cmd.CalledAs() == "ask" && !flags.Changed("wait") }
	flags.StringVar(&in.Context, "context", "", "background the other agent needs")
	flags.StringArrayVar(&files, "file", nil, "a file that travels with the message, at most 50 MiB; can be repeated")
	flags.BoolVar(&urgent, "urgent", false, "have it read first")
	flags.BoolVar(&noReply, "no-reply", false, "say that no answer is expected")
	console.SecondsFlag(flags, &in.WaitSeconds, "wait", 0, "wait this long for the answer")
	console.CheckedFlag(flags, &in.IfAway, "if-away", "", "queue (default), or fail if the agent is offline, away or paused", console.OneOf("queue", "fail"))
	console.LengthFlag(flags, &deadline, "deadline", 0, "after this time the unanswered message counts as timed out, for example 10m")
	flags.StringVar(&in.ContentType, "content-type", "", "type of the text, for example application/json")
	metadataFlag(flags, &in.Metadata)
	flags.StringVar(&in.Thread, "thread", "", "conversation to go on with")
	flags.StringVar(&in.ClientKey, "key", "", "the same key never sends twice; a random one if left out")
	return cmd
}

// checkTarget refuses a target that nobody is called before the folder becomes an agent by
// sending to it, and before files are stored for nobody.
func checkTarget(ctx context.Context, a *console.Console, svc *client.Client, target string, withFiles bool) error {
	known, err := a.IsKnown(ctx, svc)
	if err != nil || known && !withFiles {
		return err
	}
	to, err := c3po.ParseTarget(target)
	if err != nil || to.Reserved() {
		return err
	}
	looker, err := a.Looking()
	if err != nil {
		return err
	}
	_, err = looker.GetAgentStatus(ctx, c3po.AgentInput{AgentID: target})
	return err
}

// printWarning shows that something is nearly full, or a budget nearly spent.
func printWarning(w io.Writer, warning string) {
	if warning != "" {
		fmt.Fprintf(w, "warning: %s\n", console.Inline(console.ForPeople(warning)))
	}
}

// PrintReceipt says what became of a message that was sent.
func PrintReceipt(w io.Writer, r c3po.Receipt) {
	fmt.Fprintf(w, "sent %s, %s", console.Inline(string(r.ID)), console.Worth(r.Durability))
	// Else the notice says it, with the reason.
	if r.ToAgent != c3po.Human && (r.Reachability == c3po.ReachNow || !strings.Contains(r.Notice, r.Reachability.When())) {
		fmt.Fprintf(w, "; %s %s", console.Name(r.ToAgent), console.Inline(r.Reachability.Prospect()))
	}
	fmt.Fprintln(w)
	printWarning(w, r.Warning)
	if r.Notice != "" {
		fmt.Fprintf(w, "%s\n", console.Inline(console.ForPeople(r.Notice)))
	}
}

func printReply(w io.Writer, reply *c3po.Message) {
	if reply != nil {
		console.PrintMessage(w, time.Now(), *reply)
	}
}

// awaitReply says what it waits for, and waits.
func awaitReply(ctx context.Context, a *console.Console, svc *client.Client, id c3po.MessageID, most int) (*c3po.Message, *c3po.WaitOutcome) {
	_, to, _ := id.Split()
	defer a.AwaitingReply(to, most)()
	reply, outcome := svc.AwaitReply(ctx, id, most)
	return reply, inWords(a, outcome)
}

// inWords makes what a wait that brought nothing says a person's: with the command that
// waits again.
func inWords(a *console.Console, outcome *c3po.WaitOutcome) *c3po.WaitOutcome {
	if outcome == nil {
		return nil
	}
	said := *outcome
	said.Message = console.ForPeople(said.Message)
	said.Suggestion = strings.ReplaceAll(console.ForPeople(said.Suggestion), "c3po wait --for ID", waitAgain(a, said.MessageID))
	return &said
}

// waitAgain is the command that waits for the answer to a message once more.
func waitAgain(a *console.Console, id c3po.MessageID) string {
	again := "c3po wait --for " + string(id)
	if a.Origins["as"].From == console.FromFlag {
		again += " --as " + a.As
	}
	return again
}

// stoppedWaiting ends a command that was interrupted while it waited for a reply.
func stoppedWaiting(a *console.Console, id c3po.MessageID) error {
	if !a.JSON {
		fmt.Fprintf(a.Stderr, "stopped waiting; the message stays. Wait again with: %s\n", console.Inline(waitAgain(a, id)))
	}
	return context.Canceled
}

// afterWait ends a command whose wait brought nothing.
func afterWait(a *console.Console, outcome *c3po.WaitOutcome) error {
	if outcome == nil {
		return nil
	}
	if !a.JSON {
		a.Complain(outcome.Message, outcome.Suggestion)
	}
	return console.ErrTimeout
}

func Reply(a *console.Console) *cobra.Command {
	var in c3po.ReplyInput
	var files []string
	var handedTo string
	var last bool
	cmd := &cobra.Command{
		Use:   "reply MESSAGE_ID [TEXT]",
		Short: "Reply to a message, which also acks it",
		Long: `Reply to a message, which also acks it. The last part of its id is enough. Without
TEXT, or with -, the reply is read from stdin. With --last it is for the newest
message you have read that expects one, and only the text is given.`,
		Example: `  c3po reply alice::bob::0a1b2c3d "There are mesh/node/# and mesh/stat/#"
  c3po reply --last "There are mesh/node/# and mesh/stat/#"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if last {
				return console.Arguments(0, 1, "--last [TEXT]")(cmd, args)
			}
			return console.Arguments(1, 2, "MESSAGE_ID [TEXT]")(cmd, args)
		},
		RunE: console.Call(a, a.ActingIfKnown, func(ctx context.Context, svc *client.Client, args []string) (reply c3po.Message, err error) {
			if last {
				asked, unread, err := console.LastAsked(ctx, svc)
				if err != nil {
					return reply, err
				}
				if unread > 0 {
					a.Warn(fmt.Sprintf("%s came since, unread", console.CountOf(unread, "newer question")), "Read first with: c3po inbox")
				}
				if first, _, _ := strings.Cut(asked.Text(), "\n"); !a.JSON {
					fmt.Fprintf(a.Stdout, "to %s: %s\n", console.Inline(string(asked.FromAgent)), console.Inline(c3po.Clip(first)))
				}
				args = append([]string{string(asked.ID)}, args...)
			}
			if in.MessageID, err = console.MessageID(ctx, svc, args[0]); err != nil {
				return reply, err
			}
			if in.Response, err = a.Body(args[1:]); err == nil && handedTo != "" {
				in.HandedTo, err = c3po.ParseAgentID(handedTo)
				err = console.Misspelled(err)
			}
			if err != nil {
				return reply, err
			}
			if in.Attach, err = upload(ctx, svc, files); err != nil {
				return reply, err
			}
			in.ClientKey = cmp.Or(in.ClientKey, rand.Text())
			if reply, err = svc.Reply(ctx, in); err == nil {
				a.Done(in.ClientKey)
			}
			return reply, console.WithKey(err, in.ClientKey)
		}, func(w io.Writer, reply c3po.Message) {
			fmt.Fprintf(w, "answered %s with %s\n", console.Inline(string(reply.MessageID)), console.Inline(string(reply.ID)))
			printWarning(w, reply.Warning)
		}),
	}
	cmd.Flags().StringArrayVar(&files, "file", nil, "a file that travels with the reply, at most 50 MiB; can be repeated")
	cmd.Flags().BoolVar(&last, "last", false, "reply to the newest message you have read that expects it")
	cmd.Flags().BoolVar(&in.ExpectsReply, "expects-reply", false, "say that you expect an answer to this one")
	cmd.Flags().StringVar(&in.ContentType, "content-type", "", "type of the text, for example application/json")
	metadataFlag(cmd.Flags(), &in.Metadata)
	cmd.Flags().StringVar(&in.Status, "status", c3po.ReplySuccess, "success, error or handed_over")
	cmd.Flags().StringVar(&handedTo, "handed-to", "", "with handed_over: the agent that goes on with it")
	cmd.Flags().StringVar(&in.ClientKey, "key", "", "the same key never answers twice; a random one if left out")
	return cmd
}
