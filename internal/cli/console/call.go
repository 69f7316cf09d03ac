package console

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// Most commands do the same: find out who asks, ask a coordinator, show the answer.

type (
	Doing  = func(*cobra.Command, []string) error
	caller = func() (*client.Client, error)
)

// AsPerson is a person with the token that is picked.
func (a *Console) AsPerson(pick func(paths.Person) string) caller {
	return func() (*client.Client, error) { return a.Person(pick) }
}

// Call asks, and shows the answer as JSON or as print writes it. What is done then
// says how the command ends.
func Call[Out any](a *Console, as caller, ask func(context.Context, *client.Client, []string) (Out, error), print func(io.Writer, Out), then ...func(Out) error) Doing {
	return func(cmd *cobra.Command, args []string) error {
		svc, err := as()
		if err != nil {
			return err
		}
		out, err := ask(a.Traced(cmd.Context()), svc, args)
		if err != nil {
			return err
		}
		if err := a.Show(out, func(w io.Writer) { print(w, out) }); err != nil {
			return err
		}
		for _, end := range then {
			if err := end(out); err != nil {
				return err
			}
		}
		return nil
	}
}

// Traced is the context of a command that writes: a script or a coding agent that is traced
// hands its place in the trace to what it starts.
func (a *Console) Traced(ctx context.Context) context.Context {
	if from, ok := c3po.ParseTraceContext(a.Getenv("TRACEPARENT"), a.Getenv("TRACESTATE")); ok {
		return c3po.WithTrace(ctx, from)
	}
	return ctx
}

// Operation is a call of one operation; in makes its input of the arguments.
func Operation[In, Out any](a *Console, as caller, do func(c3po.Service, context.Context, In) (Out, error), in func([]string) (In, error), print func(io.Writer, Out), then ...func(Out) error) Doing {
	return Call(a, as, func(ctx context.Context, svc *client.Client, args []string) (out Out, err error) {
		input, err := in(args)
		if err != nil {
			return out, err
		}
		return do(svc, ctx, input)
	}, print, then...)
}

// InputFromFlags is the input that the flags have filled.
func InputFromFlags[In any](in *In) func([]string) (In, error) {
	return func([]string) (In, error) { return *in, nil }
}

func NoInput([]string) (c3po.None, error) { return c3po.None{}, nil }

func TheRoom(args []string) (in c3po.RoomInput, err error) {
	in.Room, err = RoomName(args[0])
	return in, err
}

// RoomName is a room that an argument names.
func RoomName(text string) (c3po.RoomName, error) {
	name, err := c3po.ParseRoomName(text)
	return name, Misspelled(err)
}

// List shows rows, read page after page up to a limit, and says whether there are more.
func List[Row any](a *Console, as caller, limit *int, what string, read func(ctx context.Context, svc *client.Client, args []string, cursor string, most int) ([]Row, string, error), print func(io.Writer, []Row)) Doing {
	return func(cmd *cobra.Command, args []string) error {
		svc, err := as()
		if err != nil {
			return err
		}
		rows, more, err := Pages(*limit, func(cursor string, most int) ([]Row, string, error) {
			return read(cmd.Context(), svc, args, cursor, most)
		})
		if err != nil {
			return err
		}
		defer a.More(more, what)
		return a.Show(rows, func(w io.Writer) { print(w, rows) })
	}
}

// Family is a command that only has others.
func Family(cmd *cobra.Command, members ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = UnknownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(members...)
	return cmd
}

// ArgumentsOf holds a command to its usage line: NAME must be there, [NAME] may be,
// and NAME... any number of times.
func ArgumentsOf(use string) cobra.PositionalArgs {
	_, use, _ = strings.Cut(use, " ")
	least, most := 0, 0
	for word := range strings.FieldsSeq(use) {
		if !strings.HasPrefix(word, "[") {
			least++
		}
		if most++; strings.Contains(word, "...") {
			return Arguments(least, -1, use)
		}
	}
	return Arguments(least, most, use)
}
