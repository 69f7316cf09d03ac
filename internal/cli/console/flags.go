package console

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/settings"
)

// seconds is a flag for a number of seconds. A person writes 5m, a script that was
// written for an earlier release 300.
type seconds int

func (s *seconds) String() string { return settings.DurationText(time.Duration(*s) * time.Second) }
func (*seconds) Type() string     { return "duration" }

func (s *seconds) Set(text string) error {
	if number, err := strconv.Atoi(text); err == nil {
		*s = seconds(number)
		return nil
	}
	length, err := c3po.ParseDuration(text)
	if err != nil || length%time.Second != 0 {
		return errors.New("write whole seconds, as 90 or 90s, or a time such as 5m or 1h")
	}
	*s = seconds(length / time.Second)
	return nil
}

func SecondsFlag(flags *pflag.FlagSet, to *int, name string, value int, usage string) {
	*to = value
	flags.Var((*seconds)(to), name, usage)
}

// length is a flag for a time that may be less than a second, or days.
type length time.Duration

func (l *length) String() string { return settings.DurationText(time.Duration(*l)) }
func (*length) Type() string     { return "duration" }

func (l *length) Set(text string) error {
	parsed, err := c3po.ParseDuration(text)
	if err != nil {
		return errors.New("write a time such as 90s, 10m, 2h or 7d")
	}
	*l = length(parsed)
	return nil
}

func LengthFlag(flags *pflag.FlagSet, to *time.Duration, name string, value time.Duration, usage string) {
	*to = value
	flags.Var((*length)(to), name, usage)
}

// A checked text is a flag that takes only some texts, which are refused before a
// coordinator is asked.
type checked struct {
	to    *string
	check func(string) error
}

func (c checked) String() string {
	if c.to == nil {
		return ""
	}
	return *c.to
}
func (checked) Type() string { return "string" }

func (c checked) Set(text string) error {
	if err := c.check(text); err != nil {
		return err
	}
	*c.to = text
	return nil
}

func CheckedFlag(flags *pflag.FlagSet, to *string, name, value, usage string, check func(string) error) {
	*to = value
	flags.Var(checked{to, check}, name, usage)
}

// OneOf checks that a text is one of these.
func OneOf(words ...string) func(string) error {
	return func(text string) error {
		if slices.Contains(words, text) {
			return nil
		}
		last := len(words) - 1
		return fmt.Errorf("it must be %s or %s", strings.Join(words[:last], ", "), words[last])
	}
}

// ParseDuration checks that a text is a length of time, with days.
func ParseDuration(text string) error {
	var parsed length
	if err := parsed.Set(text); err != nil || parsed >= 0 {
		return err
	}
	return errors.New("it cannot be negative")
}

// ParseTime checks that a text is a time, or how long ago it was.
func ParseTime(text string) error {
	if _, err := c3po.ParseSince(text, time.Now()); err != nil {
		return errors.New("write 10m, 2h or 7d, or a time such as 2026-01-02T15:04:05Z")
	}
	return nil
}

// BadFlag says what is wrong with a flag in the words of its command.
func BadFlag(cmd *cobra.Command, err error) error {
	hint := cmd.CommandPath() + " --help shows what it takes."
	if value, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		why := "it must be a whole number"
		if !strings.Contains(value.Unwrap().Error(), "strconv.") {
			why = value.Unwrap().Error()
		}
		return BadUsage(fmt.Sprintf("--%s %q: %s", value.GetFlag().Name, value.GetValue(), why), hint)
	}
	if missing, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if words := cmd.Flags().Args(); !cmd.HasParent() && len(words) > 0 {
			return UnknownCommand(cmd, words) // whose flag it is nobody can say
		}
		if near := nearestFlag(cmd, missing.GetSpecifiedName()); near != "" {
			hint = "Did you mean --" + near + "? " + hint
		}
	}
	return BadUsage(err.Error(), hint)
}

// together is how cobra says that flags were given which exclude each other.
var together = regexp.MustCompile(`^if any flags in the group .*; \[(.*)\] were all set$`)

// asUsage makes a mistake of the command line of it if flags exclude each other, for
// which cobra has no type.
func asUsage(err error) error {
	given := together.FindStringSubmatch(err.Error())
	if given == nil {
		return err
	}
	return &usageError{"--" + strings.Join(strings.Fields(given[1]), " and --") + " cannot be given together", "Leave one of them out."}
}

// nearestFlag is the flag of a command that is spelled most like a word.
func nearestFlag(cmd *cobra.Command, word string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return Nearest(word, names)
}

// LimitFlag bounds how many rows a list shows.
func LimitFlag(cmd *cobra.Command, limit *int, most int) {
	cmd.Flags().IntVar(limit, "limit", most, "how many to show at the most")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if *limit < 1 || *limit > math.MaxInt32 {
			return BadUsage(fmt.Sprintf("--limit %d shows nothing", *limit), "Give a number from 1.")
		}
		return nil
	}
}

// WaitFlag is the timeout of waits.
func WaitFlag(flags *pflag.FlagSet, seconds *int) {
	SecondsFlag(flags, seconds, "timeout", int(c3po.DefaultLimits().WaitDefault/time.Second), "how long to wait")
	Setting(flags, "timeout", "C3PO_TIMEOUT", "timeout")
}

// CheckWait refuses a timeout that is out of range, and says where it came from.
func (a *Console) CheckWait(seconds int) error {
	most := int(c3po.DefaultLimits().MaxWait / time.Second)
	if seconds >= 1 && seconds <= most {
		return nil
	}
	return BadUsage(fmt.Sprintf("%s is %d; it must be between 1 and %d seconds, which is an hour", cmp.Or(a.Origins["timeout"].Where, "--timeout"), seconds, most),
		"Leave it out to wait for a minute. c3po inbox looks without waiting.")
}
