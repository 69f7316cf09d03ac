package bench

import (
	"fmt"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// Headline says under what conditions a report was made.
func (r Report) Headline() string {
	crowd := "at once"
	switch r.Scenario {
	case Wait, Waiters:
		crowd = "waiting"
	case Rooms:
		crowd = "members"
	}
	pace := ""
	if r.Rate > 0 {
		pace = fmt.Sprintf(", %d messages a second", r.Rate)
	}
	durability := "on disk"
	if r.Durability != c3po.OnDisk {
		durability = "in memory only: a power cut would lose it"
	}
	return fmt.Sprintf("%d %s%s, %d characters, what is accepted is %s", r.Concurrency, crowd, pace, r.Size, durability)
}

// Table is a report as people read it: the first row has the heads.
func (r Report) Table() [][]string {
	heads := []string{"", "A SECOND", "OF REDIS", "P50", "P99"}
	for _, process := range Processes() {
		heads = append(heads, "CPU "+strings.ToUpper(process))
	}
	if r.Scenario == Waiters {
		heads = append(heads, "A WAIT HOLDS")
	}
	rows := [][]string{heads}
	for _, f := range r.Doors {
		row := []string{f.Door, fmt.Sprintf("%.0f", f.Rate), fmt.Sprintf("%.2f", f.OfRedis), latency(f.P50), latency(f.P99)}
		for _, process := range Processes() {
			cell := "-"
			if used, known := f.CPU[process]; known {
				cell = fmt.Sprintf("%.0f µs", used)
			}
			row = append(row, cell)
		}
		if r.Scenario == Waiters {
			cell := "-"
			if bytes, known := f.Memory[ProcessCoordinator]; known {
				cell = fmt.Sprintf("%.1f KiB", bytes/1024)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
		for _, p := range f.Parts {
			part := []string{"  " + p.Scenario, fmt.Sprintf("%.0f", p.Rate), "", latency(p.P50), latency(p.P99)}
			rows = append(rows, append(part, make([]string, len(heads)-len(part))...))
		}
	}
	return rows
}

func latency(ms float64) string {
	return time.Duration(ms * float64(time.Millisecond)).Round(10 * time.Microsecond).String()
}
