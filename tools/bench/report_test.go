package bench

import (
	"fmt"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func aReport(scenario string) Report {
	return Report{
		Scenario: scenario, Concurrency: 64, Size: 1024, Seconds: 5, Durability: c3po.OnDisk,
		Doors: []Figures{
			{Door: Redis, Operations: 10, Rate: 5265, OfRedis: 1, P50: 12.5, P99: 48, CPU: map[string]float64{ProcessBench: 51, ProcessRedis: 165}},
			{
				Door: REST, Operations: 10, Rate: 3759, OfRedis: 0.714, P50: 20, P99: 65, CPU: map[string]float64{ProcessBench: 46, ProcessCoordinator: 189, ProcessRedis: 174},
				Memory: map[string]float64{ProcessCoordinator: 25.5 * 1024}, Parts: []Part{{Scenario: Rooms, Operations: 5, Rate: 77, P50: 1.5, P99: 2}},
			},
		},
	}
}

func TestAReportIsAHeadlineAndATable(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	aReport(Send).print(&text)
	aReport(Waiters).print(&text)
	said := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{
		"64 at once, 1024 characters, what is accepted is on disk", "64 waiting",
		"rest 3759 0.71 20ms 65ms 46 µs 189 µs 174 µs", "25.5 KiB", "redis 5265 1.00 12.5ms 48ms 51 µs - 165 µs -",
		"rooms 77 1.5ms 2ms",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in it:\n%s", want, text.String())
		}
	}
}

func TestMixedTellsTheFiguresOfItsParts(t *testing.T) {
	t.Parallel()
	s := aSample(map[string]int{Send: 30, Rooms: 10})
	f := figures(REST, []sample{s, s}, []sample{s, s})
	if got := fmt.Sprint(f.Parts); got != "[{send 60 30 2 2} {rooms 20 10 2 2}]" || f.Operations != 80 || f.Rate != 40 {
		t.Errorf("the parts are %s of %+v", got, f)
	}
}
