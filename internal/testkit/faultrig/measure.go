package faultrig

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"
)

// Torture tells whether tests run in their long form: C3PO_TORTURE=1.
func Torture() bool { return os.Getenv("C3PO_TORTURE") == "1" }

// Night tells whether there is no limit on time, as in `make -C test torture-long`:
// C3PO_NIGHT=1.
func Night() bool { return os.Getenv("C3PO_NIGHT") == "1" }

// Size is the short form of a test's size, or in the long form the long one.
func Size(short, long int) int {
	if Torture() {
		return long
	}
	return short
}

// Exact tells whether this machine does nothing else, so that limits hold as they
// are written: C3PO_EXACT=1.
func Exact() bool { return os.Getenv("C3PO_EXACT") == "1" }

// NeedQuiet skips a test that only measures time, unless this machine is given to it:
// by C3PO_EXACT=1, which make bench sets, or by C3PO_TORTURE=1.
func NeedQuiet(t *testing.T) {
	t.Helper()
	if !Exact() && !Torture() {
		t.Skip("measures time: make bench")
	}
}

// Hold prints a measured figure with its limit, and fails beyond it. Unless this machine
// does nothing else, a time or a ratio, which compares times, is only printed, and a
// count of things or bytes may be a tenth larger.
func Hold[N int | int64 | float64 | time.Duration](t *testing.T, what string, got, limit N) {
	t.Helper()
	t.Logf("%s: %v, limit %v", what, got, limit)
	if float64(got) > float64(limit)*slack(limit) {
		t.Errorf("%s: %v, limit %v", what, got, limit)
	}
}

// Reach is Hold for a ratio that should be large.
func Reach(t *testing.T, what string, got, least float64) {
	t.Helper()
	t.Logf("%s: %.2f, at least %.2f", what, got, least)
	if Exact() && got < least {
		t.Errorf("%s: %.2f, less than %.2f", what, got, least)
	}
}

// slack is how far a figure of this type may be beyond its limit.
func slack(figure any) float64 {
	if Exact() {
		return 1
	}
	switch figure.(type) {
	case time.Duration, float64:
		return math.Inf(1)
	default:
		return 1.1
	}
}

// P99 is the 99th percentile.
func P99(took []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(took))[len(took)*99/100]
}

// Pass lets time go by that belongs to what is tried: the pace of a load, the
// moment of a fault, how long it lasts, the pause before a repeat. It says whether
// ctx lived so long. What a test waits for, it waits for with Within.
func Pass(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Resident is how much memory a process really has.
func Resident(t testing.TB, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("this system does not tell how much memory a process has")
	}
	var total, pages int64
	if _, scan := fmt.Sscan(string(text), &total, &pages); err != nil || scan != nil {
		t.Fatal(err, scan)
	}
	return pages * int64(os.Getpagesize())
}

// LowestResident looks at processes for a while: what a burst has left is collected
// in time.
func LowestResident(t testing.TB, most time.Duration, pids ...int) []int64 {
	t.Helper()
	lowest := make([]int64, len(pids))
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(most); time.Now().Before(end); <-tick.C {
		for i, pid := range pids {
			if now := Resident(t, pid); lowest[i] == 0 || now < lowest[i] {
				lowest[i] = now
			}
		}
	}
	return lowest
}

// Within polls until something holds, and reports whether it did in time. A look that
// starts a program is taken more rarely: all together take a tenth of the time, so that
// what is waited for has the rest.
func Within(most time.Duration, holds func() bool) bool {
	const often, seldom = 10 * time.Millisecond, 200 * time.Millisecond
	end := time.Now().Add(most)
	for {
		began := time.Now()
		if holds() {
			return true
		}
		now := time.Now()
		if now.After(end) {
			return false
		}
		Pass(context.Background(), min(max(often, 9*now.Sub(began)), seldom))
	}
}
