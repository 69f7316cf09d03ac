package server

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// released is what this process has given back.
func released() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func TestWhatIsSpareIsGivenBackWhileLittleHappens(t *testing.T) {
	const pieces, size = 64, 1 << 20
	if !faultrig.Within(time.Minute, func() bool {
		keep := make([][]byte, pieces)
		for i := range keep {
			keep[i] = make([]byte, size)
		}
		runtime.KeepAlive(keep)
		keep = nil
		runtime.GC()
		before, last := released(), takeStock()
		tidy(last)
		// Other tests may take memory between the two; then it is tried again.
		return released() > before+pieces*size/2
	}) {
		t.Error("nothing was given back")
	}
}

func TestHeadroomLetsTheHeapGrowAndTakesNoMemory(t *testing.T) {
	resident := func() (pages int) {
		data, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Skip("this system does not say what is resident: ", err)
		}
		if _, err := fmt.Sscan(string(data), new(int), &pages); err != nil {
			t.Fatal(err)
		}
		return pages
	}
	goal := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	if !faultrig.Within(time.Minute, func() bool {
		before := resident()
		kept := Headroom()
		taken := (resident() - before) * os.Getpagesize()
		runtime.GC()
		metrics.Read(goal)
		runtime.KeepAlive(kept)
		// Other tests may take memory between the two; then it is tried again.
		return taken < headroom/4 && goal[0].Value.Uint64() >= 2*headroom
	}) {
		t.Errorf("it is resident, or the next collection is at %d", goal[0].Value.Uint64())
	}
}

func TestMemoryIsGivenBackIfLittleHappensAndItIsWorthIt(t *testing.T) {
	const mb = 1 << 20
	for name, c := range map[string]struct {
		now  stock
		want bool
	}{
		"enough":                 {stock{taken: 7 * mb, live: 40 * mb, spare: 20 * mb}, true},
		"little":                 {stock{taken: 7 * mb, live: 40 * mb, spare: 15 * mb}, false},
		"little of a large heap": {stock{taken: 7 * mb, live: 400 * mb, spare: 90 * mb}, false},
		"enough of a large heap": {stock{taken: 7 * mb, live: 400 * mb, spare: 110 * mb}, true},
		"busy":                   {stock{taken: 12 * mb, live: 40 * mb, spare: 200 * mb}, false},
	} {
		if got := c.now.canBeTidied(stock{taken: 7 * mb}); got != c.want {
			t.Errorf("%s: %t, not %t", name, got, c.want)
		}
	}
}
