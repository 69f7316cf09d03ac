package bench

import (
	"fmt"
	"os"
	"testing"

	"github.com/c3po-dev/c3po/internal/faultrig"
)

func TestMain(m *testing.M) {
	if answer := os.Getenv(constantAnswer); answer != "" {
		if err := serveConstant(answer); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	faultrig.Main(m)
}

// exact says that this machine does nothing else, so that bars hold as written.
func exact() bool { return os.Getenv("C3PO_EXACT") == "1" }

// size is the short form of a measurement's size, or with exact bars the whole.
func size(short, whole int) int {
	if exact() {
		return whole
	}
	return short
}

// tries is how often a figure is measured that has missed its bar by far. What
// else a machine does makes it slower, never faster, so the first that holds
// counts; with exact bars there is one.
func tries() int { return size(5, 1) }

// atMost prints a figure beside its bar. Machines are busy, so it fails only far
// beyond, unless bars are exact.
func atMost(t *testing.T, what string, got, bar float64) {
	t.Helper()
	t.Logf("%s: %.2f, at most %.2f", what, got, bar)
	if most := bar * slack(); got > most {
		t.Errorf("%s: %.2f, more than %.2f", what, got, most)
	}
}

func atLeast(t *testing.T, what string, got, bar float64) {
	t.Helper()
	t.Logf("%s: %.2f, at least %.2f", what, got, bar)
	if least := bar / slack(); got < least {
		t.Errorf("%s: %.2f, less than %.2f", what, got, least)
	}
}

func slack() float64 {
	if exact() {
		return 1
	}
	return 5
}
