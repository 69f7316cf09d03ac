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
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

func Tail(a *console.Console) *cobra.Command { return tailLog(a, false) }

// tailLog shows events, for the bridge dialect with the ticketIds that senders chose.
func tailLog(a *console.Console, named bool) *cobra.Command {
	var in c3po.LogInput
	var agent string
	var kinds []string
	var once bool
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Watch what happens, as it happens",
		Long: `Watch the events of a space: messages that were accepted, answered and acked,
agents that came and went. First the latest ones, then each as it happens, until
interrupted. A coordinator that is restarted is waited for, and nothing is missed.
What messages say is never shown.`,
		Example: `  c3po tail
  c3po tail --agent bob --kind accepted,answered --since 10m
  c3po tail --once --limit 100 --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			svc, err := a.Looking()
			if err != nil {
				return err
			}
			if agent != "" {
				if in.Agent, err = c3po.ParseAgentID(agent); err != nil {
					return console.Misspelled(err)
				}
			}
			for _, kind := range kinds {
				if kind == servedWord {
					kind = string(c3po.EventDelivered)
				}
				if !slices.Contains(c3po.EventKinds(), c3po.EventKind(kind)) {
					return console.BadUsage(fmt.Sprintf("there is no event of kind %q", kind), "The kinds are "+kindWords()+".")
				}
				in.Kinds = append(in.Kinds, c3po.EventKind(kind))
			}
			show := func(e c3po.Event) error { return showEvent(a, e) }
			if named {
				names := dialect.TicketIDs{Service: svc}
				show = func(e c3po.Event) error { return showTicketEvent(a, names.Of(cmd.Context(), e.ID), e) }
			}
			at, err := showLog(cmd.Context(), a, svc, in, show)
			if err != nil || once {
				return err
			}
			if !a.JSON && console.IsTerminal(a.Stdout) {
				fmt.Fprintln(a.Stderr, a.Ink().Faint("what happens next follows here; Ctrl-C ends it, --once does without"))
			}
			return follow(cmd.Context(), a, svc, in, at, show)
		},
	}
	console.LimitFlag(cmd, &in.Limit, 10)
	flags := cmd.Flags()
	flags.Lookup("limit").Usage = "how many of the latest to begin with"
	flags.StringVar(&agent, "agent", "", "only what is about this agent, or a message from or to it")
	flags.StringSliceVar(&kinds, "kind", nil, "only these kinds, separated by commas")
	flags.StringVar(&in.Thread, "thread", "", "only messages of this conversation: its id, or the id of a message in it")
	console.CheckedFlag(flags, &in.Since, "since", "", "begin then, instead of with the latest: 10m, 2h, 7d, or a time such as 2026-01-02T15:04:05Z", console.ParseTime)
	flags.StringVar(&in.After, "after", "", "begin after this place in the log, for example 1:4711, which --json calls seq")
	flags.BoolVar(&once, "once", false, "show what there is, and do not wait for more")
	return cmd
}

// showLog prints what is in the log already and returns the place after it.
func showLog(ctx context.Context, a *console.Console, svc *client.Client, in c3po.LogInput, show func(c3po.Event) error) (c3po.EventCursor, error) {
	for {
		page, err := svc.TailLog(ctx, in)
		if err != nil {
			return c3po.EventCursor{}, err
		}
		for _, e := range page.Events {
			if err := show(e); err != nil {
				return c3po.EventCursor{}, err
			}
		}
		if !page.More || page.At == in.After {
			return c3po.ParseEventCursor(page.At)
		}
		in.After, in.Since, in.Limit = page.At, "", 0
	}
}

// follow prints events as they come.
func follow(ctx context.Context, a *console.Console, svc *client.Client, in c3po.LogInput, at c3po.EventCursor, show func(c3po.Event) error) error {
	threads := threadFilter{svc: svc, known: map[c3po.MessageID]bool{}}
	if in.Thread != "" {
		if err := threads.find(ctx, in.Thread); err != nil {
			return err
		}
	}
	for entry, err := range svc.Events(ctx, &at) {
		if err != nil {
			return err
		}
		if entry.Start != nil {
			if !entry.Start.Recovered {
				fmt.Fprintf(a.Stderr, "hint: Events are missing here (%s).\n", console.Inline(string(entry.Start.Reason)))
			}
			continue
		}
		if !in.Wants(*entry.Event) {
			continue
		}
		if belongs, err := threads.has(ctx, entry.Event.ID); err != nil {
			return err
		} else if !belongs {
			continue
		}
		if err := show(*entry.Event); err != nil {
			return err
		}
	}
	return nil
}

// A threadFilter knows which messages are of one thread; of all, if none was
// asked for.
type threadFilter struct {
	svc    *client.Client
	thread string
	known  map[c3po.MessageID]bool
}

// find takes the id of a message for the thread it is in.
func (f *threadFilter) find(ctx context.Context, name string) error {
	f.thread = name
	id, err := c3po.ParseMessageID(name)
	if err != nil {
		return nil
	}
	trace, err := f.svc.Trace(ctx, c3po.MessageInput{MessageID: id})
	if err == nil {
		f.thread = trace.Thread
	}
	return err
}

func (f *threadFilter) has(ctx context.Context, id c3po.MessageID) (bool, error) {
	if f.thread == "" || id == "" {
		return f.thread == "", nil
	}
	belongs, known := f.known[id]
	if !known {
		trace, err := f.svc.Trace(ctx, c3po.MessageInput{MessageID: id})
		if err != nil && c3po.AsError(err).Code != c3po.InvalidRequest {
			return false, err
		}
		// Of a message that is no longer known nobody can say.
		belongs = err == nil && trace.Thread == f.thread
		f.known[id] = belongs
	}
	return belongs, nil
}

// showEvent prints one line, so that it can be piped.
func showEvent(a *console.Console, e c3po.Event) error {
	return a.Show(e, func(w io.Writer) { PrintEvent(w, a.Ink(), e) })
}

// showTicketEvent calls the message of an event by the ticketId its sender chose.
func showTicketEvent(a *console.Console, ticket string, e c3po.Event) error {
	return a.Show(dialect.Event{TicketID: ticket, Event: e}, func(w io.Writer) {
		if ticket == "" {
			PrintEvent(w, a.Ink(), e)
			return
		}
		from, to, _ := e.ID.Split()
		fmt.Fprintf(w, "%s  %s  %s  %s to %s\n", a.Ink().Faint(e.At.Local().Format(time.DateTime)), showKind(a.Ink(), e.Kind), console.Inline(ticket), console.Inline(string(from)), console.Inline(string(to)))
	})
}

func PrintEvent(w io.Writer, in console.Ink, e c3po.Event) {
	facts := []string{in.Faint(e.At.Local().Format(time.DateTime)), showKind(in, e.Kind)}
	if e.ID != "" {
		facts = append(facts, console.Inline(string(e.ID)))
	}
	switch {
	case e.ID != "": // which says whom it is from and to
	case e.Agent != "":
		facts = append(facts, console.Inline(string(e.Agent)))
	default:
		facts = append(facts, "everybody")
	}
	fmt.Fprintln(w, strings.Join(facts, "  "))
}

// servedWord is what people call it that a reader was given a message's text.
const servedWord = "served"

func kindWord(kind c3po.EventKind) string {
	if kind == c3po.EventDelivered {
		return servedWord
	}
	return string(kind)
}

func kindWords() string {
	var words []string
	for _, kind := range c3po.EventKinds() {
		words = append(words, kindWord(kind))
	}
	return strings.Join(words, " ")
}

// showKind is the word for a kind of event, as wide as the widest.
func showKind(i console.Ink, kind c3po.EventKind) string {
	word := fmt.Sprintf("%-12s", console.Inline(kindWord(kind)))
	switch kind {
	case c3po.EventDead, c3po.EventRollback:
		return i.Bad(word)
	case c3po.EventAnswered, c3po.EventRegistered:
		return i.Good(word)
	case c3po.EventPaused, c3po.EventUnregistered:
		return i.Warn(word)
	default:
		return word
	}
}
