package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
)

// A Process is what the program was started with.
type Process struct {
	Name    string   // what the program was called by; its own name if empty
	Args    []string // without the name of the program
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Getenv  func(string) string
	Version string // "dev" if empty
	Commit  string
	Top     int              // the process at which looking for agents above this one ends: a test's own; the first if 0
	Now     func() time.Time // a clock for tests; time.Now, and that of Redis, if nil
	// TabTimeout is how long the tab key waits for the coordinator; 300 ms if 0.
	TabTimeout time.Duration
}

// A usageError is a command that was not understood.
type usageError struct {
	sentence string
	hint     string
}

func (e *usageError) Error() string { return e.sentence }

// BadUsage is a command that was not understood, with what to type instead.
func BadUsage(sentence, hint string) error { return &usageError{sentence: sentence, hint: hint} }

// Misspelled is a name or a flag's value that nothing can have, as its parser says.
func Misspelled(err error) error {
	if err == nil {
		return nil
	}
	e := c3po.AsError(err)
	return BadUsage(e.Message, e.Suggestion)
}

// NameInArgument holds one argument, if it is given, to what a name can be, before a
// coordinator is asked.
func NameInArgument(count cobra.PositionalArgs, at int, check func(string) error) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := count(cmd, args); err != nil || len(args) <= at {
			return err
		}
		return Misspelled(check(args[at]))
	}
}

// AgentName checks that an agent can be called so. A brief id is understood too.
func AgentName(text string) error {
	if _, brief := c3po.BriefName(text); brief {
		return nil
	}
	_, err := c3po.ParseAgentID(text)
	return err
}

// TargetName checks that a message can be sent there: to an agent, or to role:NAME.
func TargetName(text string) error {
	if _, brief := c3po.BriefName(text); brief {
		return nil
	}
	_, err := c3po.ParseTarget(text)
	return err
}

// ErrTimeout ends a wait that brought nothing and has said so already.
var ErrTimeout = errors.New("the wait is over")

// ErrUnbalanced ends an fsck that found something and has shown it already.
var ErrUnbalanced = errors.New("the books do not balance")

// End says what went wrong, if anything did, and gives the exit code for it.
func (a *Console) End(err error) int {
	if err == nil {
		err = a.unwritten()
		if err != nil && a.done != "" {
			err = c3po.Because(err, c3po.UnknownOutcome, "it was done, but not all of the answer could be written: "+c3po.AsError(Explain(err)).Message).
				Suggest("Run it again only with --key %s, which does nothing twice.", a.done)
		}
	}
	if err == nil {
		if a.noteFolder != nil && !a.onlyLooked {
			a.noteFolder()
		}
		return ExitOK
	}
	err = asUsage(err)
	if usage, ok := errors.AsType[*usageError](err); ok {
		// A flag before it may have ended the reading of flags.
		a.JSON = a.JSON || slices.Contains(a.Args, "--json")
		a.report(c3po.Errorf(c3po.InvalidRequest, "%s", usage.sentence).Suggest("%s", usage.hint))
		return exitUsage
	}
	if ended, ok := errors.AsType[*EndedError](err); ok {
		if ended.Cause != nil {
			a.report(Explain(ended.Cause))
		}
		return ended.Code
	}
	switch {
	case errors.Is(err, ErrTimeout):
		return ExitTimeout
	case errors.Is(err, ErrUnbalanced):
		return ExitRefused
	case errors.Is(err, ErrUnwell):
		return ExitDown
	case errors.Is(err, context.Canceled) && !errors.Is(err, c3po.UnknownOutcome):
		return ExitInterrupted
	}
	e := a.ForPerson(Explain(err))
	a.report(e)
	return ExitCode(e.Code)
}

// report writes an error to stderr: in the form every other surface has, if that was
// asked for. What is our fault is shown with its cause.
func (a *Console) report(e *c3po.Error) {
	cause := ""
	if e.Code == c3po.Internal && e.Unwrap() != nil && !strings.Contains(e.Message, e.Unwrap().Error()) {
		cause = e.Unwrap().Error()
	}
	if !a.JSON {
		a.Complain(e.Message, e.Suggestion)
		if cause != "" {
			fmt.Fprintf(a.Stderr, "cause: %s\n", Inline(cause))
		}
		return
	}
	_ = writeJSON(a.Stderr, struct {
		Code       c3po.Code  `json:"code"`
		Error      string     `json:"error"`
		Suggestion string     `json:"suggestion"`
		Cause      string     `json:"cause,omitempty"`
		Retry      c3po.Retry `json:"retry"`
	}{e.Code, e.Message, e.Suggestion, cause, e.Code.Retry()})
}

// Complain writes to stderr in the one form all errors have.
func (a *Console) Complain(sentence, hint string) {
	in := InkFor(a.Stderr, a.Getenv)
	fmt.Fprintf(a.Stderr, "%s %s\n", in.Bad("c3po:"), Hang(a.Stderr, len("c3po: "), Inline(sentence)))
	a.Hint(hint)
}

// Done keeps under which key something was done: if the answer cannot be written, the same
// command without it would do it twice.
func (a *Console) Done(key string) { a.done, a.onlyLooked = key, false }

// Hint says on stderr what to do next, if anything helps.
func (a *Console) Hint(hint string) {
	if hint != "" {
		fmt.Fprintf(a.Stderr, "%s %s\n", InkFor(a.Stderr, a.Getenv).Warn("hint:"), Hang(a.Stderr, len("hint: "), Inline(ForPeople(hint))))
	}
}

// WithKey is an error after which nobody knows whether it was done, with the key by which
// doing it again is safe.
func WithKey(err error, key string) error {
	if !errors.Is(err, c3po.UnknownOutcome) {
		return err
	}
	e := c3po.AsError(err)
	return c3po.Because(err, e.Code, e.Message).Suggest("Run the same command again with --key %s: nothing will be done twice.", key)
}

// Warn tells of what the command does all the same.
func (a *Console) Warn(sentence, hint string) {
	if !a.JSON {
		a.Complain(sentence, hint)
		return
	}
	_ = writeJSON(a.Stderr, map[string]string{"warning": sentence, "suggestion": hint})
}

// ErrUnwell ends a health that was bad and has said so already.
var ErrUnwell = errors.New("the coordinator is not well")

// An EndedError is the exit code of a program that was run.
type EndedError struct {
	Code  int
	Cause error // why there was none, if so
}

func (e *EndedError) Error() string { return fmt.Sprintf("the program ended with %d", e.Code) }

func (e *EndedError) Unwrap() error { return e.Cause }
