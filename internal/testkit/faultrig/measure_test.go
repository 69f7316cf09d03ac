package faultrig

import (
	"math"
	"testing"
	"time"
)

// A busy machine makes things slow. It does not make them more, or larger.
func TestTimesFailOnAQuietMachineOnly(t *testing.T) {
	for _, exact := range []string{"", "1"} {
		t.Setenv("C3PO_EXACT", exact)
		for name, figure := range map[string]struct {
			of   any
			want float64
		}{
			"a time":        {time.Second, math.Inf(1)},
			"a ratio":       {1.3, 2},
			"a count":       {7, 1.1},
			"a size in RAM": {int64(28 << 10), 1.1},
		} {
			want := figure.want
			if exact == "1" {
				want = 1
			}
			if got := slack(figure.of); got != want {
				t.Errorf("%s may be %v times its limit, with C3PO_EXACT=%s, want %v", name, got, exact, want)
			}
		}
	}
}
