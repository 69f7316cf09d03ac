// Package screencast draws what terminals showed over time as one animated SVG,
// without scripts, so that a README can show it.
package screencast

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// A Pane is one terminal: what is written above it, and its size in characters.
type Pane struct {
	Title         string
	Columns, Rows int
}

// A Frame is what all panes show for a while, as `tmux capture-pane -e` prints it.
type Frame struct {
	Screens []string
	For     time.Duration
}

const (
	charWidth, lineHeight = 8.4, 18.0
	margin, titleHeight   = 14.0, 30.0
	background, bar, ink  = "#16181d", "#23262e", "#d7dae0"
)

// Write draws the frames. Panes stand one below the other. Each row is a strip of what
// it shows, moved on when that changes; whoever wants no motion sees the last frame.
func Write(w io.Writer, panes []Pane, frames []Frame) error {
	if len(frames) == 0 {
		return fmt.Errorf("there is nothing to draw")
	}
	var total time.Duration
	for _, f := range frames {
		if len(f.Screens) != len(panes) {
			return fmt.Errorf("a frame has %d screens for %d panes", len(f.Screens), len(panes))
		}
		total += f.For
	}
	width, height := 0.0, margin
	for _, p := range panes {
		width = max(width, float64(p.Columns)*charWidth+4*margin)
		height += paneHeight(p) + margin
	}
	var body, style strings.Builder
	top, row := margin, 0
	for i, p := range panes {
		fmt.Fprintf(&body, `<rect x="%g" y="%g" width="%g" height="%g" rx="8" fill="%s"/><path d="M%g %gh%g" stroke="#0b0c0f"/><text x="%g" y="%g" fill="#9aa1ad">%s</text>`+"\n",
			margin, top, width-2*margin, paneHeight(p), bar, margin, top+titleHeight, width-2*margin, 2*margin, top+20, escape(p.Title))
		fmt.Fprintf(&body, `<rect x="%g" y="%g" width="%g" height="%g" fill="%s"/><svg x="%g" y="%g" width="%g" height="%g">`+"\n",
			margin, top+titleHeight, width-2*margin, paneHeight(p)-titleHeight-8, background, 2*margin, top+titleHeight+8, float64(p.Columns)*charWidth, float64(p.Rows)*lineHeight)
		for n := range p.Rows {
			drawRow(&body, &style, row, float64(n)*lineHeight+13, float64(p.Columns)*charWidth, strip(frames, i, n), total)
			row++
		}
		body.WriteString("</svg>\n")
		top += paneHeight(p) + margin
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" xml:space="preserve">
<style>%s</style>
<rect width="%g" height="%g" rx="12" fill="#0b0c0f"/>
%s</svg>
`, width, height, width, height, style.String(), width, height, body.String())
	return err
}

func paneHeight(p Pane) float64 { return titleHeight + float64(p.Rows)*lineHeight + 24 }

// A state is what a row shows from a moment on.
type state struct {
	line string
	from time.Duration
}

// strip is all that one row of a pane shows, one after the other.
func strip(frames []Frame, pane, row int) []state {
	var states []state
	var at time.Duration
	for _, f := range frames {
		line := ""
		if lines := strings.Split(f.Screens[pane], "\n"); row < len(lines) {
			line = strings.TrimRight(lines[row], " \r")
		}
		if len(states) == 0 || states[len(states)-1].line != line {
			states = append(states, state{line, at})
		}
		at += f.For
	}
	return states
}

func drawRow(body, style *strings.Builder, row int, y, width float64, states []state, total time.Duration) {
	width += 2 * charWidth // so that no edge of the next one shows
	moves := len(states) > 1
	if moves {
		fmt.Fprintf(style, "@keyframes k%d{", row)
		for i, s := range states {
			fmt.Fprintf(style, "%.3f%%{transform:translateX(%gpx)}", 100*s.from.Seconds()/total.Seconds(), -float64(i)*width)
		}
		last := -float64(len(states)-1) * width
		fmt.Fprintf(style, "100%%{transform:translateX(%gpx)}}.r%d{animation:k%d %.2fs step-end infinite}@media(prefers-reduced-motion:reduce){.r%d{animation:none;transform:translateX(%gpx)}}\n",
			last, row, row, total.Seconds(), row, last)
		fmt.Fprintf(body, `<g class="r%d">`, row)
	}
	for i, s := range states {
		drawLine(body, float64(i)*width, y, s.line)
	}
	if moves {
		body.WriteString("</g>")
	}
	body.WriteByte('\n')
}

func drawLine(body *strings.Builder, x, y float64, line string) {
	at := x
	for _, p := range parse(line) {
		length := float64(len([]rune(p.text))) * charWidth
		if p.back != "" {
			fmt.Fprintf(body, `<rect x="%.1f" y="%.1f" width="%.1f" height="%g" fill="%s"/>`, at, y-13, length, lineHeight, p.back)
		}
		if words := strings.Trim(p.text, " "); words != "" {
			before := len(p.text) - len(strings.TrimLeft(p.text, " "))
			fmt.Fprintf(body, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs"%s>%s</text>`,
				at+float64(before)*charWidth, y, float64(len([]rune(words)))*charWidth, p.attributes(), escape(words))
		}
		at += length
	}
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // to memory
	return b.String()
}
