package bench

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
)

// A Plot is a picture of one or more panels side by side, drawn as SVG.
type Plot struct {
	Label  string // what it shows, for who cannot see it
	Panels []Panel
}

// A Panel has the same series over the same places: lines, or columns that stand
// on each other.
type Panel struct {
	Title   string
	Axis    string   // what the places are
	Places  []string // along the axis, at equal distances
	Series  []Series
	Columns bool
}

// A Series is one figure at each place. NaN leaves a place out.
type Series struct {
	Name   string
	Values []float64
}

// The measures of a panel, in pixels.
const (
	panelWidth  = 400
	panelHeight = 290
	plotLeft    = 48
	plotRight   = 376
	plotTop     = 76
	plotBottom  = 226
)

const plotStyle = `text{font-family:system-ui,sans-serif;fill:#333}.t{font-size:14px;font-weight:600}.n{font-size:11px;fill:#555}.m{text-anchor:middle}.e{text-anchor:end}.a{fill:none;stroke:#999}.g{stroke:#ddd}.c{fill:none;stroke-width:2}`

// colours tell series apart, also for who cannot tell red from green.
func colour(series int) string {
	colours := [...]string{"#1f6feb", "#d97706", "#0f766e", "#9333ea"}
	return colours[series%len(colours)]
}

// WriteTo draws it.
func (p Plot) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	width := panelWidth * len(p.Panels)
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%s\">\n<style>%s</style>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
		width, panelHeight, width, panelHeight, html.EscapeString(p.Label), plotStyle, width, panelHeight)
	for i, panel := range p.Panels {
		fmt.Fprintf(&b, "<g transform=\"translate(%d 0)\">\n", i*panelWidth)
		panel.draw(&b)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

func (p Panel) draw(b *strings.Builder) {
	fmt.Fprintf(b, "<text x=\"%d\" y=\"30\" class=\"t\">%s</text>\n", plotLeft, html.EscapeString(p.Title))
	if len(p.Series) > 1 {
		x := float64(plotLeft)
		for i, s := range p.Series {
			fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"43\" width=\"10\" height=\"10\" fill=\"%s\"/><text x=\"%.1f\" y=\"52\" class=\"n\">%s</text>\n", x, colour(i), x+14, html.EscapeString(s.Name))
			x += 30 + 6*float64(len(s.Name))
		}
	}
	top := niceTop(p.highest())
	for i := range 3 {
		value := top * float64(i) / 2
		fmt.Fprintf(b, "<path d=\"M%d %.1fH%d\" class=\"g\"/><text x=\"%d\" y=\"%.1f\" class=\"n e\">%s</text>\n", plotLeft, height(value, top), plotRight, plotLeft-6, height(value, top)+4, figure(value))
	}
	fmt.Fprintf(b, "<path d=\"M%d %dV%dH%d\" class=\"a\"/>\n", plotLeft, plotTop, plotBottom, plotRight)
	for i, place := range p.Places {
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%d\" class=\"n m\">%s</text>\n", p.at(i), plotBottom+18, html.EscapeString(place))
	}
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" class=\"n m\">%s</text>\n", (plotLeft+plotRight)/2, plotBottom+40, html.EscapeString(p.Axis))
	if p.Columns {
		p.columns(b, top)
	} else {
		p.lines(b, top)
	}
}

// highest is the largest value that is drawn: of columns, that of a whole one.
func (p Panel) highest() float64 {
	var most float64
	for i := range p.Places {
		var sum float64
		for _, s := range p.Series {
			if v := s.Values[i]; !math.IsNaN(v) {
				sum += v
				if !p.Columns {
					most = max(most, v)
				}
			}
		}
		if p.Columns {
			most = max(most, sum)
		}
	}
	return most
}

func (p Panel) columns(b *strings.Builder, top float64) {
	const half = 24
	for i := range p.Places {
		var under float64
		for s, series := range p.Series {
			value := series.Values[i]
			if math.IsNaN(value) {
				continue
			}
			fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"/>\n",
				p.at(i)-half, height(under+value, top), 2*half, height(under, top)-height(under+value, top), colour(s))
			under += value
		}
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" class=\"n m\">%s</text>\n", p.at(i), height(under, top)-5, figure(under))
	}
}

func (p Panel) lines(b *strings.Builder, top float64) {
	for s, series := range p.Series {
		step := "M"
		var path, dots strings.Builder
		for i, value := range series.Values {
			if math.IsNaN(value) {
				continue
			}
			fmt.Fprintf(&path, "%s%.1f %.1f ", step, p.at(i), height(value, top))
			fmt.Fprintf(&dots, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", p.at(i), height(value, top), colour(s))
			step = "L"
		}
		fmt.Fprintf(b, "<path d=\"%s\" class=\"c\" stroke=\"%s\"/>\n%s", strings.TrimSpace(path.String()), colour(s), dots.String())
	}
	for i := range p.Places {
		p.labels(b, top, i)
	}
}

// labels writes the figures at a place, the highest first: each above its dot,
// or below it where another or a line stands, or not at all if there is no room.
func (p Panel) labels(b *strings.Builder, top float64, place int) {
	const above, below, line = -7, 15, 11
	var values []float64
	for _, s := range p.Series {
		if v := s.Values[place]; !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
	var taken []float64
	for _, value := range values {
		for _, beside := range []float64{above, below} {
			y := height(value, top) + beside
			crossed := slices.ContainsFunc(values, func(other float64) bool { return height(other, top) > y-line && height(other, top) < y+2 })
			if y < plotBottom && !crossed && !slices.ContainsFunc(taken, func(other float64) bool { return math.Abs(other-y) < line }) {
				fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" class=\"n m\">%s</text>\n", p.at(place), y, figure(value))
				taken = append(taken, y)
				break
			}
		}
	}
}

// at is where a place is; those at the ends have half a distance beside them.
func (p Panel) at(i int) float64 {
	return plotLeft + (float64(i)+0.5)*float64(plotRight-plotLeft)/float64(len(p.Places))
}

func height(value, top float64) float64 {
	return plotBottom - value/top*float64(plotBottom-plotTop)
}

// niceTop is the end of an axis: a round number, with room for a label.
func niceTop(most float64) float64 {
	if most <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(most)))
	for _, times := range []float64{1, 2, 4, 6, 8, 10} {
		if top := unit * times; top >= most*1.08 {
			return top
		}
	}
	return unit * 20
}

// figure is a number as people write it, with three digits that count.
func figure(value float64) string {
	switch {
	case value >= 999_500:
		return fmt.Sprintf("%.3g M", value/1e6)
	case value >= 9_995:
		return fmt.Sprintf("%.3g k", value/1e3)
	case value >= 1000:
		return fmt.Sprintf("%d,%03d", int(value+0.5)/1000, int(value+0.5)%1000)
	case value >= 99.5 || value == math.Trunc(value):
		return fmt.Sprintf("%.0f", value)
	default:
		return fmt.Sprintf("%.2g", value)
	}
}
