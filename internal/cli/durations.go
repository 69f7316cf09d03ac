package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/c3po-dev/c3po"
)

// seconds is a flag for a number of seconds. A person writes 5m, a script that was
// written for an earlier release 300.
type seconds int

func (s *seconds) String() string { return (time.Duration(*s) * time.Second).String() }
func (*seconds) Type() string     { return "duration" }

func (s *seconds) Set(text string) error {
	if number, err := strconv.Atoi(text); err == nil {
		*s = seconds(number)
		return nil
	}
	length, err := c3po.ParseDuration(text)
	if err != nil || length%time.Second != 0 {
		return errors.New("write whole seconds, as 90 or 90s, or a time such as 5m or 2h")
	}
	*s = seconds(length / time.Second)
	return nil
}

func secondsFlag(flags *pflag.FlagSet, to *int, name string, value int, usage string) {
	*to = value
	flags.Var((*seconds)(to), name, usage)
}

// length is a flag for a time that may be less than a second, or days.
type length time.Duration

func (l *length) String() string { return time.Duration(*l).String() }
func (*length) Type() string     { return "duration" }

func (l *length) Set(text string) error {
	parsed, err := c3po.ParseDuration(text)
	if err != nil {
		return errors.New("write a time such as 90s, 10m, 2h or 7d")
	}
	*l = length(parsed)
	return nil
}

func lengthFlag(flags *pflag.FlagSet, to *time.Duration, name string, value time.Duration, usage string) {
	*to = value
	flags.Var((*length)(to), name, usage)
}

// badFlag says what is wrong with a flag in the words of its command.
func badFlag(cmd *cobra.Command, err error) error {
	hint := cmd.CommandPath() + " --help shows what it takes."
	if value, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		why := "it must be a whole number"
		if !strings.Contains(value.Unwrap().Error(), "strconv.") {
			why = value.Unwrap().Error()
		}
		return &usageError{fmt.Sprintf("--%s %q: %s", value.GetFlag().Name, value.GetValue(), why), hint}
	}
	if missing, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if near := nearestFlag(cmd, missing.GetSpecifiedName()); near != "" {
			hint = "Did you mean --" + near + "? " + hint
		}
	}
	return &usageError{err.Error(), hint}
}

// nearestFlag is the flag of a command that is spelled most like a word.
func nearestFlag(cmd *cobra.Command, word string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return nearest(word, names)
}
