// Package sanitise makes what others wrote fit to be looked at: on a terminal,
// in a log, in an answer a model reads. It decides in one place which
// characters are not seen but do something, and spells them out. It never
// drops any, so that nothing is lost silently.
package sanitise

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden says that a character does something to a terminal or to the eye of
// its reader instead of being seen: controls, among them those that begin an
// escape sequence, line breaks of all kinds, marks that turn the direction of a
// line, tags, fillers, and what has no width.
func Hidden(r rune) bool {
	const emojiStyle = 0xFE0F // common after symbols, and alone it can carry no message
	switch {
	case ' ' <= r && r <= '~': // most of all text, and not worth a look into tables
		return false
	case r == emojiStyle:
		return false
	}
	return unicode.IsControl(r) ||
		unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Inline is what others wrote, made to fit into one of our lines: hidden characters, line
// breaks and tabs included, letters that make a word read as another, and bytes that are no
// UTF-8 are spelt out.
func Inline(text string) string { return spelt(text, "") }

// Label is what others wrote as one line of at most so many bytes, all of which can be
// printed: white space is one blank, and what else can't be printed is spelt out.
func Label(text string, most int) string {
	var out strings.Builder
	for _, r := range strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ") {
		shown := string(r)
		if !unicode.IsPrint(r) {
			shown = escape(r)
		}
		if out.Len()+len(shown) > most {
			break
		}
		out.WriteString(shown)
	}
	return out.String()
}

// Plain is what others wrote without its hidden characters, and with a blank for each white
// space, to look for words in it.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case Hidden(r):
			return -1
		}
		return r
	}, text)
}

// Lines is a text of others as lines of its own. Only its line feeds break a
// line, and tabs are kept.
func Lines(text string) []string {
	return strings.Split(spelt(strings.ReplaceAll(text, "\r\n", "\n"), "\n\t"), "\n")
}

func spelt(text, keep string) string {
	var out strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case !Hidden(r), strings.ContainsRune(keep, r):
			out.WriteRune(r)
		default:
			out.WriteString(escape(r))
		}
	}
	return MarkLookalikes(out.String(), false, escape)
}

func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	default:
		return fmt.Sprintf(`\U%08x`, r)
	}
}

// JSON writes the hidden characters of JSON as escapes: the same value, and
// safe to look at. Line feeds are kept, since between values they are ours and
// inside a string JSON has none.
func JSON(data []byte) []byte {
	if isPlainASCII(data) {
		return data
	}
	hidden := func(r rune) bool { return r != '\n' && Hidden(r) }
	if utf8.Valid(data) && !bytes.ContainsFunc(data, hidden) {
		return data
	}
	var out bytes.Buffer
	for _, r := range string(data) {
		switch {
		case !hidden(r):
			out.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		}
	}
	return out.Bytes()
}

// isPlainASCII is true of most lines, and quicker to see than what is valid and not hidden.
func isPlainASCII(data []byte) bool {
	for _, c := range data {
		if (c < ' ' || c > '~') && c != '\n' {
			return false
		}
	}
	return true
}

// Log makes a writer for lines of JSON, as slog writes them one at a time. Logs
// are read on terminals too.
func Log(w io.Writer) io.Writer { return logWriter{w} }

type logWriter struct{ to io.Writer }

func (l logWriter) Write(line []byte) (int, error) {
	if _, err := l.to.Write(JSON(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}
