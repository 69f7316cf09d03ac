package mail

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/agentside"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
)

func Inbox(a *console.Console) *cobra.Command {
	var peek bool
	var limit int
	var leftBy string
	cmd := &cobra.Command{
		Use:   "inbox",
		Short: "Show the messages that are not acked",
		Long: `Show the messages that are not acked. They stay until they are answered or
acked, however often they are shown.`,
		Example: `  c3po inbox --as bob`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			svc, err := a.Acting()
			if err != nil {
				return err
			}
			known, err := a.IsKnown(cmd.Context(), svc)
			if err != nil {
				return err
			}
			if !known {
				return a.Show(&c3po.MessageList{Messages: []c3po.Message{}}, func(w io.Writer) {
					fmt.Fprintf(w, "no agent is called %s yet, so there is no mail\n", console.Inline(string(svc.ID())))
				})
			}
			read := svc.GetMessages
			if peek {
				read = svc.Peek
			}
			var list c3po.MessageList
			rows, more, err := console.Pages(limit, func(cursor string, most int) ([]c3po.Message, string, error) {
				page, err := read(cmd.Context(), c3po.GetMessagesInput{Cursor: cursor, Limit: most, LeftBy: leftBy})
				list.Count = page.Count
				return page.Messages, page.Next, err
			})
			if err != nil {
				return err
			}
			list.Messages = rows
			defer a.More(more, "messages")
			return a.Show(&list, func(w io.Writer) {
				console.PrintMessages(w, list.Messages)
				printCount(w, svc.ID(), list)
			})
		},
	}
	cmd.Flags().StringVar(&leftBy, "left-by", "", "read the mail that an ended session in the same folder has left")
	cmd.Flags().BoolVar(&peek, "peek", false, "look without this counting as delivered")
	console.LimitFlag(cmd, &limit, 20)
	return cmd
}

func printCount(w io.Writer, id c3po.AgentID, list c3po.MessageList) {
	if list.Count == 0 {
		fmt.Fprintf(w, "%s has no mail\n", console.Inline(string(id)))
		return
	}
	fmt.Fprintf(w, "%d of %d shown. Answer with: c3po reply ID TEXT. Done without an answer: c3po ack ID\n", len(list.Messages), list.Count)
}

func Wait(a *console.Console) *cobra.Command {
	var in c3po.WaitInput
	var answerTo string
	var incoming, notice bool
	var after int64
	cmd := &cobra.Command{
		Use:   "wait",
		Short: "Wait for a message",
		Long: `Wait for the next message, or with --for for the answer to one. Interrupting
loses nothing. If nothing comes in time the exit code is 4.

With --notice a coding agent waits in a background shell: the command ends with one
line that says there is mail. The tools show the mail itself. Without
--timeout it waits for as long as the agent runs.`,
		Example: `  c3po wait --timeout 300
  c3po wait --for alice::bob::0a1b2c3d`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if notice {
				return agentside.WaitForNotice(cmd.Context(), a, cmd.Flags().Changed("timeout"), in.Timeout)
			}
			svc, err := a.Acting()
			if err != nil {
				return err
			}
			if answerTo != "" {
				if in.MessageID, err = console.MessageID(cmd.Context(), svc, answerTo); err != nil {
					return err
				}
			}
			if incoming {
				in.Kind = c3po.KindIncoming
			}
			if cmd.Flags().Changed("after") {
				in.After = &after
			}
			if err := a.CheckWait(in.Timeout); err != nil {
				return err
			}
			stop := a.Waiting("waiting for a message")
			got, err := svc.WaitForMessage(cmd.Context(), in)
			stop()
			if err != nil {
				return err
			}
			got.Outcome = inWords(a, got.Outcome)
			err = a.Show(got, func(w io.Writer) {
				if got.Outcome == nil {
					console.PrintMessage(w, time.Now(), got.Message)
				}
			})
			if err != nil {
				return err
			}
			return afterWait(a, got.Outcome)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&answerTo, "for", "", "wait for the answer to this message; its id, or the ticketId you chose")
	flags.Int64Var(&after, "after", 0, "only mail after this place: the seq of the last answer, as --json shows it")
	flags.BoolVar(&incoming, "incoming", false, "leave answers to your own messages out")
	flags.BoolVar(&notice, "notice", false, "below a coding agent: end with a line when there is mail, and leave the mail where it is")
	console.WaitFlag(flags, &in.Timeout)
	return cmd
}

