package people

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
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
shown in turn, the most urgent first: type a number or a text, Enter to leave it for
later, or q to stop. The messages that need no answer follow together, and d takes them
all off the list.`
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

// answerAll asks the person about each question that waits, then shows what needs no answer.
func answerAll(ctx context.Context, a *console.Console, svc *client.Client) error {
	asked, err := ReadAsked(ctx, svc)
	if err != nil {
		return err
	}
	warnOfReset(a, passkeysEnd(ctx, svc))
	in := a.Ink()
	fmt.Fprintln(a.Stdout, asked)
	if len(asked.Questions) > 0 {
		fmt.Fprintln(a.Stdout, in.Faint(console.Hang(a.Stdout, 0, "Type a text or the number of a choice. Enter leaves a question for later, q stops.")))
	}
	typed, left := console.Lines(a.Stdin), len(asked.Questions)+len(asked.Notes)
	err = func() error {
		for n, question := range asked.Questions {
			place := in.Faint(fmt.Sprintf("%d of %d", n+1, len(asked.Questions)))
			if now, err := svc.HumanShow(ctx, c3po.MessageInput{MessageID: question.ID}); err == nil && now.Reply != nil {
				fmt.Fprintf(a.Stdout, "%s %s\n", place, console.Inline(wasAnswered(now).Message))
				left--
				continue
			}
			fmt.Fprintf(a.Stdout, "%s ", place)
			console.PrintMessage(a.Stdout, time.Now(), question)
			done, err := settle(ctx, a, svc, question, typed)
			if err != nil {
				return err
			}
			if done {
				left--
			}
		}
		done, err := takeNotes(ctx, a, svc, asked.Notes, typed)
		left -= done
		return err
	}()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if left > 0 {
		fmt.Fprintf(a.Stdout, "%s left for later; see them with: c3po human list\n", console.CountOf(left, "message"))
	}
	return nil
}

// takeNotes shows what needs no answer and takes it off the list if the person wants it.
// No text is sent anywhere: it may be the next line for the shell.
func takeNotes(ctx context.Context, a *console.Console, svc *client.Client, notes []c3po.Message, typed <-chan string) (done int, err error) {
	if len(notes) == 0 {
		return 0, nil
	}
	console.PrintMessages(a.Stdout, notes)
	for {
		text, err := typedAnswer(ctx, a, fmt.Sprintf("d takes %s off the list, Enter leaves %s> ", theseNotes(len(notes)), itOrThem(len(notes))), typed)
		if err != nil {
			fmt.Fprintln(a.Stdout)
			return 0, err
		}
		switch text {
		case "", "q":
			return 0, nil
		case "d":
			for some := range slices.Chunk(notes, 100) {
				ids := make([]c3po.MessageID, len(some))
				for i, m := range some {
					ids[i] = m.ID
				}
				if _, err := svc.AckMessages(ctx, c3po.AckInput{MessageIDs: ids}); err != nil {
					return done, err
				}
				done += len(some)
			}
			return done, nil
		default:
			fmt.Fprintln(a.Stdout, "Nothing was sent: no answer is expected here. To write to an agent: c3po human send AGENT TEXT")
		}
	}
}

func theseNotes(n int) string {
	if n == 1 {
		return "it"
	}
	return "all " + strconv.Itoa(n)
}

func itOrThem(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// settle answers a question as the person says. An answer that is refused is asked for
// again. A question that was answered or withdrawn meanwhile is done too.
func settle(ctx context.Context, a *console.Console, svc *client.Client, question c3po.Message, typed <-chan string) (done bool, err error) {
	for {
		reply, err := askFor(ctx, a, question, typed)
		if err != nil || reply == nil {
			return false, err
		}
		answered, err := svc.HumanAnswer(ctx, *reply)
		if err == nil {
			printAnswered(a.Stdout, answered)
			return true, nil
		}
		now, look := svc.HumanShow(ctx, c3po.MessageInput{MessageID: question.ID})
		if look == nil && now.Reply != nil {
			fmt.Fprintln(a.Stdout, console.Inline(wasAnswered(now).Message))
			return true, nil
		}
		refusal, ok := errors.AsType[*c3po.Error](err)
		if !ok || refusal.Code != c3po.InvalidRequest || look != nil {
			return false, err
		}
		fmt.Fprintln(a.Stdout, console.Inline(strings.TrimSpace(refusal.Message+". "+refusal.Suggestion)))
		if now.State == c3po.TicketCancelled || question.Kind == c3po.KindApproval && !now.State.Open() {
			return true, nil
		}
	}
}

// askFor is what the person types about a question; nil leaves it for later. The end of
// input, and q, are io.EOF. A number that is no choice is asked for again.
func askFor(ctx context.Context, a *console.Console, question c3po.Message, typed <-chan string) (*c3po.AnswerInput, error) {
	prompt := "answer> "
	if question.Kind == c3po.KindApproval {
		prompt = "1 allows it once, 2 or your words deny it, Enter leaves it> "
	}
	for {
		text, err := typedAnswer(ctx, a, prompt, typed)
		if err != nil {
			fmt.Fprintln(a.Stdout)
			return nil, err
		}
		choice, isNumber := c3po.ChoiceNumber(text)
		switch {
		case text == "q":
			return nil, io.EOF
		case text == "":
			return nil, nil
		case !isNumber || len(question.Choices) == 0:
			return &c3po.AnswerInput{MessageID: question.ID, Response: text}, nil
		case choice >= 1 && choice <= len(question.Choices):
			return &c3po.AnswerInput{MessageID: question.ID, Choice: strconv.Itoa(choice)}, nil
		default:
			fmt.Fprintf(a.Stdout, "There is no choice %s; type a number from 1 to %d, or a text.\n", console.Inline(text), len(question.Choices))
		}
	}
}

// pasteTime is how soon after a line the next one of a pasted text comes.
const pasteTime = 50 * time.Millisecond

// typedAnswer is one line. Several that come at once were pasted: they are one text, and
// it is sent only if the person says so, since the first may have been meant for another
// question.
func typedAnswer(ctx context.Context, a *console.Console, prompt string, typed <-chan string) (string, error) {
	for {
		fmt.Fprint(a.Stdout, a.Ink().Bold(prompt))
		first, err := console.NextLine(ctx, typed)
		if err != nil {
			return "", err
		}
		lines := append([]string{first}, console.LinesWithin(typed, pasteTime)...)
		if len(lines) == 1 {
			return strings.TrimSpace(first), nil
		}
		fmt.Fprintf(a.Stdout, "These are %d lines. Send them as one answer? [y/N] ", len(lines))
		sure, err := console.NextLine(ctx, typed)
		if err != nil {
			return "", err
		}
		if strings.HasPrefix(strings.ToLower(strings.TrimSpace(sure)), "y") {
			return strings.TrimSpace(strings.Join(lines, "\n")), nil
		}
		console.LinesWithin(typed, pasteTime) // the rest of what was pasted
	}
}

// wasAnswered is the refusal of a second answer, with the first.
func wasAnswered(q c3po.Question) *c3po.Error {
	return c3po.Errorf(c3po.InvalidRequest, "%s was answered %s: %s", q.ID, c3po.Ago(time.Now(), q.Reply.Timestamp), c3po.Clip(q.Reply.Response)).
		Suggest("Tell it something else with: c3po human send %s TEXT", q.FromAgent)
}

// whichQuestion is the refusal of an id that is no question's, with where to find the right one.
func whichQuestion(err error) error {
	refusal := c3po.AsError(err)
	if refusal.Code != c3po.InvalidRequest && refusal.Code != c3po.Forbidden || refusal.Suggestion == c3po.AskPerson {
		return err
	}
	return c3po.Because(err, refusal.Code, refusal.Message).Suggest("c3po human list shows the questions and their ids; the last part is enough.")
}

func printAnswered(w io.Writer, answer c3po.Message) {
	if verdict, ok := answer.Verdict(); ok {
		fmt.Fprintln(w, console.Inline(verdict.Decision()))
		return
	}
	fmt.Fprintf(w, "answered %s\n", console.Inline(string(answer.MessageID)))
}

func humanAnswer(a *console.Console) *cobra.Command {
	var in c3po.AnswerInput
	cmd := &cobra.Command{
		Use:   "answer MESSAGE_ID [TEXT]",
		Short: "Answer a question",
		Long: `Answer a question, in your own words or with one of its choices, whose number is
enough. The agent that asked goes on, unless it has asked something else as well.
Without TEXT, or with -, the answer is read from stdin.`,
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
				return whichQuestion(err)
			}
			question, err := svc.HumanShow(cmd.Context(), c3po.MessageInput{MessageID: in.MessageID})
			switch {
			case errors.Is(err, c3po.InvalidRequest) || errors.Is(err, c3po.Forbidden):
				return whichQuestion(err)
			case err == nil && question.Reply != nil:
				return wasAnswered(question)
			}
			if in.Choice == "" {
				if in.Response, err = a.Body(args[1:]); err != nil {
					return err
				}
				// As the prompt, the dashboard and top take a number.
				if choice, isNumber := c3po.ChoiceNumber(in.Response); isNumber && len(question.Choices) > 0 {
					if choice < 1 || choice > len(question.Choices) {
						return c3po.Errorf(c3po.InvalidRequest, "%.80q is none of the choices", in.Response).
							Suggest("Choose a number from 1 to %d, or answer in your own words.", len(question.Choices))
					}
					in.Choice, in.Response = strconv.Itoa(choice), ""
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
