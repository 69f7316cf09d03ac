package toolinput

import (
	"fmt"
	"strings"
	"unicode"
)

const (
	maxBlanks     = 40 // spaces and tabs in a row
	maxEmptyLines = 5
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

// spell is a line without anything that looks like nothing, or like less than it is.
// What does something instead of being seen is left to whatever shows it.
func spell(line string) string {
	var out strings.Builder
	letters := []rune(strings.ToValidUTF8(line, string(unicode.ReplacementChar)))
	for i := 0; i < len(letters); {
		end := i
		for end < len(letters) && (letters[end] == ' ' || letters[end] == '\t') {
			end++
		}
		switch {
		case end-i > maxBlanks:
			out.WriteString(blanks(letters[i:end]))
			i = end
			continue
		case end > i:
			out.WriteString(string(letters[i:end]))
			i = end
			continue
		case unseen(letters, i):
			fmt.Fprintf(&out, "⟨U+%04X⟩", letters[i])
		default:
			out.WriteRune(letters[i])
		}
		i++
	}
	return out.String()
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

// unseen says that a character cannot be seen, or begins one of the marks we write.
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
	default:
		return unicode.Is(unicode.Zs, r)
	}
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
