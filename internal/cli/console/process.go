package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/c3po-dev/c3po"
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
	Top     int              // the process at which looking for agents above this one ends: that of a test; the first if 0
	Now     func() time.Time // a clock for tests; time.Now, and that of Redis, if nil
}

// A usageError is a command that was not understood.
type usageError struct {
	sentence string
	hint     string
}

func (e *usageError) Error() string { return e.sentence }

// BadUsage is a command that was not understood, with what to type instead.
func BadUsage(sentence, hint string) error { return &usageError{sentence: sentence, hint: hint} }

// ErrTimeout ends a wait that brought nothing and has said so already.
var ErrTimeout = errors.New("the wait is over")

// ErrUnbalanced ends an fsck that found something and has shown it already.
var ErrUnbalanced = errors.New("the books do not balance")

// End says what went wrong, if anything did, and gives the exit code for it.
func (a *Console) End(err error) int {
	if err == nil {
		return ExitOK
	}
	err = asUsage(err)
	if usage, ok := errors.AsType[*usageError](err); ok {
		if a.JSON || slices.Contains(a.Args, "--json") { // a flag before it may have ended the reading of flags
			_ = writeJSON(a.Stderr, c3po.Errorf(c3po.InvalidRequest, "%s", usage.sentence).Suggest("%s", usage.hint))
		} else {
			a.Complain(usage.sentence, usage.hint)
		}
		return exitUsage
	}
	if ended, ok := errors.AsType[*EndedError](err); ok {
		if ended.Cause != nil {
			e := c3po.AsError(ended.Cause)
			a.Complain(e.Message, e.Suggestion)
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
	e := a.ForPerson(c3po.AsError(err))
	if a.JSON {
		// The form every other surface has; whoever asked for JSON reads codes.
		_ = writeJSON(a.Stderr, e)
	} else {
		a.Complain(e.Message, e.Suggestion)
	}
	if e.Code == c3po.Internal && e.Unwrap() != nil {
		fmt.Fprintf(a.Stderr, "cause: %s\n", Inline(e.Unwrap().Error()))
	}
	return ExitCode(e.Code)
}

// Complain writes to stderr in the one form all errors have.
func (a *Console) Complain(sentence, hint string) {
	in := InkFor(a.Stderr, a.Getenv)
	fmt.Fprintf(a.Stderr, "%s %s\n", in.Bad("c3po:"), Inline(sentence))
	if hint != "" {
		fmt.Fprintf(a.Stderr, "%s %s\n", in.Warn("hint:"), Inline(ForPeople(hint)))
	}
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
