package cli

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
)

// completeAgents is how many agents are offered.
const completeAgents = 200

func completion(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print what lets your shell complete commands and agent ids",
		Long: `Print a script for your shell. With it the tab key completes commands, flags and
the ids of the agents there are. If the coordinator does not answer quickly, no ids
are offered.

bash: c3po completion bash >~/.local/share/bash-completion/completions/c3po
zsh:  c3po completion zsh >"${fpath[1]}/_c3po"
fish: c3po completion fish >~/.config/fish/completions/c3po.fish`,
		Example: `  c3po completion bash
  c3po completion zsh
  c3po completion fish`,
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.Stdout)
			case "fish":
				return root.GenFishCompletion(a.Stdout, true)
			default:
				return console.BadUsage("there is no completion for "+args[0], "Choose bash, zsh or fish.")
			}
		},
	}
	return console.WithoutSettings(cmd)
}

type completer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// completions says what each argument and flag can be, for those that can be
// more than a text. Whatever is not named here completes to nothing, not to the
// files of the current folder.
func completions(a *console.Console, root *cobra.Command) {
	root.CompletionOptions.DisableDefaultCmd = true
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	agents := func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		return agentsCompletion(a, cmd, args, begun)
	}
	// An argument is an agent only in the first place.
	target := func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return agents(cmd, args, begun)
	}
	mail := func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 && cmd.Name() != "ack" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completeMail(a, cmd, args, begun)
	}
	for names, complete := range map[string]completer{
		"send pause resume agents": target,
		"reply ack claim":          mail,
		"answer human/answer human/show": first(func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			return completeQuestions(a, cmd, args, begun)
		}),
		"trace tickets cancel thread thread/resume": first(func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			return completeTickets(a, cmd, args, begun)
		}),
		"token/revoke token/rotate": first(func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			return completeTokens(a, cmd, args, begun)
		}),
		"room/join room/leave room/post room/history room/end room/set room/invite": first(func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			return completeRooms(a, cmd, args, begun)
		}),
	} {
		for name := range strings.FieldsSeq(names) {
			if cmd, _, err := root.Find(strings.Split(name, "/")); err == nil && cmd != root {
				cmd.ValidArgsFunction = complete
			}
		}
	}
	kinds := []string{}
	for _, kind := range c3po.EventKinds() {
		kinds = append(kinds, string(kind))
	}
	flags := map[string]completer{
		"as": agents, "agent": agents, "handed-to": agents,
		"kind":      cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveNoFileComp),
		"auth":      cobra.FixedCompletions([]string{"token", "none"}, cobra.ShellCompDirectiveNoFileComp),
		"tls":       cobra.FixedCompletions([]string{"auto", "on", "off"}, cobra.ShellCompDirectiveNoFileComp),
		"log-level": cobra.FixedCompletions([]string{"debug", "info", "warn", "error"}, cobra.ShellCompDirectiveNoFileComp),
		"status":    cobra.FixedCompletions([]string{c3po.ReplySuccess, c3po.ReplyError, c3po.ReplyHandedOver}, cobra.ShellCompDirectiveNoFileComp),
		"tls-cert":  files, "tls-key": files,
		"for": func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			return completeTickets(a, cmd, args, begun)
		},
	}
	everyCommand(root, func(cmd *cobra.Command) {
		for name, complete := range flags {
			// Not LocalNonPersistentFlags, which makes new sets for each look-up: a seventh of the
			// time of a short command.
			if cmd.Flags().Lookup(name) != nil || cmd == root && cmd.PersistentFlags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, complete) // it fails for a flag that is not there
			}
		}
	})
}

func files(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func everyCommand(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, child := range cmd.Commands() {
		everyCommand(child, visit)
	}
}

// completing asks a coordinator for what could be meant. Whatever goes wrong, a
// person who has only pressed a key is not told.
func completing(a *console.Console, cmd *cobra.Command, ask func(context.Context, *client.Client) []string, who func() (*client.Client, error)) ([]string, cobra.ShellCompDirective) {
	nothing := cobra.ShellCompDirectiveNoFileComp
	if a.Settle(cmd, nil) != nil {
		return nil, nothing
	}
	svc, err := who()
	if err != nil {
		return nil, nothing
	}
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(a.TabTimeout, 300*time.Millisecond))
	defer cancel()
	return ask(ctx, svc), nothing
}

