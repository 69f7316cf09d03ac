package bench

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
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

func TestAReportThatCannotBeWrittenIsKnownBeforeTheMeasurement(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "taken")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Writable(filepath.Join(file, "report.md")); err == nil {
		t.Error("a file is taken for a folder")
	}
	if err := Writable(folder); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(folder); len(left) != 1 {
		t.Errorf("the check left %v", left)
	}
}

func TestAReportIsATableAndAPictureOfEachScenario(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"a folder": "made/here", "a file": "made/here/report.md"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			file, err := Write(filepath.Join(folder, path), []Report{aReport(Send), aReport(Waiters)})
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(folder, "made/here/report.md"); file != want {
				t.Errorf("it was written to %s, and should be in %s", file, want)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{
				"64 at once, 1024 characters, what is accepted is on disk", "64 waiting",
				"| rest | 3759 | 0.71 | 20ms | 65ms | 46 µs | 189 µs | 174 µs |", "| 25.5 KiB |", "| redis | 5265 | 1.00 | 12.5ms | 48ms | 51 µs | - | 165 µs | - |",
				"|   rooms | 77 |  | 1.5ms | 2ms |", "(report-send.svg)", "(report-waiters.svg)",
			} {
				if !strings.Contains(string(text), want) {
					t.Errorf("%q is not in it:\n%s", want, text)
				}
			}
			for _, scenario := range []string{Send, Waiters} {
				picture, err := os.ReadFile(filepath.Join(filepath.Dir(file), "report-"+scenario+".svg"))
				if err != nil {
					t.Fatal(err)
				}
				if texts := textsOf(t, string(picture)); !strings.Contains(texts, "5,265") || !strings.Contains(texts, "409") {
					t.Errorf("the rate of Redis, or what a call over REST costs in all, is not in the picture: %s", texts)
				}
			}
		})
	}
}

// textsOf is all that is written in a picture.
func textsOf(t *testing.T, picture string) string {
	t.Helper()
	var texts strings.Builder
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts.String()
		}
		if err != nil {
			t.Fatalf("not a picture: %v\n%s", err, picture)
		}
		if data, ok := token.(xml.CharData); ok {
			texts.Write(data)
		}
	}
}

func TestAPictureStaysWithinItsFrame(t *testing.T) {
	t.Parallel()
	for _, most := range []float64{0, 0.003, 0.99, 1, 7, 10, 999, 1000, 123456, 8e9} {
		top := niceTop(most)
		if top < most || most > 0 && top > most*2.5 {
			t.Errorf("an axis for %v ends at %v", most, top)
		}
	}
	var picture strings.Builder
	p := Plot{Label: `"less" < more`, Panels: []Panel{{
		Title: "a & b", Places: []string{"1", "10"}, Series: []Series{{Name: "x", Values: []float64{math.NaN(), 3}}, {Name: "y", Values: []float64{1, 2}}},
	}}}
	if _, err := p.WriteTo(&picture); err != nil {
		t.Fatal(err)
	}
	if texts := textsOf(t, picture.String()); strings.Contains(picture.String(), "NaN") || !strings.Contains(texts, "a & b") {
		t.Errorf("drawn as %s", picture.String())
	}
}

func TestFiguresAtOnePlaceDoNotCoverEachOther(t *testing.T) {
	t.Parallel()
	var picture strings.Builder
	p := Panel{Places: []string{"10"}, Series: []Series{{Values: []float64{100}}, {Values: []float64{101}}, {Values: []float64{102}}, {Values: []float64{20}}}}
	p.lines(&picture, 200)
	// Above the highest, below the next, none for the third, and the one that is far off.
	if texts := textsOf(t, "<svg>"+picture.String()+"</svg>"); strings.Join(strings.Fields(texts), " ") != "102 101 20" {
		t.Errorf("the figures are %q", texts)
	}
}

func TestFiguresAreWrittenAsPeopleDo(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]string{0: "0", 0.72: "0.72", 5.04: "5", 42: "42", 189.4: "189", 1069: "1,069", 9_994: "9,994", 10_004: "10 k", 123_456: "123 k", 1_000_000: "1 M"} {
		if got := figure(value); got != want {
			t.Errorf("%v is written %q, and should be %q", value, got, want)
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
