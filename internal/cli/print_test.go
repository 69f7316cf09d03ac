package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
)

func TestTimesAreSaidInWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for passed, want := range map[time.Duration]string{
		-time.Hour: "just now", 9 * time.Second: "just now", 59 * time.Second: "59 s ago", time.Minute: "1 min ago",
		59 * time.Minute: "59 min ago", 47 * time.Hour: "47 h ago", 48 * time.Hour: "2 days ago",
	} {
		if got := ago(now, now.Add(-passed)); got != want {
			t.Errorf("%v is %q, want %q", passed, got, want)
		}
	}
	if got := ago(now, time.Time{}); got != "never" {
		t.Errorf("no time is %q", got)
	}
}

func TestALifeIsToldInItsOrder(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Date(2026, 1, 2, 3, 4, second, 0, time.Local) }
	trace := c3po.Trace{
		ID: "a::b::00000001", Kind: c3po.KindMessage, Priority: c3po.Urgent, Thread: "t", Bytes: 9, State: c3po.StateAcked, ExpectsReply: true,
		Accepted: c3po.Fact{At: at(1), Durability: c3po.InMemory},
		Served:   []c3po.Fact{{At: at(3), Session: "s\x1b", Route: "mcp", Times: 2}},
		Notified: []c3po.Fact{{At: at(2), Route: "rest"}},
		Received: &c3po.Fact{At: at(4)},
		Answered: []c3po.Answered{{ID: "b::a::00000002", At: at(5)}},
		Ended:    &c3po.Fact{At: at(5)},
	}
	var out bytes.Buffer
	printTrace(&out, trace)
	want := `a::b::00000001, message, urgent, 9 bytes in Redis, expects an answer
thread t
2026-01-02 03:04:01.000  accepted from a, in memory only: a power cut would lose it
2026-01-02 03:04:02.000  b was told that there is mail (over rest)
2026-01-02 03:04:03.000  served to b (session s\x1b, over mcp), 2 times
2026-01-02 03:04:04.000  received by b
2026-01-02 03:04:05.000  answered with b::a::00000002
2026-01-02 03:04:05.000  acked
now acked
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// Claims: A10
func TestEveryErrorHasItsExitCode(t *testing.T) {
	t.Parallel()
	for want, errs := range map[int][]error{
		0: {nil},
		1: {
			c3po.Errorf(c3po.AgentNotFound, "x"), c3po.Errorf(c3po.RateLimited, "x"), c3po.Errorf(c3po.Internal, "x"),
			errors.New("a fault of ours"), errUnbalanced,
		},
		2:   {&usageError{"x", "y"}},
		3:   {c3po.Errorf(c3po.CoordDown, "x"), c3po.Errorf(c3po.RedisUnavailable, "x")},
		4:   {errTimeout, fmt.Errorf("wrapped: %w", errTimeout)},
		5:   {c3po.Errorf(c3po.UnknownOutcome, "x"), c3po.Because(context.Canceled, c3po.UnknownOutcome, "x")},
		130: {context.Canceled},
	} {
		for _, err := range errs {
			var stderr bytes.Buffer
			a := &app{Process: Process{Stderr: &stderr}}
			if got := a.end(err); got != want {
				t.Errorf("%v ends with %d, want %d", err, got, want)
			}
		}
	}
}

func TestEveryCommandHasAnExampleThatIsUnderstood(t *testing.T) {
	t.Parallel()
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.IsAdditionalHelpTopicCommand() {
			return
		}
		if cmd.Short == "" || cmd.Example == "" {
			t.Errorf("%s has no help", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			_, command, found := strings.Cut(line, "c3po ")
			if !found {
				t.Errorf("%s has the example %q", cmd.CommandPath(), line)
				continue
			}
			// A tree of its own: flags that were set once stay set.
			example, rest, err := (&app{}).root().Find(words(command))
			if err == nil {
				err = example.ParseFlags(rest)
			}
			if err == nil {
				err = example.ValidateArgs(example.Flags().Args())
			}
			if err != nil {
				t.Errorf("the example %q of %s: %v", line, cmd.CommandPath(), err)
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit((&app{}).root())
}

// words splits a line as a shell does, as far as our examples need it.
func words(line string) []string {
	var all []string
	for i, part := range strings.Split(strings.TrimSpace(line), `"`) {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}

func TestPagesAreReadUntilThereAreEnough(t *testing.T) {
	t.Parallel()
	read := func(cursor string, limit int) ([]int, string, error) {
		first := len(cursor)
		rows := []int{first, first + 1, first + 2}[:min(3, limit)]
		if first+len(rows) >= 8 {
			return rows, "", nil
		}
		return rows, strings.Repeat("x", first+len(rows)), nil
	}
	got, more, err := pages(5, read)
	if diff := cmp.Diff([]int{0, 1, 2, 3, 4}, got); diff != "" || !more || err != nil {
		t.Errorf("five: %v, %v, %s", more, err, diff)
	}
	got, more, err = pages(100, read)
	if len(got) != 9 || more || err != nil {
		t.Errorf("all: %v, %v, %v", got, more, err)
	}
	failed := errors.New("no")
	if _, _, err := pages(5, func(string, int) ([]int, string, error) { return nil, "", failed }); !errors.Is(err, failed) {
		t.Errorf("a page that fails: %v", err)
	}
}

func TestTextThatIsNotUTF8IsRefused(t *testing.T) {
	t.Parallel()
	a := &app{Process: Process{Stdin: strings.NewReader("caf\xe9")}}
	if _, err := a.body(nil); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("body = %v, want %s", err, c3po.InvalidRequest)
	}
	a = &app{Process: Process{Stdin: strings.NewReader(strings.Repeat("x", maxInputBytes+1))}}
	if _, err := a.body([]string{"-"}); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("body = %v, want %s", err, c3po.InvalidRequest)
	}
	a = &app{Process: Process{Stdin: strings.NewReader("two\n\n")}}
	if text, err := a.body(nil); text != "two\n" || err != nil {
		t.Errorf("body = %q, %v", text, err)
	}
}
