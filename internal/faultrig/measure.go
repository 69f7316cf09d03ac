package faultrig

import (
	"os"
	"testing"
	"time"
)

// Torture tells whether tests run in their long form: C3PO_TORTURE=1.
func Torture() bool { return os.Getenv("C3PO_TORTURE") == "1" }

// Night tells whether there is no limit on time, as in `make torture-long`:
// C3PO_NIGHT=1.
func Night() bool { return os.Getenv("C3PO_NIGHT") == "1" }

// Size is the short form of a test's size, or in the long form the long one.
func Size(short, long int) int {
	if Torture() {
		return long
	}
	return short
}

// Hold prints a measured figure beside its limit. Machines differ and are busy,
// so it fails only far beyond, unless C3PO_EXACT=1 says that this one is not.
func Hold[N int | int64 | float64 | time.Duration](t *testing.T, what string, got, limit N) {
	t.Helper()
	t.Logf("%s: %v, limit %v", what, got, limit)
	most := limit * 5
	if os.Getenv("C3PO_EXACT") == "1" {
		most = limit
	}
	if got > most {
		t.Errorf("%s: %v, more than %v", what, got, most)
	}
}

// Within polls until something holds, and reports whether it did in time.
func Within(most time.Duration, holds func() bool) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(most); !holds(); <-tick.C {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
