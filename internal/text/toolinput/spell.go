package toolinput

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

const (
	maxBlanks     = 40 // spaces and tabs in a row
	maxEmptyLines = 5
	maxAccents    = 3 // on one letter; more of them cover the lines around it
)

// spellLines is each line as a person can read it. Many empty lines in a row are counted.
func spellLines(lines []string) (out []string) {
	for i := 0; i < len(lines); {
		end, noun := i, "empty"
		for end < len(lines) && strings.Trim(lines[end], " \t") == "" {
			if lines[end] != "" {
				noun = "blank"
			}
			end++
		}
		switch {
		case end-i > maxEmptyLines:
			out = append(out, count(end-i, noun+" line", noun+" lines"))
			i = end
		default:
			out = append(out, spell(lines[i]))
			i++
		}
	}
	return out
}

// spell is a line without anything that looks like nothing, like less than it is, or like
// something else. So no two lines look the same, wherever they are shown.
func spell(line string) string {
	var out strings.Builder
	letters := []rune(strings.ToValidUTF8(line, string(unicode.ReplacementChar)))
	for i := 0; i < len(letters); {
		end := i
		for end < len(letters) && (letters[end] == ' ' || letters[end] == '\t') {
			end++
		}
		switch {
		case end > i && unclear(letters, i, end):
			out.WriteString(blanks(letters[i:end]))
			i = end
			continue
		case end > i:
			out.WriteString(string(letters[i:end]))
			i = end
			continue
		case unseen(letters, i):
			out.WriteString(sanitise.Mark(letters[i]))
		default:
			out.WriteRune(letters[i])
		}
		i++
	}
	return sanitise.MarkLookalikes(out.String(), true, sanitise.Mark)
}

// alike are signs that look like those of a command.
const alike = "\u01c3\u02b9\u02bc\u02cb\u02d7\u037e\u2010\u2011\u2024\u2032\u2035\u2044\u2212\u2215\u2223\u2236\u29f8\ua789"

// unclear says that a run of blanks cannot be seen for what it is: at the end of a line, with
// a tab between words, or too long to be counted.
func unclear(letters []rune, begin, end int) bool {
	return end-begin > maxBlanks || end == len(letters) || begin > 0 && slices.Contains(letters[begin:end], '\t')
}

func blanks(run []rune) string {
	tabs := strings.Count(string(run), "\t")
	switch tabs {
	case 0:
		return count(len(run), "space", "spaces")
	case len(run):
		return count(tabs, "tab", "tabs")
	default:
		return count(len(run), "space", "spaces and tabs")
	}
}

// unseen says that a character cannot be seen for what it is, or begins one of the marks we
// write.
func unseen(letters []rune, i int) bool {
	const (
		blankPattern = 0x2800 // the Braille pattern without dots
		emojiStyle   = 0xFE0F
		keycap       = 0x20E3
	)
	switch r := letters[i]; r {
	case ' ', '\t':
		return false
	case '\r', '⟨', blankPattern:
		return true
	case emojiStyle:
		if i == 0 {
			return true
		}
		key := strings.ContainsRune("0123456789#*", letters[i-1]) && i+1 < len(letters) && letters[i+1] == keycap
		return !key && !unicode.Is(pictographs, letters[i-1])
	case keycap:
		if i > 0 && letters[i-1] == emojiStyle {
			return false
		}
	}
	r := letters[i]
	return unicode.Is(unicode.Zs, r) || !unicode.IsGraphic(r) || sanitise.Hidden(r) || strings.ContainsRune(alike, r) || unicode.IsMark(r) && !accent(letters, i)
}

// accent says that a mark stands on a letter, and neither strikes it out nor is one too many.
func accent(letters []rune, i int) bool {
	const firstOverlay, lastOverlay = 0x334, 0x338
	for n := 1; n <= min(i, maxAccents); n++ {
		if !unicode.IsMark(letters[i-n]) {
			return unicode.IsLetter(letters[i-n]) && (letters[i] < firstOverlay || letters[i] > lastOverlay)
		}
	}
	return false
}

// pictographs are the blocks and letters that emojiStyle is used after.
var pictographs = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0xA9, Hi: 0xA9, Stride: 1},
		{Lo: 0xAE, Hi: 0xAE, Stride: 1},
		{Lo: 0x203C, Hi: 0x203C, Stride: 1},
		{Lo: 0x2049, Hi: 0x2049, Stride: 1},
		{Lo: 0x2122, Hi: 0x2122, Stride: 1},
		{Lo: 0x2139, Hi: 0x2139, Stride: 1},
		{Lo: 0x2194, Hi: 0x21AA, Stride: 1},
		{Lo: 0x231A, Hi: 0x23FF, Stride: 1},
		{Lo: 0x24C2, Hi: 0x24C2, Stride: 1},
		{Lo: 0x25AA, Hi: 0x25FE, Stride: 1},
		{Lo: 0x2600, Hi: 0x27BF, Stride: 1},
		{Lo: 0x2934, Hi: 0x2935, Stride: 1},
		{Lo: 0x2B05, Hi: 0x2B55, Stride: 1},
		{Lo: 0x3030, Hi: 0x3030, Stride: 1},
		{Lo: 0x303D, Hi: 0x303D, Stride: 1},
		{Lo: 0x3297, Hi: 0x3297, Stride: 1},
		{Lo: 0x3299, Hi: 0x3299, Stride: 1},
	},
	R32:         []unicode.Range32{{Lo: 0x1F000, Hi: 0x1FAFF, Stride: 1}},
	LatinOffset: 2,
}

func count(n int, one, many string) string {
	if n == 1 {
		return "⟨1 " + one + "⟩"
	}
	return fmt.Sprintf("⟨%d %s⟩", n, many)
}
