package cli

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

// errTimeout ends a wait that brought nothing and has said so already.
var errTimeout = errors.New("the wait is over")

// errUnbalanced ends an fsck that found something and has shown it already.
var errUnbalanced = errors.New("the books do not balance")

// end says what went wrong, if anything did, and gives the exit code for it.
func (a *app) end(err error) int {
	if err == nil {
		return exitOK
	}
	if usage, ok := errors.AsType[*usageError](err); ok {
		if a.json || slices.Contains(a.Args, "--json") { // a flag before it may have ended the reading of flags
			_ = writeJSON(a.Stderr, c3po.Errorf(c3po.InvalidRequest, "%s", usage.sentence).Suggest("%s", usage.hint))
		} else {
			a.complain(usage.sentence, usage.hint)
		}
		return exitUsage
	}
	if ended, ok := errors.AsType[*endedError](err); ok {
		if ended.cause != nil {
			e := c3po.AsError(ended.cause)
			a.complain(e.Message, e.Suggestion)
		}
		return ended.code
	}
	switch {
	case errors.Is(err, errTimeout):
		return exitTimeout
	case errors.Is(err, errUnbalanced):
		return exitRefused
	case errors.Is(err, errUnwell):
		return exitDown
	case errors.Is(err, context.Canceled) && !errors.Is(err, c3po.UnknownOutcome):
		return exitInterrupted
	}
	e := a.forPerson(c3po.AsError(err))
	if a.json {
		// The form every other surface has; whoever asked for JSON reads codes.
		_ = writeJSON(a.Stderr, e)
	} else {
		a.complain(e.Message, e.Suggestion)
	}
	if e.Code == c3po.Internal && e.Unwrap() != nil {
		fmt.Fprintf(a.Stderr, "cause: %s\n", inline(e.Unwrap().Error()))
	}
	return exitCode(e.Code)
}

// complain writes to stderr in the one form all errors have.
func (a *app) complain(sentence, hint string) {
	in := inkFor(a.Stderr, a.Getenv)
	fmt.Fprintf(a.Stderr, "%s %s\n", in.bad("c3po:"), inline(sentence))
	if hint != "" {
		fmt.Fprintf(a.Stderr, "%s %s\n", in.warn("hint:"), inline(forPeople(hint)))
	}
}

// errUnwell ends a health that was bad and has said so already.
var errUnwell = errors.New("the coordinator is not well")

// An endedError is the exit code of a program that was run.
type endedError struct {
	code  int
	cause error // why there was none, if so
}

func (e *endedError) Error() string { return fmt.Sprintf("the program ended with %d", e.code) }

func (e *endedError) Unwrap() error { return e.cause }
