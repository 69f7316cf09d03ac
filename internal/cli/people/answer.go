package people

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
)

// Answer is the everyday form of human answer: without an id it goes through what
// waits, one question after the other.
func Answer(a *console.Console) *cobra.Command {
	cmd := humanAnswer(a)
	cmd.Use = "answer [MESSAGE_ID [TEXT]]"
	cmd.Short = "Answer what agents ask you"
	cmd.Long = `Answer a question of an agent, in your own words or with one of its choices. The last
part of its id is enough. On a terminal and without an id, each question that waits is
shown in turn: type a number or a text, Enter to leave it for later, or q to stop.`
	cmd.Example = `  c3po answer
  c3po answer 0a1b "Use the second one"
  c3po answer 0a1b --choice 2`
	one := cmd.RunE
	cmd.Args = console.Arguments(0, 2, "[MESSAGE_ID [TEXT]]")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return one(cmd, args)
		}
		if !console.IsTerminal(a.Stdin) || a.JSON {
			return console.BadUsage("which question?", "Give its id, which c3po human list shows.")
		}
		svc, err := a.Person(console.HumanToken)
		if err != nil {
			return err
		}
		return answerAll(cmd.Context(), a, svc)
	}
	return cmd
}

// answerAll asks the person about each question that waits.
func answerAll(ctx context.Context, a *console.Console, svc *client.Client) error {
	page, err := svc.HumanList(ctx, c3po.GetMessagesInput{Limit: console.MaxIDsSearched})
	if err != nil {
		return err
	}
	in := a.Ink()
	if len(page.Messages) > 0 {
		fmt.Fprintln(a.Stdout, in.Faint("Type a text or the number of a choice. Enter leaves a question for later, q stops."))
	}
	for n, question := range page.Messages {
		fmt.Fprintf(a.Stdout, "%s ", in.Faint(fmt.Sprintf("%d of %d", n+1, len(page.Messages))))
		console.PrintMessage(a.Stdout, time.Now(), question)
		reply, err := askFor(a, question)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if reply.MessageID == "" {
			continue
		}
		answered, err := svc.HumanAnswer(ctx, reply)
		if err != nil {
			return err
		}
		printAnswered(a.Stdout, answered)
	}
	if len(page.Messages) == 0 {
		fmt.Fprintln(a.Stdout, "no agent waits for you")
	}
	return nil
}

// askFor is what the person types about a question; without an id it is left for later.
// The end of input, and q, are io.EOF. A number that is no choice is asked for again.
func askFor(a *console.Console, question c3po.Message) (c3po.AnswerInput, error) {
	for {
		fmt.Fprint(a.Stdout, a.Ink().Bold("answer> "))
		line, err := a.ReadLine()
		if err != nil {
			fmt.Fprintln(a.Stdout)
			return c3po.AnswerInput{}, err
		}
		text := strings.TrimSpace(line)
		number, notANumber := strconv.Atoi(text)
		switch {
		case text == "q":
			return c3po.AnswerInput{}, io.EOF
		case text == "":
			return c3po.AnswerInput{}, nil
		case notANumber != nil || len(question.Choices) == 0:
			return c3po.AnswerInput{MessageID: question.ID, Response: text}, nil
		case number >= 1 && number <= len(question.Choices):
			return c3po.AnswerInput{MessageID: question.ID, Choice: text}, nil
		default:
			fmt.Fprintf(a.Stdout, "There is no choice %s; type a number from 1 to %d, or a text.\n", console.Inline(text), len(question.Choices))
		}
	}
}

func printAnswered(w io.Writer, answer c3po.Message) {
	fmt.Fprintf(w, "answered %s\n", console.Inline(string(answer.MessageID)))
}

func humanAnswer(a *console.Console) *cobra.Command {
	var in c3po.AnswerInput
	cmd := &cobra.Command{
		Use:   "answer MESSAGE_ID [TEXT]",
		Short: "Answer a question",
		Long: `Answer a question, in your own words or with one of its choices. The agent that
asked goes on, unless it has asked something else as well. Without TEXT, or with -,
the answer is read from stdin.`,
		Example: `  c3po human answer api::human::0a1b2c3d "Use the second one"
  c3po human answer api::human::0a1b2c3d --choice 2`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.Choice != "" && len(args) == 2 {
				return console.BadUsage("give a text or --choice, not both", cmd.CommandPath()+" --help shows an example.")
			}
			svc, err := a.Person(console.HumanToken)
			if err != nil {
				return err
			}
			if in.MessageID, err = console.MessageID(cmd.Context(), svc, args[0]); err != nil {
				return err
			}
			if question, err := svc.HumanShow(cmd.Context(), c3po.MessageInput{MessageID: in.MessageID}); err == nil && question.Reply != nil {
				return c3po.Errorf(c3po.InvalidRequest, "%s was answered %s: %s", question.ID, c3po.Ago(time.Now(), question.Reply.Timestamp), c3po.Clip(question.Reply.Response)).
					Suggest("Tell it something else with: c3po send %s TEXT", question.FromAgent)
			}
			if in.Choice == "" {
				if in.Response, err = a.Body(args[1:]); err != nil {
					return err
				}
			}
			answer, err := svc.HumanAnswer(cmd.Context(), in)
			if err != nil {
				return err
			}
			return a.Show(answer, func(w io.Writer) { printAnswered(w, answer) })
		},
	}
	cmd.Flags().StringVar(&in.Choice, "choice", "", "one of the choices, or its number")
	return cmd
}
