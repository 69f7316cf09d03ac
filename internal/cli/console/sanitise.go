package console

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// Inline makes what others wrote fit into one of our lines.
func Inline(text string) string { return sanitise.Inline(text) }

// Block is a text of others on lines of its own, each behind a gutter, so that
// none can pass for a line that c3po wrote.
func Block(w io.Writer, text string) { block(w, sanitise.Lines(text)) }

// ExactBlock is the text of a request for permission, in which no letter moves or hides.
func ExactBlock(w io.Writer, text string) { block(w, sanitise.Exact(text)) }

func block(w io.Writer, lines []string) {
	for _, line := range behindGutter(lines, columnsOf(w)) {
		fmt.Fprintln(w, line)
	}
}

func behindGutter(lines []string, columns int) (all []string) {
	const mark = "  | "
	for _, line := range lines {
		if columns > 0 {
			line = strings.ReplaceAll(line, "\t", tab)
		}
		for _, piece := range pieces(line, columns-len(mark)) {
			all = append(all, mark+piece)
		}
	}
	return all
}

// tab stands for a tab on a terminal, where one is as wide as what is left to its stop: a
// line of them would reach the edge long before its letters do.
const tab = "    "

// pieces cuts a line so that a terminal breaks none of them: what stood at its edge would
// look like a line of ours. All of it stays. Fewer than a few columns are none.
func pieces(line string, columns int) (all []string) {
	const minColumns = 20
	if columns < minColumns {
		return []string{line}
	}
	begin, used, space := 0, 0, -1 // of the piece; space is after its last one
	for at, r := range line {
		wide := 1
		if r >= 0x1100 { // Hangul, and most of what follows, may take two
			wide = 2
		}
		if used+wide > columns {
			end := at
			if space > begin {
				end = space
			}
			all = append(all, line[begin:end])
			used, begin, space = 2*utf8.RuneCountInString(line[end:at]), end, -1
		}
		if used += wide; r == ' ' {
			space = at + 1
		}
	}
	return append(all, line[begin:])
}

func ReadLimited(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, c3po.Errorf(c3po.InvalidRequest, "cannot read the text: %w", err).Suggest("Give it as an argument.")
	}
	if int64(len(data)) > most {
		return nil, c3po.Errorf(c3po.InvalidRequest, "the text has more than %d bytes", most).
			Suggest("Send a shorter one that says where the rest is.")
	}
	return data, nil
}
