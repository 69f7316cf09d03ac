package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
)

func TestTimesAreSaidInWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for passed, want := range map[time.Duration]string{
		-time.Hour: "just now", 9 * time.Second: "just now", 59 * time.Second: "59 s ago", time.Minute: "1 min ago",
		59 * time.Minute: "59 min ago", 47 * time.Hour: "47 h ago", 48 * time.Hour: "2 days ago",
	} {
		if got := Ago(now, now.Add(-passed)); got != want {
			t.Errorf("%v is %q, want %q", passed, got, want)
		}
	}
	if got := Ago(now, time.Time{}); got != "never" {
		t.Errorf("no time is %q", got)
	}
}

func TestEveryErrorHasItsExitCode(t *testing.T) {
	t.Parallel()
	for want, errs := range map[int][]error{
		0: {nil},
		1: {
			c3po.Errorf(c3po.AgentNotFound, "x"), c3po.Errorf(c3po.RateLimited, "x"), c3po.Errorf(c3po.Internal, "x"),
			errors.New("a bug"), ErrUnbalanced,
		},
		2:   {BadUsage("x", "y")},
		3:   {c3po.Errorf(c3po.CoordDown, "x"), c3po.Errorf(c3po.RedisUnavailable, "x")},
		4:   {ErrTimeout, fmt.Errorf("wrapped: %w", ErrTimeout)},
		5:   {c3po.Errorf(c3po.UnknownOutcome, "x"), c3po.Because(context.Canceled, c3po.UnknownOutcome, "x")},
		130: {context.Canceled},
	} {
		for _, err := range errs {
			var stderr bytes.Buffer
			a := &Console{Process: Process{Stderr: &stderr}}
			if got := a.End(err); got != want {
				t.Errorf("%v ends with %d, want %d", err, got, want)
			}
		}
	}
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
	got, more, err := Pages(5, read)
	if diff := cmp.Diff([]int{0, 1, 2, 3, 4}, got); diff != "" || !more || err != nil {
		t.Errorf("five: %v, %v, %s", more, err, diff)
	}
	got, more, err = Pages(100, read)
	if len(got) != 9 || more || err != nil {
		t.Errorf("all: %v, %v, %v", got, more, err)
	}
	failed := errors.New("no")
	if _, _, err := Pages(5, func(string, int) ([]int, string, error) { return nil, "", failed }); !errors.Is(err, failed) {
		t.Errorf("a page that fails: %v", err)
	}
}

func TestTextThatIsNotUTF8IsRefused(t *testing.T) {
	t.Parallel()
	a := &Console{Process: Process{Stdin: strings.NewReader("caf\xe9")}}
	if _, err := a.Body(nil); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("body = %v, want %s", err, c3po.InvalidRequest)
	}
	a = &Console{Process: Process{Stdin: strings.NewReader(strings.Repeat("x", MaxInputBytes+1))}}
	if _, err := a.Body([]string{"-"}); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("body = %v, want %s", err, c3po.InvalidRequest)
	}
	a = &Console{Process: Process{Stdin: strings.NewReader("two\n\n")}}
	if text, err := a.Body(nil); text != "two\n" || err != nil {
		t.Errorf("body = %q, %v", text, err)
	}
}
