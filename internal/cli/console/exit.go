package console

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
)

// The exit codes, which scripts rely on.
const (
	ExitOK          = 0
	ExitRefused     = 1
	exitUsage       = 2
	ExitDown        = 3
	ExitTimeout     = 4
	exitUnknown     = 5
	ExitInterrupted = 130
)

// An exitMeaning is a row of the table of exit codes.
type exitMeaning struct {
	Code    int
	Meaning string
	Again   string // whether to do the same again
}

// ExitMeanings is the table, the one place that says what a code means.
func ExitMeanings() []exitMeaning {
	return []exitMeaning{
		{ExitOK, "done", "-"},
		{ExitRefused, "refused: the error on stderr says why; of fsck, something is missing; of verify, a way is broken", "no, not before something has changed"},
		{exitUsage, "not understood: the command, an argument, a flag, a variable or c3po.yaml", "no"},
		{ExitDown, "the coordinator, or its Redis, cannot be reached; this call did nothing", "later"},
		{ExitTimeout, "nothing came in time", "yes, a wait that is over loses nothing"},
		{exitUnknown, "the answer was lost, so it may have been done", "yes, with the same --key: nothing is done twice"},
		{ExitInterrupted, "interrupted", "yes"},
	}
}

// ExitTopic is `c3po help exit-codes`.
func ExitTopic() *cobra.Command {
	var long strings.Builder
	fmt.Fprintln(&long, "What the exit code of a command says, and whether to do the same again:")
	fmt.Fprintln(&long)
	Table(&long, func(row func(...string)) {
		row("CODE", "MEANING", "AGAIN?")
		for _, m := range ExitMeanings() {
			code, meaning, again := fmt.Sprint(m.Code), Wrap(m.Meaning, 44), Wrap(m.Again, 28)
			for i := range max(len(meaning), len(again)) {
				row(code, lineAt(meaning, i), lineAt(again, i))
				code = ""
			}
		}
	})
	fmt.Fprint(&long, `
Errors are on stderr: a line that begins with "c3po:", and one with "hint:" that
says what to do next. With --json the error is the JSON that every other surface
has, with code, error, suggestion and retry. That nothing came in time is a
result, so with --json it is on stdout. doctor has different codes: 0, 1 and 2
for green, yellow and red.`)
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes say", Long: long.String()}
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

func ExitCode(code c3po.Code) int {
	switch code {
	case c3po.CoordDown, c3po.RedisUnavailable:
		return ExitDown
	case c3po.Timeout:
		return ExitTimeout
	case c3po.UnknownOutcome:
		return exitUnknown
	default:
		return ExitRefused
	}
}
