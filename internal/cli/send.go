package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
)

func (a *app) send() *cobra.Command {
	var in c3po.SendInput
	var urgent, noReply bool
	var deadline time.Duration
	cmd := &cobra.Command{
		Use:   "send TARGET [MESSAGE]",
		Short: "Send a message to an agent",
		Long: `Send a message to an agent, or with role:NAME to any one agent that has this
capability. Without MESSAGE, or with -, the text is read from stdin. With --wait
the answer is printed when it comes.`,
		Example: `  c3po send bob "Which MQTT topics are there?" --wait 60
  git diff | c3po send reviewer - --context "Please review"
  c3po send role:review "Who is free to look at #12?"
  c3po send bob "Hold the release?" --if-away fail --deadline 10m`,
		RunE: operation(a, a.acting, c3po.Service.SendMessage, func(args []string) (_ c3po.SendInput, err error) {
			in.Target = args[0]
			if in.Message, err = a.body(args[1:]); err != nil {
				return in, err
			}
			if urgent {
				in.Priority = c3po.Urgent
			}
			if noReply {
				expects := false
				in.ExpectsReply = &expects
			}
			if deadline < 0 {
				return in, &usageError{"--deadline is negative", "Give a time such as 90s or 10m."}
			}
			in.DeadlineMS = int(deadline.Milliseconds())
			return in, nil
		}, printReceipt, func(receipt c3po.Receipt) error { return a.afterWait(receipt.Wait) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&in.Context, "context", "", "background the other agent needs")
	flags.BoolVar(&urgent, "urgent", false, "have it read first")
	flags.BoolVar(&noReply, "no-reply", false, "say that no answer is expected")
	secondsFlag(flags, &in.WaitSeconds, "wait", 0, "wait this long for the answer")
	flags.StringVar(&in.IfAway, "if-away", "", "queue (default), or fail if the agent is offline, away or paused")
	lengthFlag(flags, &deadline, "deadline", 0, "after this time the unanswered message counts as timed out, for example 10m")
	flags.StringVar(&in.ContentType, "content-type", "", "type of the text, for example application/json")
	metadataFlag(flags, &in.Metadata)
	flags.StringVar(&in.Thread, "thread", "", "conversation to go on with")
	flags.StringVar(&in.ClientKey, "key", "", "the same key never sends twice; a random one if left out")
	return cmd
}

// printWarning shows that something is nearly full, or a budget nearly spent.
func printWarning(w io.Writer, warning string) {
	if warning != "" {
		fmt.Fprintf(w, "warning: %s\n", inline(forPeople(warning)))
	}
}

func printReceipt(w io.Writer, r c3po.Receipt) {
	fmt.Fprintf(w, "sent %s, %s; %s %s\n", inline(string(r.ID)), worth(r.Durability), inline(string(r.ToAgent)), prospect(r.Reachability))
	printWarning(w, r.Warning)
	if r.Notice != "" {
		fmt.Fprintf(w, "%s\n", inline(forPeople(r.Notice)))
	}
	if r.Reply != nil {
		printMessage(w, time.Now(), *r.Reply)
	}
}

// afterWait ends a command whose wait brought nothing.
func (a *app) afterWait(outcome *c3po.WaitOutcome) error {
	if outcome == nil {
		return nil
	}
	if !a.json {
		a.complain(outcome.Message, outcome.Suggestion)
	}
	return errTimeout
}

func (a *app) reply() *cobra.Command {
	var in c3po.ReplyInput
	var handedTo string
	cmd := &cobra.Command{
		Use:   "reply MESSAGE_ID [TEXT]",
		Short: "Answer a message, which also acks it",
		Long: `Answer a message, which also acks it. Without TEXT, or with -, the answer is
read from stdin.`,
		Example: `  c3po reply alice::bob::0a1b2c3d "There are mesh/node/# and mesh/stat/#"`,
		RunE: operation(a, a.acting, c3po.Service.Reply, func(args []string) (_ c3po.ReplyInput, err error) {
			if in.MessageID, err = messageID(args[0]); err == nil {
				in.Response, err = a.body(args[1:])
			}
			if err == nil && handedTo != "" {
				in.HandedTo, err = c3po.ParseAgentID(handedTo)
			}
			return in, err
		}, func(w io.Writer, reply c3po.Message) {
			fmt.Fprintf(w, "answered %s with %s\n", inline(string(reply.MessageID)), inline(string(reply.ID)))
			printWarning(w, reply.Warning)
		}),
	}
	cmd.Flags().BoolVar(&in.ExpectsReply, "expects-reply", false, "say that you expect an answer to this one")
	cmd.Flags().StringVar(&in.ContentType, "content-type", "", "type of the text, for example application/json")
	metadataFlag(cmd.Flags(), &in.Metadata)
	cmd.Flags().StringVar(&in.Status, "status", c3po.ReplySuccess, "success, error or handed_over")
	cmd.Flags().StringVar(&handedTo, "handed-to", "", "with handed_over: the agent that goes on with it")
	cmd.Flags().StringVar(&in.ClientKey, "key", "", "the same key never answers twice; a random one if left out")
	return cmd
}
