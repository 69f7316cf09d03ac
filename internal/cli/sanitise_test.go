package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNothingOfOthersReachesTheTerminalAsACommand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain Grüße 日本 👍🏽 ❤️":        "plain Grüße 日本 👍🏽 ❤️",
		"\x1b[31mred\x1b]0;title\a":   `\x1b[31mred\x1b]0;title\x07`,
		"\u009b31m":                   `\u009b31m`,
		"a\r\nb\tc":                   `a\x0d\nb\tc`,
		"del\x7f nul\x00 back\b":      `del\x7f nul\x00 back\x08`,
		"abc\u202egnp.exe":            `abc\u202egnp.exe`,
		"\u2066iso\u2069 \u061c":      `\u2066iso\u2069 \u061c`,
		"zero\u200bwidth\u200d\ufeff": `zero\u200bwidth\u200d\ufeff`,
		"line\u2028sep\u2029":         `line\u2028sep\u2029`,
		"tag\U000e0041 fill\u3164":    `tag\U000e0041 fill\u3164`,
		"select\U000e0100 soft\u00ad": `select\U000e0100 soft\u00ad`,
		"broken \xff\xc3 kept \ufffd": `broken \xff\xc3 kept ` + "\ufffd",
	} {
		if got := inline(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func FuzzHarmless(f *testing.F) {
	f.Add("hello")
	f.Add("two\nlines\r\n\x1b[2J\u202e")
	f.Add("\xff\u2028  | forged")
	f.Fuzz(func(t *testing.T, text string) {
		shown := inline(text)
		if i := strings.IndexFunc(shown, harmful); i >= 0 || !utf8.ValidString(shown) {
			t.Errorf("inline(%q) = %q", text, shown)
		}
		var out bytes.Buffer
		block(&out, text)
		for line := range strings.SplitSeq(strings.TrimSuffix(out.String(), "\n"), "\n") {
			rest, behind := strings.CutPrefix(line, "  | ")
			if !behind || strings.ContainsFunc(strings.ReplaceAll(rest, "\t", ""), harmful) {
				t.Errorf("block(%q) has the line %q", text, line)
			}
		}
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		safe := harmlessJSON(data)
		if bytes.ContainsFunc(safe, harmful) {
			t.Errorf("harmlessJSON(%q) = %q", data, safe)
		}
		var before, after string
		if err := json.Unmarshal(data, &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(safe, &after); err != nil || after != before {
			t.Errorf("harmlessJSON turned %q into %q, %v", before, after, err)
		}
	})
}
