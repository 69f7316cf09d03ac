package sanitise_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

func TestNothingOfOthersIsACommandWithinALineOfOurs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain Grüße 日本 👍🏽 ❤️":              "plain Grüße 日本 👍🏽 ❤️",
		"\x1b[31mred\x1b]0;title\a":         `\x1b[31mred\x1b]0;title\x07`,
		"\x1b]8;;http://evil\x1b\\link":     `\x1b]8;;http://evil\x1b\link`,
		"\u009b31m \u009d0;title\u009c":     `\u009b31m \u009d0;title\u009c`,
		"a\r\nb\tc":                         `a\x0d\nb\tc`,
		"del\x7f nul\x00 back\b":            `del\x7f nul\x00 back\x08`,
		"abc\u202egnp.exe":                  `abc\u202egnp.exe`,
		"\u2066iso\u2069 \u061c":            `\u2066iso\u2069 \u061c`,
		"zero\u200bwidth\u200d\ufeff":       `zero\u200bwidth\u200d\ufeff`,
		"line\u2028sep\u2029 next\u0085":    `line\u2028sep\u2029 next\u0085`,
		"tag\U000e0041 fill\u3164":          `tag\U000e0041 fill\u3164`,
		"select\U000e0100\ufe0e soft\u00ad": `select\U000e0100\ufe0e soft\u00ad`,
		"broken \xff\xc3 kept \ufffd":       `broken \xff\xc3 kept ` + "\ufffd",
	} {
		if got := sanitise.Inline(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestALabelOfOthersCanBePrintedAndIsNoLongerThanAllowed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"limit\n\t·\u00a0resets\u202f3pm": "limit · resets 3pm",
		"zero\u200bwidth \u00ad👨\u200d👩":  `zero\u200bwidth \u00ad👨\u200d👩`,
		"\x1b[31mred \u202egnp \ue000":    `\x1b[31mred \u202egnp \ue000`,
		"broken \xff\xc3 kept":            "broken kept",
		"":                                "",
	} {
		if got := sanitise.Label(text, 100); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"üüü": "üü", "abc\u200b": "abc", "abcde": "abcde", "abcdef": "abcde"} {
		if got := sanitise.Label(text, 5); got != want {
			t.Errorf("%q is cut to %q, want %q", text, got, want)
		}
	}
}

func TestALogLineOfOthersIsHarmlessAndKeepsItsValue(t *testing.T) {
	t.Parallel()
	const text = "a\x1b[2Jb\u202ec\u200bd\u009be\U000e0041f\u2028g\nh"
	var book bytes.Buffer
	slog.New(slog.NewJSONHandler(sanitise.Log(&book), nil)).Info("refused", "host", text)
	if line := strings.TrimSuffix(book.String(), "\n"); strings.ContainsFunc(line, sanitise.Hidden) {
		t.Errorf("the line is %q", line)
	}
	var line struct{ Host string }
	if err := json.Unmarshal(book.Bytes(), &line); err != nil || line.Host != text {
		t.Errorf("the line holds %q, %v", line.Host, err)
	}
}

func FuzzSanitise(f *testing.F) {
	f.Add("hello")
	f.Add("two\nlines\r\n\x1b[2J\u202e")
	f.Add("\xff\u2028  | forged")
	f.Fuzz(func(t *testing.T, text string) {
		if shown := sanitise.Inline(text); strings.ContainsFunc(shown, sanitise.Hidden) || !utf8.ValidString(shown) {
			t.Errorf("Inline(%q) = %q", text, shown)
		}
		for _, line := range sanitise.Lines(text) {
			if strings.ContainsFunc(strings.ReplaceAll(line, "\t", ""), sanitise.Hidden) || !utf8.ValidString(line) {
				t.Errorf("Lines(%q) has the line %q", text, line)
			}
		}
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		safe := sanitise.JSON(data)
		if bytes.ContainsFunc(safe, sanitise.Hidden) {
			t.Errorf("JSON(%q) = %q", data, safe)
		}
		var before, after string
		if err := json.Unmarshal(data, &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(safe, &after); err != nil || after != before {
			t.Errorf("JSON turned %q into %q, %v", before, after, err)
		}
	})
}
