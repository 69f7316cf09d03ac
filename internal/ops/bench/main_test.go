package bench

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
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

// size is the short form of a measurement's size, or with exact bars the whole.
func size(short, whole int) int {
	if faultrig.Exact() {
		return whole
	}
	return short
}

// inMilliseconds is a percentile as a time.
func inMilliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
