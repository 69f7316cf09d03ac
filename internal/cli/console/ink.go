package console

import (
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Ink is whether colours may be used. What others wrote never decides a colour,
// and all of it is made harmless before it is coloured.
type Ink bool

// InkFor allows colours on a terminal whose owner has not asked for none.
func InkFor(w io.Writer, getenv func(string) string) Ink {
	return Ink(IsTerminal(w) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb" && getenv("TERM") != "")
}

// Ink is that of what the command prints.
func (a *Console) Ink() Ink { return InkFor(a.Stdout, a.Getenv) }

func (i Ink) Bold(text string) string  { return i.paint("1", text) }
func (i Ink) Faint(text string) string { return i.paint("2", text) }
func (i Ink) Bad(text string) string   { return i.paint("31", text) }
func (i Ink) Good(text string) string  { return i.paint("32", text) }
func (i Ink) Warn(text string) string  { return i.paint("33", text) }

func (i Ink) paint(code, text string) string {
	if !i || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

var paint = regexp.MustCompile("\x1b\\[[0-9]+m")

// width is how many columns a cell takes; colours take none.
func width(cell string) int { return utf8.RuneCountInString(paint.ReplaceAllString(cell, "")) }

// Table lines up columns. What is put into a cell must be harmless already. A list of
// many columns takes one line a row on a terminal: what is too long is shortened.
func Table(w io.Writer, fill func(row func(cells ...string))) {
	var rows [][]string
	fill(func(cells ...string) { rows = append(rows, cells) })
	for _, line := range layOut(rows, columnsOf(w)) {
		_, _ = io.WriteString(w, line+"\n")
	}
}

// layOut makes the lines of a table, for a terminal of so many columns; 0 for any number.
func layOut(rows [][]string, columns int) (lines []string) {
	rows = withoutEmpty(rows, columns)
	var widths, last []int // of the columns, and of cells that end a row
	for _, cells := range rows {
		for i, cell := range cells {
			if i == len(widths) {
				widths, last = append(widths, 0), append(last, 0)
			}
			if i < len(cells)-1 {
				widths[i] = max(widths[i], width(cell))
			} else { // it pushes nothing to the right
				last[i] = max(last[i], width(cell))
			}
		}
	}
	isList := columns > 0 && len(widths) >= minColumnsOfList
	if isList {
		end := len(widths) - 1
		widths[end] = max(widths[end], last[end])
		fit(widths, columns)
	}
	for _, cells := range rows {
		var line strings.Builder
		for i, cell := range cells {
			if isList {
				cell = shorten(cell, max(widths[i], fewColumnsOfOne))
			}
			line.WriteString(cell)
			if i < len(cells)-1 {
				line.WriteString(strings.Repeat(" ", max(0, widths[i]-width(cell))+columnGap))
			}
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}

// withoutEmpty drops the columns of a list that say nothing in any row, where room is
// short. The first row are the names of the columns.
func withoutEmpty(rows [][]string, columns int) [][]string {
	if columns == 0 || len(rows) < 2 || len(rows[0]) < minColumnsOfList {
		return rows
	}
	said, widths := make([]bool, len(rows[0])), make([]int, len(rows[0]))
	for n, cells := range rows {
		if len(cells) != len(said) {
			return rows // not a list
		}
		for i, cell := range cells {
			said[i] = said[i] || n > 0 && cell != ""
			widths[i] = max(widths[i], width(cell))
		}
	}
	sum := columnGap * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	if sum <= columns {
		return rows
	}
	kept := make([][]string, len(rows))
	for n, cells := range rows {
		for i, cell := range cells {
			if said[i] {
				kept[n] = append(kept[n], cell)
			}
		}
	}
	return kept
}

// IsTerminal says that a stream is a terminal. Other devices, such as /dev/null, are
// read by nobody.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return false
	}
	is := false
	err = conn.Control(func(fd uintptr) { is = term.IsTerminal(int(fd)) }) // #nosec G115 -- a descriptor is small
	return err == nil && is
}
