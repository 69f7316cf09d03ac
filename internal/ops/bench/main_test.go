package bench

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

func TestMain(m *testing.M) { faultrig.Main(m) }

// size is the short form of a measurement's size, or with exact bars the whole.
func size(short, whole int) int {
	if faultrig.Exact() {
		return whole
	}
	return short
}

// inMilliseconds is a percentile as a time.
func inMilliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
