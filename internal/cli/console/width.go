package console

import (
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// HelpColumns is how wide help is: a terminal has at least so many.
const HelpColumns = 80

// columnsOf is how wide a terminal is; 0 for anything else, which has no width.
func columnsOf(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok || !IsTerminal(file) {
		return 0
	}
	columns, _, err := term.GetSize(int(file.Fd())) // #nosec G115 -- a descriptor is small
	if err != nil {
		return 0
	}
	return columns
}

const (
	columnGap        = 2
	minColumnsOfOne  = 12 // the key id of a token
	fewColumnsOfOne  = 6  // of a list with so many columns that they have to be narrower
	maxColumnsOfName = 20 // both ends of a name tell it from others
	minColumnsOfList = 4  // with fewer a table is about one thing, whose paths are to be copied
)

// fit makes columns narrower until a row has so many characters: a first one of long
// names, then the last, which is mostly text, then the widest.
func fit(widths []int, most int) {
	sum := columnGap * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	for ; sum > most && widths[0] > maxColumnsOfName; sum-- {
		widths[0]--
	}
	last := len(widths) - 1
	for ; sum > most && widths[last] > minColumnsOfOne; sum-- {
		widths[last]--
	}
	for ; sum > most; sum-- {
		widest := 0
		for i := range widths {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= minColumnsOfOne {
			break
		}
		widths[widest]--
	}
	for ; sum > most && len(widths) > 1; sum-- {
		widest := 1
		for i := range widths[1:] {
			if widths[i+1] > widths[widest] {
				widest = i + 1
			}
		}
		if widths[widest] <= fewColumnsOfOne {
			return
		}
		widths[widest]--
	}
}

// shorten cuts a cell to so many characters. Of a name the end stays too, by which an id
// can be typed.
func shorten(cell string, most int) string {
	if width(cell) <= most {
		return cell
	}
	runes := []rune(paint.ReplaceAllString(cell, ""))
	if strings.ContainsRune(string(runes), ' ') {
		return strings.TrimRight(string(runes[:most-1]), " ") + "…"
	}
	end := max(most/2, min(8, most-2)) // the digits that end an id
	return string(runes[:most-1-end]) + "…" + string(runes[len(runes)-end:])
}

// Hang breaks a text between words where a terminal's lines end, and indents the lines
// after the first. A command to copy stays on one line. Anything but a terminal gets the
// text as it is.
func Hang(w io.Writer, indent int, text string) string {
	columns := columnsOf(w)
	if columns <= 2*indent {
		return text
	}
	return strings.Join(wrapWords(atoms(text), columns-indent), "\n"+strings.Repeat(" ", indent))
}

// atom is a word, or what stands between backticks.
var atom = regexp.MustCompile("[^\\s`]*(?:`[^`]*`[^\\s`]*)+|\\S+")

// atoms are the words of a text; a command in backticks or after a colon is one.
func atoms(text string) (all []string) {
	open := false // within a command after a colon
	for _, word := range atom.FindAllString(text, -1) {
		last := len(all) - 1
		switch {
		case open:
			all[last] += " " + word
		case word == "c3po" && last >= 0 && strings.HasSuffix(all[last], ":"):
			all, open = append(all, word), true
		default:
			all = append(all, word)
		}
		open = open && !strings.HasSuffix(word, ".") && !strings.HasSuffix(word, ",") && !strings.HasSuffix(word, ";")
	}
	return all
}

// Wrap breaks a text into lines of at most so many characters, between words.
func Wrap(text string, columns int) []string { return wrapWords(strings.Fields(text), columns) }

func wrapWords(words []string, columns int) []string {
	var lines []string
	line := ""
	for _, word := range words {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// Reflow breaks the paragraphs of a text anew. What is indented stays as it is.
func Reflow(text string, columns int) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, paragraph := range paragraphs {
		if !strings.HasPrefix(paragraph, " ") && !strings.Contains(paragraph, "\n ") && !strings.Contains(paragraph, "  ") {
			paragraphs[i] = strings.Join(Wrap(paragraph, columns), "\n")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}
