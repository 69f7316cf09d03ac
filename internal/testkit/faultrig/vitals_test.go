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

	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// What is measured while a run goes on, by the names of a coordinator's
// metrics. The goal of its heap is twice what was alive at the last collection,
// so it is the one figure of memory that does not go up and down between two.
var vitalNames = []string{"go_memstats_next_gc_bytes", "go_goroutines", "process_open_fds"}

// vitals are samples of a long run, each with how far the run was.
type vitals struct {
	at      []float64
	samples []map[string]float64
}

// take measures a coordinator, if it answers.
func (v *vitals) take(at float64, coordinator string) {
	if sample, err := scrape(coordinator); err == nil {
		v.at, v.samples = append(v.at, at), append(v.samples, sample)
	}
}

// memoryOf is what all keys of a Redis use, and what most of that is. Connections and
// scripts come and go with each restart of either side, and weigh as much as the keys.
func memoryOf(redis string) (bytes float64, most string, err error) {
	answer, err := redistest.Do(redis, "EVAL", `local all, sum = {}, 0
for _, key in ipairs(redis.call('KEYS', '*')) do
  local bytes = redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 0)
  sum = sum + bytes
  all[#all + 1] = { key, bytes }
end
table.sort(all, function(a, b) return a[2] > b[2] end)
local most = {}
for i = 1, math.min(8, #all) do most[i] = all[i][1] .. ' ' .. all[i][2] end
return sum .. '; ' .. table.concat(most, ', ')`, "0")
	if err != nil {
		return 0, "", err
	}
	text, _ := answer.(string)
	sum, most, _ := strings.Cut(text, "; ")
	bytes, err = strconv.ParseFloat(sum, 64)
	return bytes, most, err
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

// flat holds that every figure is about the same at the end as near the beginning.
func (v *vitals) flat(t *testing.T, fail bool) {
	t.Helper()
	for _, name := range vitalNames {
		second, last, known := v.fifths(name)
		if known {
			flat(t, name, second, last, fail)
		} else if fail {
			t.Errorf("%s: too few samples (%d)", name, len(v.samples))
		}
	}
}

// flat prints how a figure changed, and fails, if it may, beyond a twentieth.
func flat(t *testing.T, what string, before, after float64, fail bool) {
	t.Helper()
	change := after/before - 1
	t.Logf("%s: %.0f, then %.0f, %+.1f %%", what, before, after, 100*change)
	if fail && math.Abs(change) > 0.05 {
		t.Errorf("%s is not flat: %+.1f %%", what, 100*change)
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