func agentsCompletion(a *console.Console, cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return completing(a, cmd, func(ctx context.Context, svc *client.Client) []string {
		list, err := svc.ListAgents(ctx, c3po.ListAgentsInput{Limit: completeAgents})
		if err != nil {
			return nil
		}
		var ids []string
		for _, agent := range list.Agents {
			// A bare name completes what is known by its host as well.
			if strings.HasPrefix(string(agent.ID), begun) || strings.HasPrefix(agent.ID.Name(), begun) {
				ids = append(ids, cobra.CompletionWithDesc(string(agent.ID), console.Inline(string(agent.Status))))
			}
		}
		return ids
	}, a.Looking)
}

// first completes the first argument only.
func first(complete completer) completer {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, begun)
	}
}

// idsLike are the messages that were probably begun: by their whole id, or by its
// last part.
func idsLike(begun string, offer func(add func(id c3po.MessageID, about string))) (ids []string) {
	offer(func(id c3po.MessageID, about string) {
		whole := string(id)
		if last := whole[strings.LastIndex(whole, ":")+1:]; strings.HasPrefix(whole, begun) {
			ids = append(ids, cobra.CompletionWithDesc(whole, console.Inline(c3po.Clip(about))))
		} else if strings.HasPrefix(last, begun) {
			ids = append(ids, cobra.CompletionWithDesc(last, console.Inline(c3po.Clip(about))))
		}
	})
	return ids
}

// completeQuestions offers what agents ask the person.
func completeQuestions(a *console.Console, cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return completing(a, cmd, func(ctx context.Context, svc *client.Client) []string {
		list, err := svc.HumanList(ctx, c3po.GetMessagesInput{Limit: completeAgents})
		if err != nil {
			return nil
		}
		return idsLike(begun, func(add func(c3po.MessageID, string)) {
			for _, m := range list.Messages {
				add(m.ID, m.Text())
			}
		})
	}, a.AsPerson(console.HumanToken))
}

// completeTickets offers the newest questions, open ones and others.
func completeTickets(a *console.Console, cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return completing(a, cmd, func(ctx context.Context, svc *client.Client) []string {
		in := c3po.TicketsInput{Limit: completeAgents}
		if a.As == "" {
			in.Which = c3po.TicketsAll
		}
		list, err := svc.Tickets(ctx, in)
		if err != nil {
			return nil
		}
		return idsLike(begun, func(add func(c3po.MessageID, string)) {
			for _, t := range list.Tickets {
				add(t.ID, console.TicketState(t.State))
			}
		})
	}, a.Looking)
}

// completeTokens offers the tokens that still let somebody in.
func completeTokens(a *console.Console, cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return completing(a, cmd, func(ctx context.Context, svc *client.Client) (kids []string) {
		tokens, err := svc.Tokens(ctx)
		if err != nil {
			return nil
		}
		for _, token := range tokens {
			if token.State == "live" && strings.HasPrefix(token.KID, begun) {
				kids = append(kids, cobra.CompletionWithDesc(token.KID, console.Inline(token.Label)))
			}
		}
		return kids
	}, a.AsPerson(console.AdminToken))
}

// completeRooms offers the rooms that can be seen.
func completeRooms(a *console.Console, cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return completing(a, cmd, func(ctx context.Context, svc *client.Client) []string {
		list, err := svc.RoomList(ctx, c3po.RoomListInput{All: true})
		if err != nil {
			return nil
		}
		var names []string
		for _, room := range list.Rooms {
			if strings.HasPrefix(string(room.Room), begun) {
				names = append(names, string(room.Room))
			}
		}
		return names
	}, a.Looking)
}

// completeMail offers the messages that wait for an answer.
func completeMail(a *console.Console, cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return completing(a, cmd, func(ctx context.Context, svc *client.Client) []string {
		list, err := svc.Peek(ctx, c3po.GetMessagesInput{Limit: completeAgents})
		if err != nil {
			return nil
		}
		return idsLike(begun, func(add func(c3po.MessageID, string)) {
			for _, m := range list.Messages {
				add(m.ID, "from "+string(m.FromAgent))
			}
		})
	}, a.ActingIfKnown)
}
