package faultrig_test

import (
	"bufio"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/redistest"
)

// What is measured while a run goes on, by the names of a coordinator's
// metrics. The goal of its heap is twice what was alive at the last collection,
// so it is the one figure of memory that does not go up and down between two.
var vitalNames = []string{"go_memstats_next_gc_bytes", "go_goroutines", "process_open_fds"}

const redisMemory = "used_memory of Redis"

// vitals are samples of a long run, each with how far the run was.
type vitals struct {
	at      []float64
	samples []map[string]float64
}

// take measures a coordinator and a Redis, when both answer: in the middle of a
// fault there is nothing to compare.
func (v *vitals) take(at float64, coordinator, redis string) {
	sample, err := scrape(coordinator)
	if err != nil {
		return
	}
	info, err := redistest.Do(redis, "INFO", "memory")
	if err != nil {
		return
	}
	text, _ := info.(string)
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), "used_memory:"); found {
			sample[redisMemory], err = strconv.ParseFloat(value, 64)
		}
	}
	if err == nil && sample[redisMemory] > 0 {
		v.at, v.samples = append(v.at, at), append(v.samples, sample)
	}
}

func scrape(url string) (map[string]float64, error) {
	answer, err := http.Get(url + "/metrics")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	sample := map[string]float64{}
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if slices.Contains(vitalNames, name) {
			if sample[name], err = strconv.ParseFloat(value, 64); err != nil {
				return nil, err
			}
		}
	}
	if len(sample) != len(vitalNames) {
		return nil, fmt.Errorf("%s/metrics has %d of %d figures", url, len(sample), len(vitalNames))
	}
	return sample, lines.Err()
}

// fifths are the medians of a figure in the second and in the last fifth of the
// way; what a run needs to fill up falls into the first.
func (v *vitals) fifths(name string) (second, last float64, known bool) {
	of := func(fifth int) []float64 {
		var all []float64
		for i, at := range v.at {
			if int(at*5) == fifth {
				all = append(all, v.samples[i][name])
			}
		}
		slices.Sort(all)
		return all
	}
	a, b := of(1), of(4)
	if len(a) == 0 || len(b) == 0 {
		return 0, 0, false
	}
	return a[len(a)/2], b[len(b)/2], true
}

// flat fails unless every figure is about the same at the end as near the
// beginning, within a twentieth.
func (v *vitals) flat(t *testing.T, fail bool) {
	t.Helper()
	for _, name := range append(slices.Clone(vitalNames), redisMemory) {
		second, last, known := v.fifths(name)
		if !known {
			if fail {
				t.Errorf("%s: too few samples (%d)", name, len(v.samples))
			}
			continue
		}
		change := last/second - 1
		t.Logf("%s: %.0f in the second fifth, %.0f in the last, %+.1f %%", name, second, last, 100*change)
		if fail && math.Abs(change) > 0.05 {
			t.Errorf("%s is not flat: %+.1f %%", name, 100*change)
		}
	}
}

func TestVitalsCompareTheSecondFifthWithTheLast(t *testing.T) {
	t.Parallel()
	var v vitals
	for i := range 100 {
		figure := float64(1000 + i) // a tenth more at the end
		v.at = append(v.at, float64(i)/100)
		v.samples = append(v.samples, map[string]float64{"grows": figure, "still": 7})
	}
	if second, last, known := v.fifths("grows"); !known || second != 1030 || last != 1090 {
		t.Errorf("grows is %v, then %v, %v", second, last, known)
	}
	if second, last, known := v.fifths("still"); !known || second != 7 || last != 7 {
		t.Errorf("still is %v, then %v, %v", second, last, known)
	}
	v.at, v.samples = v.at[:50], v.samples[:50]
	if _, _, known := v.fifths("still"); known {
		t.Error("half a run has a last fifth")
	}
}
