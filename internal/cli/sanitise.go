package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/c3po-dev/c3po"
)

// harmful says that a character does something to a terminal or to the eye of
// its reader instead of being seen: controls, among them those that begin an
// escape sequence, marks that turn the direction of a line, and what has no
// width. The two selectors that emoji end with are let through.
func harmful(r rune) bool {
	switch {
	case r == '\ufe0e' || r == '\ufe0f':
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
		return true
	default:
		return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	}
}

// harmless writes what others wrote so that it can be printed: harmful
// characters and broken bytes as escapes, all else unchanged.
func harmless(text string, keep string) string {
	var out strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case strings.ContainsRune(keep, r):
			out.WriteRune(r)
		case harmful(r):
			out.WriteString(escape(r))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
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

// inline is a text of others within a line of ours.
func inline(text string) string { return harmless(text, "") }

// block is a text of others on lines of its own, each behind a gutter, so that
// none can pass for a line of ours.
func block(w io.Writer, text string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for line := range strings.SplitSeq(harmless(text, "\n\t"), "\n") {
		fmt.Fprintf(w, "  | %s\n", line)
	}
}

// harmlessJSON writes harmful characters as JSON escapes: the same value, and
// safe to look at.
func harmlessJSON(data []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(data) {
		switch {
		case r == '\n' || !harmful(r): // a newline only ends the value
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

func readAtMost(r io.Reader, most int64) ([]byte, error) {
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
