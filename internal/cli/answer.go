package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/client"
)

// answer is the everyday form of human answer: without an id it goes through what
// waits, one question after the other.
func (a *app) answer() *cobra.Command {
	cmd := a.humanAnswer()
	cmd.Use = "answer [MESSAGE_ID [TEXT]]"
	cmd.Short = "Answer what agents ask you"
	cmd.Long = `Answer a question of an agent, in your own words or with one of its choices. The last
part of its id is enough. On a terminal and without an id, each question that waits is
shown in turn: type a number or a text, Enter to leave it for later, or q to stop.`
	cmd.Example = `  c3po answer
  c3po answer 0a1b "Use the second one"
  c3po answer 0a1b --choice 2`
	one := cmd.RunE
	cmd.Args = arguments(0, 2, "[MESSAGE_ID [TEXT]]")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return one(cmd, args)
		}
		if !isTerminal(a.Stdin) || a.json {
			return &usageError{"which question?", "Give its id, which c3po human list shows."}
		}
		svc, err := a.person(humanToken)
		if err != nil {
			return err
		}
		return a.answerAll(cmd.Context(), svc)
	}
	return cmd
}

// answerAll asks the person about each question that waits.
func (a *app) answerAll(ctx context.Context, svc *client.Client) error {
	page, err := svc.HumanList(ctx, c3po.GetMessagesInput{Limit: maxIDsSearched})
	if err != nil {
		return err
	}
	in, lines := a.ink(), bufio.NewReader(a.Stdin)
	for n, question := range page.Messages {
		fmt.Fprintf(a.Stdout, "%s ", in.faint(fmt.Sprintf("%d of %d", n+1, len(page.Messages))))
		printMessage(a.Stdout, time.Now(), question)
		fmt.Fprint(a.Stdout, in.bold("answer> "))
		line, err := lines.ReadString('\n')
		if err != nil && line == "" {
			fmt.Fprintln(a.Stdout)
			return nil
		}
		text := strings.TrimSpace(line)
		if text == "q" {
			return nil
		}
		if text == "" {
			continue
		}
		reply := c3po.AnswerInput{MessageID: question.ID, Response: text}
		if number, err := strconv.Atoi(text); err == nil && number >= 1 && number <= len(question.Choices) {
			reply.Response, reply.Choice = "", text
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

func printAnswered(w io.Writer, answer c3po.Message) {
	fmt.Fprintf(w, "answered %s\n", inline(string(answer.MessageID)))
}

func (a *app) humanAnswer() *cobra.Command {
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
				return &usageError{"give a text or --choice, not both", cmd.CommandPath() + " --help shows an example."}
			}
			svc, err := a.person(humanToken)
			if err != nil {
				return err
			}
			if in.MessageID, err = messageID(cmd.Context(), svc, args[0]); err != nil {
				return err
			}
			if in.Choice == "" {
				if in.Response, err = a.body(args[1:]); err != nil {
					return err
				}
			}
			answer, err := svc.HumanAnswer(cmd.Context(), in)
			if err != nil {
				return err
			}
			return a.show(answer, func(w io.Writer) { printAnswered(w, answer) })
		},
	}
	cmd.Flags().StringVar(&in.Choice, "choice", "", "one of the choices, or its number")
	return cmd
}
