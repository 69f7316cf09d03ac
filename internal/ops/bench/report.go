package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// Writable says before the measurement whether its report could not be written.
func Writable(path string) error {
	file := fileOf(path)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	_, err := os.Stat(file)
	isNew := errors.Is(err, fs.ErrNotExist)
	opened, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	opened.Close()
	if isNew {
		return os.Remove(file)
	}
	return nil
}

// fileOf is the file that a path of a report means.
func fileOf(path string) string {
	if filepath.Ext(path) == ".md" {
		return path
	}
	return filepath.Join(path, "report.md")
}

// Write puts what was measured into a Markdown file, with a picture of each
// scenario beside it. A path that ends in .md is the file, any other the folder
// of a report.md. It gives the file's name.
func Write(path string, reports []Report) (string, error) {
	file := fileOf(path)
	folder := filepath.Dir(file)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	base := strings.TrimSuffix(filepath.Base(file), ".md")
	var text strings.Builder
	text.WriteString("# What c3po bench measured\n\nThe ways in take turns within one run; OF REDIS is the median of the rounds' ratios. Processor time is for one operation.\n")
	for _, r := range reports {
		picture := fmt.Sprintf("%s-%s.svg", base, r.Scenario)
		if err := draw(filepath.Join(folder, picture), r.Plot()); err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "\n## %s\n\n%s\n\n%s\n![%s](%s)\n", r.Scenario, r.Headline(), markdown(r), r.Plot().Label, picture)
	}
	return file, os.WriteFile(file, []byte(text.String()), 0o644)
}

func draw(file string, p Plot) error {
	var picture strings.Builder
	if _, err := p.WriteTo(&picture); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(picture.String()), 0o644)
}

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

func markdown(r Report) string {
	var text strings.Builder
	for i, row := range r.Table() {
		fmt.Fprintf(&text, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(&text, "|---|%s\n", strings.Repeat("--:|", len(row)-1))
		}
	}
	return text.String()
}

// Plot draws the rate of each door and the processor time of an operation.
func (r Report) Plot() Plot {
	rate := Panel{Title: "Operations a second", Columns: true, Series: []Series{{}}}
	cost := Panel{Title: "Processor time of one, µs", Columns: true}
	for _, f := range r.Doors {
		rate.Places = append(rate.Places, f.Door)
		rate.Series[0].Values = append(rate.Series[0].Values, f.Rate)
	}
	cost.Places = rate.Places
	for _, process := range Processes() {
		s := Series{Name: process}
		for _, f := range r.Doors {
			used, known := f.CPU[process]
			if !known {
				used = math.NaN()
			}
			s.Values = append(s.Values, used)
		}
		cost.Series = append(cost.Series, s)
	}
	return Plot{Label: fmt.Sprintf("%s: operations a second, and the processor time of one, by the way in", r.Scenario), Panels: []Panel{rate, cost}}
}
