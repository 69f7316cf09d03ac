package mail

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

// asked is what ask-human prints as JSON.
type asked struct {
	c3po.Escalation
	Reply *c3po.Message     `json:"reply,omitempty"` // with --wait: the answer
	Wait  *c3po.WaitOutcome `json:"wait,omitempty"`  // with --wait: why there is none
}

func AskHuman(a *console.Console) *cobra.Command {
	var in c3po.EscalateInput
	var wait int
	cmd := &cobra.Command{
		Use:   "ask-human REASON",
		Short: "Ask the person for a decision",
		Long: `Ask the person for a decision, as a model does with escalate_to_human. The agent
counts as paused until the answer comes. With --wait the answer is printed; if it
does not come in time the exit code is 4, and the question stays open.`,
		Example: `  c3po ask-human "The disk is nearly full" --question "Delete old backups?" --choice yes --choice no
  c3po ask-human "May I reboot?" --deadline 2h`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if most := int(c3po.DefaultLimits().MaxWait / time.Second); wait < 0 || wait > most {
				// Refused before anything is asked.
				return console.BadUsage(fmt.Sprintf("--wait must be 0-%d seconds", most), "With 0 the answer comes later: c3po wait --for ID.")
			}
			if strings.TrimSpace(args[0]) == "" {
				return console.BadUsage("the reason is empty", "Say in quotes what you need decided.")
			}
			if err := checkChoices(in.Choices); err != nil {
				return err
			}
			svc, err := a.Acting()
			if err != nil {
				return err
			}
			in.Reason = args[0]
			var done asked
			in.ClientKey = cmp.Or(in.ClientKey, rand.Text())
			if done.Escalation, err = svc.EscalateToHuman(cmd.Context(), in); err != nil {
				return console.WithKey(err, in.ClientKey)
			}
			a.Done(in.ClientKey)
			done.Message = console.ForPeople(done.Message)
			if !a.JSON {
				fmt.Fprintf(a.Stdout, "asked %s\n", console.Inline(string(done.MessageID)))
			}
			if wait > 0 {
				done.Reply, done.Wait = awaitReply(cmd.Context(), a, svc, done.MessageID, wait)
			}
			if err := a.Show(done, func(w io.Writer) { printReply(w, done.Reply) }); err != nil {
				return err
			}
			if wait > 0 && done.Reply == nil && done.Wait == nil {
				return stoppedWaiting(a, done.MessageID)
			}
			return afterWait(a, done.Wait)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&in.Question, "question", "", "what you want to know, if the reason does not say it")
	flags.StringArrayVar(&in.Choices, "choice", nil, "a short answer to choose from; may be given up to nine times")
	console.CheckedFlag(flags, &in.Deadline, "deadline", "", "after how long the person is reminded, once: 10m, 2h or 1d", parseDeadline)
	flags.StringVar(&in.ClientKey, "key", "", "the same key never asks twice; a random one if left out")
	console.SecondsFlag(flags, &wait, "wait", 0, "wait this long for the answer")
	return cmd
}

// parseDeadline checks that a question's deadline is one that the coordinator takes.
func parseDeadline(text string) error {
	within, err := c3po.ParseDuration(text)
	if err != nil || within < time.Second || within > c3po.MaxQuestionDeadline {
		return errors.New("write a time from 1s to 30d, such as 10m, 2h or 1d")
	}
	return nil
}

// checkChoices refuses choices that nobody could tell apart, before anything is asked.
func checkChoices(choices []string) error {
	const hint = "c3po ask-human --help shows an example."
	if len(choices) > c3po.MaxChoices {
		return console.BadUsage(fmt.Sprintf("--choice is given %d times; %d are the most", len(choices), c3po.MaxChoices), "Give fewer: a question can also be answered in your own words.")
	}
	for i, choice := range choices {
		if strings.TrimSpace(choice) == "" {
			return console.BadUsage("--choice is empty", hint)
		}
		if slices.Contains(choices[:i], choice) {
			return console.BadUsage(fmt.Sprintf("--choice %q is there twice", choice), hint)
		}
	}
	return nil
}
