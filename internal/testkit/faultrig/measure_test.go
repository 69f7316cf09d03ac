package faultrig

import (
	"math"
	"testing"
	"time"
)

// A busy machine makes things slow. It does not make them more, or larger.
func TestOnlyAQuietMachineIsHeldToTimes(t *testing.T) {
	for name, figure := range map[string]struct {
		of   any
		want float64
	}{
		"a time":        {time.Second, math.Inf(1)},
		"a ratio":       {1.3, math.Inf(1)},
		"a count":       {7, 1.1},
		"a size in RAM": {int64(28 << 10), 1.1},
	} {
		for exact, want := range map[string]float64{"": figure.want, "1": 1} {
			t.Setenv("C3PO_EXACT", exact)
			if got := slack(figure.of); got != want {
				t.Errorf("%s may be %v times its limit, with C3PO_EXACT=%s, want %v", name, got, exact, want)
			}
		}
	}
}
