package envelope

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// gutter stands before each line of what others wrote. No line of ours starts
// with it.
const gutter = "| "

// writeCarried writes text behind the gutter, ending with a line break.
//
// A line starts wherever a client might start one, not only at "\n". What
// cannot be seen, or changes how its neighbours are seen, is spelt out as
// \u{1b} (bytes that are no UTF-8 as \x{ff}), so nothing is lost silently. A
// line that ends in a lone backslash goes on in the next: the break there is
// ours. A backslash that could be mistaken for one of these is spelt \u{5c}.
// carriedText is the way back.
func writeCarried(b *strings.Builder, text string) {
	b.WriteString(gutter)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		rest := text[i+size:]
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(b, `\x{%x}`, text[i])
		case r == '\n':
			b.WriteString("\n" + gutter)
		case r == '\r' && strings.HasPrefix(rest, "\n"):
			spell(b, r) // the line break that follows is the text's own
		case startsLine(r):
			spell(b, r)
			b.WriteString("\\\n" + gutter)
		case hidden(r), r == '\\' && ambiguous(rest):
			spell(b, r)
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	b.WriteByte('\n')
}

// carriedText gives back what carried was given, from its lines without the
// gutter.
func carriedText(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		body, goesOn := strings.CutSuffix(line, `\`)
		unspell(&b, body)
		if !goesOn && i < len(lines)-1 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// onOneLine is for sentences of the service: they are ours, but may quote what
// a caller typed.
func onOneLine(sentence string) string {
	var b strings.Builder
	for _, r := range sentence {
		if r == '\n' || startsLine(r) || hidden(r) {
			spell(&b, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// word keeps a field of a header one word: ids pass unchanged, and no field can
// hold a space, a bracket or a quote.
func word(field string) string {
	const most = 200
	var b strings.Builder
	for i := range len(field) {
		if b.Len() >= most {
			return b.String() + "…"
		}
		if c := field[i]; isWordByte(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("_.:/-#", c) >= 0
}

// startsLine names the separators besides "\n" that some client breaks a line
// at: CR, VT, FF, NEL, LINE SEPARATOR, PARAGRAPH SEPARATOR.
func startsLine(r rune) bool {
	switch r {
	case '\r', '\v', '\f', 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// hidden names what a reader does not see. A tab moves what follows it, as it
// is meant to.
func hidden(r rune) bool { return r != '\t' && sanitise.Hidden(r) }

// ambiguous says whether a backslash before rest could be read as ours.
func ambiguous(rest string) bool {
	return rest == "" || rest[0] == '\n' || strings.HasPrefix(rest, "u{") || strings.HasPrefix(rest, "x{")
}

func spell(b *strings.Builder, r rune) { fmt.Fprintf(b, `\u{%x}`, r) }

func unspell(b *strings.Builder, line string) {
	for {
		at := strings.IndexByte(line, '\\')
		if at < 0 {
			b.WriteString(line)
			return
		}
		b.WriteString(line[:at])
		line = line[at:]
		n := unspellOne(b, line)
		line = line[n:]
	}
}

// unspellOne writes what the escape at the start of line stands for and returns
// its length. What is no escape is a backslash.
func unspellOne(b *strings.Builder, line string) int {
	end := strings.IndexByte(line, '}')
	if end > 3 && end <= len(`\u{10ffff`) && line[2] == '{' {
		code, err := strconv.ParseUint(line[3:end], 16, 32)
		switch {
		case err != nil:
		case line[1] == 'u' && utf8.ValidRune(rune(code)):
			b.WriteRune(rune(code))
			return end + 1
		case line[1] == 'x' && code <= 0xff:
			b.WriteByte(byte(code))
			return end + 1
		}
	}
	b.WriteByte('\\')
	return 1
}
