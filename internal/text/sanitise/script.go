package sanitise

import (
	"fmt"
	"strings"
	"unicode"
)

// RightToLeft says that a character belongs to a script that runs from right to left. Beside
// one, signs and digits change their places on screens that arrange such text, so that a
// command reads as another one.
func RightToLeft(r rune) bool { return r >= 0x590 && unicode.Is(rightToLeft, r) }

// rightToLeft are the blocks that Unicode keeps for these scripts, so that a letter it gets
// later counts as well.
var rightToLeft = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x590, Hi: 0x8FF, Stride: 1}, {Lo: 0xFB1D, Hi: 0xFDFF, Stride: 1}, {Lo: 0xFE70, Hi: 0xFEFC, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x10800, Hi: 0x10FFF, Stride: 1}, {Lo: 0x1E800, Hi: 0x1EFFF, Stride: 1}},
}

// Exact is the text of a request for permission, in lines, for a screen of which nobody knows
// how it orders letters. What does not stand where it is, or is not seen, is a mark as the
// text has others: ⟨U+05D0⟩. The text never has a bracket ⟨ that is not a mark's.
func Exact(text string) []string {
	var out strings.Builder
	for _, r := range text {
		if r != '\n' && r != '\t' && Hidden(r) || RightToLeft(r) {
			out.WriteString(Mark(r))
		} else {
			out.WriteRune(r)
		}
	}
	return strings.Split(out.String(), "\n")
}

// Mark names a character that is not shown as it is.
func Mark(r rune) string { return fmt.Sprintf("⟨U+%04X⟩", r) }

// Lookalike is the plain letter that another one is drawn like, in lower case; false if it is
// drawn like none.
func Lookalike(r rune) (plain rune, ok bool) {
	switch {
	case r < 0x80:
		return 0, false
	case 0xFF21 <= r && r <= 0xFF3A: // full width
		return r - 0xFF21 + 'a', true
	case 0xFF41 <= r && r <= 0xFF5A:
		return r - 0xFF41 + 'a', true
	case 0x1D400 <= r && r <= 0x1D6A3: // bold, italic, script and so on, in alphabets of 26
		return (r-0x1D400)%26 + 'a', true
	}
	plain, ok = lookalikes[r]
	return plain, ok
}

var lookalikes = func() map[rune]rune {
	all := map[rune]rune{}
	for plain, others := range map[rune]string{
		'a': "аАαΑɑᎪꓮ", 'b': "ВΒЬᏴꓐ", 'c': "сСϲϹⲥⲤᏟꓚ", 'd': "ԁꓓᎠ", 'e': "еЕΕ℮Ꭼꓰҽℯℰ", 'f': "ꓝϜꞘℱ", 'g': "ɡԌᏀꓖցℊ",
		'h': "һНΗᎻꓧհℎℋℌℍ", 'i': "іІιΙıӀᎥɩꓲℐℑ", 'j': "јЈϳͿᎫꓙյ", 'k': "КкΚκᏦꓗK", 'l': "ӏǀᏞꓡⅼℓℒᛁ", 'm': "МΜᎷꓟℳⅿ", 'n': "ΝꓠոռℕⲚ",
		'o': "оОοΟօՕⲟⲞꓳഠ", 'p': "рРρΡᏢꓑⲣⲢℙ", 'q': "ԛԚզℚ", 'r': "ᎡᏒꓣℛℜℝ", 's': "ѕЅᏚꓢՏ", 't': "ТΤᎢꓔ", 'u': "υսՍꓴ",
		'v': "ѵѴνᏙꓦⅴ", 'w': "ԝԜᎳꓪѡ", 'x': "хХχΧⅹꓫ", 'y': "уУҮүΥꓬ", 'z': "ΖᏃꓜℤℨ",
	} {
		for _, other := range others {
			all[other] = plain
		}
	}
	return all
}()

// forged gives the places of the letters that make a word read as plain Latin although it is
// not; whole says that a word made of nothing else counts too. Runs of other characters are
// no words.
func forged(word []rune, whole bool) (at []int) {
	plain := 0
	for i, r := range word {
		_, alike := Lookalike(r)
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			plain++
		case alike:
			at = append(at, i)
		case unicode.IsLetter(r):
			return nil // it is seen to be in another script
		}
	}
	if plain == 0 && !whole {
		return nil
	}
	return at
}

// MarkLookalikes names the letters in a text that only look like Latin ones: those of words
// that have both, as in Аllow with a Cyrillic А. With whole, also those of words that have
// nothing else, but for a single letter between blanks, which is a word in many languages.
func MarkLookalikes(text string, whole bool, mark func(rune) string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { _, ok := Lookalike(r); return ok }) {
		return text
	}
	letters := []rune(text)
	var out strings.Builder
	for i := 0; i < len(letters); {
		end := i
		for end < len(letters) && (unicode.IsLetter(letters[end]) || unicode.IsMark(letters[end])) {
			end++
		}
		if end == i {
			out.WriteRune(letters[i])
			i++
			continue
		}
		alone := end-i == 1 && i > 0 && letters[i-1] == ' ' && end < len(letters) && letters[end] == ' '
		var odd []int
		if !alone {
			odd = forged(letters[i:end], whole)
		}
		for n, r := range letters[i:end] {
			if len(odd) > 0 && odd[0] == n {
				odd = odd[1:]
				out.WriteString(mark(r))
			} else {
				out.WriteRune(r)
			}
		}
		i = end
	}
	return out.String()
}

// digits are those that a person reads as letters within a word.
var digits = map[rune]rune{'0': 'o', '1': 'l', '3': 'e', '4': 'a', '5': 's', '|': 'l'}

// ReadsLike says that a person may read a text as one that we keep for ourselves, given in
// lower-case letters: whatever stands between its letters, and whichever letters stand for
// some of them.
func ReadsLike(text, ours string) bool {
	var letters []rune
	for _, r := range text {
		digit := digits[r]
		plain, alike := Lookalike(r)
		switch {
		case alike:
			letters = append(letters, plain)
		case digit != 0 && len(letters) > 0: // in front it is the number of a choice
			letters = append(letters, digit)
		case unicode.IsLetter(r):
			letters = append(letters, unicode.ToLower(r))
		}
	}
	wanted := []rune(ours)
	if len(letters) != len(wanted) {
		return false
	}
	foreign := 0
	for i, r := range letters {
		switch {
		case r == wanted[i]:
		case r >= 0x80:
			foreign++
		default:
			return false
		}
	}
	return foreign <= len(wanted)/2
}