func Ack(a *console.Console) *cobra.Command {
	var all bool
	do := console.Call(a, a.ActingIfKnown, func(ctx context.Context, svc *client.Client, args []string) (c3po.AckResult, error) {
		if all {
			return ackAll(ctx, svc)
		}
		ids, err := console.MessageIDs(ctx, svc, args)
		if err != nil {
			return c3po.AckResult{}, err
		}
		return svc.AckMessages(ctx, c3po.AckInput{MessageIDs: ids})
	}, func(w io.Writer, result c3po.AckResult) {
		if all && len(result.Acked) == 0 {
			fmt.Fprintln(w, "no mail to ack")
		}
		printAcks(w, result)
	}, ackError)
	cmd := &cobra.Command{
		Use:   "ack [MESSAGE_ID...]",
		Short: "Mark messages as dealt with",
		Long: `Mark messages as dealt with: those that are named, or with --all everything in the
inbox. Who asked a question that is acked gets no answer.`,
		Example: `  c3po ack alice::bob::0a1b2c3d
  c3po ack --all`,
		Args: console.Arguments(0, -1, "MESSAGE_ID..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return console.BadUsage("name the messages, or give --all", cmd.CommandPath()+" --help shows an example.")
			}
			return do(cmd, args)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "everything in the inbox")
	return cmd
}

// ackAll acks what is in the inbox, page after page.
func ackAll(ctx context.Context, svc *client.Client) (c3po.AckResult, error) {
	var all c3po.AckResult
	for in := (c3po.GetMessagesInput{}); ; {
		page, err := svc.GetMessages(ctx, in)
		if err != nil {
			return all, err
		}
		var ids []c3po.MessageID
		for _, m := range page.Messages {
			ids = append(ids, m.ID)
		}
		if len(ids) > 0 {
			acked, err := svc.AckMessages(ctx, c3po.AckInput{MessageIDs: ids})
			if err != nil {
				return all, err
			}
			all.Acked = append(all.Acked, acked.Acked...)
		}
		if in.Cursor = page.Next; in.Cursor == "" {
			return all, nil
		}
	}
}

func printAcks(w io.Writer, result c3po.AckResult) {
	for _, group := range []struct {
		word string
		ids  []c3po.MessageID
	}{{"acked", result.Acked}, {"acked before", result.Already}} {
		for _, id := range group.ids {
			fmt.Fprintf(w, "%s %s\n", group.word, console.Inline(string(id)))
		}
	}
}

// ackError makes an error of the ids that could not be acked.
func ackError(result c3po.AckResult) error {
	var wrong []string
	for _, id := range result.Unknown {
		wrong = append(wrong, string(id)+" is unknown")
	}
	for _, id := range result.NotYours {
		wrong = append(wrong, string(id)+" is not yours")
	}
	for _, id := range result.Stale {
		wrong = append(wrong, string(id)+" was claimed by another agent since")
	}
	if len(result.Undecided) > 0 {
		for _, id := range result.Undecided {
			wrong = append(wrong, string(id)+" is not acked yet")
		}
		return c3po.Errorf(c3po.RedisUnavailable, "%s", strings.Join(wrong, "; ")).Suggest("%s.", result.Notice)
	}
	if wrong == nil {
		return nil
	}
	return c3po.Errorf(c3po.InvalidRequest, "%s", strings.Join(wrong, "; ")).
		Suggest("`c3po inbox` shows the ids of your messages; --as says whose inbox it is.")
}
