package agentfile_test

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

func schedule(t testing.TB, text string) agentfile.Schedule {
	t.Helper()
	s, err := agentfile.ParseSchedule(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAScheduleComesWhenItSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spec, after, next string }{
		{"* * * * *", "2026-11-15T07:59:30Z", "2026-11-15T08:00:00Z"},
		{"* * * * *", "2026-11-15T08:00:00Z", "2026-11-15T08:01:00Z"},
		{"*/15 * * * *", "2026-11-15T08:01:00Z", "2026-11-15T08:15:00Z"},
		{"5/20 * * * *", "2026-11-15T08:06:00Z", "2026-11-15T08:25:00Z"},
		{"0 9 * * mon-fri", "2026-11-13T09:00:00Z", "2026-11-16T09:00:00Z"}, // Friday, then Monday
		{"0 0 * * 7", "2026-11-16T00:00:00Z", "2026-11-22T00:00:00Z"},       // Sunday by its other number
		{"0 0 13 * 5", "2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z"},      // either day is enough
		{"0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"}, // 2100 has none
		{"30 23 31 12 *", "2026-12-31T23:30:00Z", "2027-12-31T23:30:00Z"},
		{"@hourly", "2026-11-15T08:00:00Z", "2026-11-15T09:00:00Z"},
		{"1,31 0-1 * JAN,mar *", "2026-01-31T01:31:00Z", "2026-03-01T00:01:00Z"},
	} {
		after, err := time.Parse(time.RFC3339, c.after)
		if err != nil {
			t.Fatal(err)
		}
		if got := schedule(t, c.spec).Next(after).Format(time.RFC3339); got != c.next {
			t.Errorf("%s after %s comes at %s, want %s", c.spec, c.after, got, c.next)
		}
	}
}

func TestAChangeOfTheClockNeitherStopsNorRepeatsASchedule(t *testing.T) {
	t.Parallel()
	zurich, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		t.Skip(err)
	}
	// The clock goes from 02:00 to 03:00: the day has no half past two.
	spring := schedule(t, "30 2 * * *").Next(time.Date(2026, 3, 28, 12, 0, 0, 0, zurich))
	if want := time.Date(2026, 3, 30, 2, 30, 0, 0, zurich); !spring.Equal(want) {
		t.Errorf("in spring it comes at %s, want %s", spring, want)
	}
	at := time.Date(2026, 10, 24, 12, 0, 0, 0, zurich)
	for range 48 { // an hourly one over the night in which an hour comes twice
		next := schedule(t, "0 * * * *").Next(at)
		if next.Sub(at) != time.Hour {
			t.Fatalf("after %s it comes at %s", at, next)
		}
		at = next
	}
}

func TestWhatIsNoScheduleIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "* * * *", "60 * * * *", "* * 0 * *", "5-1 * * * *", "*/0 * * * *", "+5 * * * *", "* * * foo *", "0 0 31 2,4 *", "@never", "1- * * * *", ", * * * *"} {
		s, err := agentfile.ParseSchedule(text)
		if err == nil {
			t.Errorf("%q is taken as %+v", text, s)
		} else if c3po.AsError(err).Suggestion == "" {
			t.Errorf("%q is refused without advice: %v", text, err)
		}
	}
}

func FuzzSchedule(f *testing.F) {
	for _, seed := range []string{"* * * * *", "*/15 8-18 * * mon-fri", "0 0 29 2 *", "@daily", "0-59/7 1,2,3 */3 jan-dec 0,7"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := agentfile.ParseSchedule(text)
		if err != nil {
			return
		}
		at := time.Date(2026, 2, 27, 23, 59, 59, 0, time.UTC)
		for range 3 {
			next := s.Next(at)
			if !next.After(at) || next.Second() != 0 {
				t.Fatalf("%q after %s comes at %s", text, at, next)
			}
			at = next
		}
	})
}
