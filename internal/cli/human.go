package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
)

func (a *app) human() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "human",
		Short: "See and answer what agents ask you",
		Example: `  c3po human list
  c3po human answer api::human::0a1b2c3d "Use the second one"`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.humanList(), a.humanAnswer())
	return cmd
}

func (a *app) humanList() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Show the questions that wait for you",
		Example: `  c3po human list`,
		Args:    arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			svc, err := a.person(humanToken)
			if err != nil {
				return err
			}
			var list c3po.MessageList
			var more bool
			list.Messages, more, err = pages(limit, func(cursor string, most int) ([]c3po.Message, string, error) {
				page, err := svc.HumanList(cmd.Context(), c3po.GetMessagesInput{Cursor: cursor, Limit: most})
				list.Count = page.Count
				return page.Messages, page.Next, err
			})
			if err != nil {
				return err
			}
			defer a.more(more, "questions")
			return a.show(&list, func(w io.Writer) {
				printMessages(w, list)
				if list.Count == 0 {
					fmt.Fprintln(w, "no agent waits for you")
				} else {
					fmt.Fprintf(w, "%d of %d shown. Answer with: c3po human answer ID TEXT\n", len(list.Messages), list.Count)
				}
			})
		},
	}
	limitFlag(cmd, &limit, 20)
	return cmd
}

func (a *app) humanAnswer() *cobra.Command {
	return &cobra.Command{
		Use:   "answer MESSAGE_ID [TEXT]",
		Short: "Answer a question",
		Long: `Answer a question. The agent that asked is then no longer shown as waiting.
Without TEXT, or with -, the answer is read from stdin.`,
		Example: `  c3po human answer api::human::0a1b2c3d "Use the second one"`,
		Args:    arguments(1, 2, "MESSAGE_ID [TEXT]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			svc, err := a.person(humanToken)
			if err != nil {
				return err
			}
			var in c3po.AnswerInput
			if in.MessageID, err = messageID(args[0]); err != nil {
				return err
			}
			if in.Response, err = a.body(args[1:]); err != nil {
				return err
			}
			answer, err := svc.HumanAnswer(cmd.Context(), in)
			if err != nil {
				return err
			}
			return a.show(answer, func(w io.Writer) {
				fmt.Fprintf(w, "answered %s\n", inline(string(answer.MessageID)))
			})
		},
	}
}

func (a *app) pause() *cobra.Command {
	var in c3po.PauseInput
	cmd := &cobra.Command{
		Use:   "pause [AGENT]",
		Short: "Pause an agent, or all of them",
		Long: `Pause an agent, or with --all all of them. Others see it, mail to it is kept, and
nothing is forced on it.`,
		Example: `  c3po pause api --reason "deploying"
  c3po pause --all`,
		Args: arguments(0, 1, "AGENT"),
		RunE: a.setPaused(&in, c3po.Service.Pause),
	}
	cmd.Flags().BoolVar(&in.All, "all", false, "every agent of the space")
	cmd.Flags().StringVar(&in.Reason, "reason", "", "why, shown to others")
	return cmd
}

func (a *app) resume() *cobra.Command {
	var in c3po.PauseInput
	cmd := &cobra.Command{
		Use:   "resume [AGENT]",
		Short: "End the pause of an agent, or of all of them",
		Example: `  c3po resume api
  c3po resume --all`,
		Args: arguments(0, 1, "AGENT"),
		RunE: a.setPaused(&in, c3po.Service.Resume),
	}
	cmd.Flags().BoolVar(&in.All, "all", false, "every agent of the space")
	return cmd
}

// setPaused is what pause and resume have in common.
func (a *app) setPaused(in *c3po.PauseInput, set func(c3po.Service, context.Context, c3po.PauseInput) (c3po.PauseResult, error)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if in.All == (len(args) == 1) {
			return &usageError{"name one agent, or give --all", cmd.CommandPath() + " --help shows an example."}
		}
		if len(args) == 1 {
			in.AgentID = args[0]
		}
		svc, err := a.person(humanToken)
		if err != nil {
			return err
		}
		result, err := set(svc, cmd.Context(), *in)
		if err != nil {
			return err
		}
		return a.show(result, func(w io.Writer) {
			who := inline(string(result.AgentID))
			if result.All {
				who = "everybody"
			}
			if result.Paused == nil {
				fmt.Fprintf(w, "%s is not paused\n", who)
			} else {
				fmt.Fprintf(w, "%s is paused: %s\n", who, inline(*result.Paused))
			}
		})
	}
}
