package sanitise_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

var update = flag.Bool("update", false, "write the dashboard's table anew")

// class is what stands between the brackets of a regular expression for these characters.
func class(in func(rune) bool) string {
	var out strings.Builder
	for r := rune(0); r <= unicode.MaxRune; r++ {
		first := r
		for r <= unicode.MaxRune && in(r) {
			r++
		}
		switch last := r - 1; {
		case last < first:
		case last == first:
			fmt.Fprintf(&out, "\\u{%x}", first)
		default:
			fmt.Fprintf(&out, "\\u{%x}-\\u{%x}", first, last)
		}
	}
	return out.String()
}

// The dashboard spells out what terminals, logs and models have spelt out, by a
// table that is made from ours.
func TestTheDashboardHidesWhatWeHide(t *testing.T) {
	t.Parallel()
	hidden := func(r rune) bool { return r != '\n' && r != '\t' && sanitise.Hidden(r) }
	alike := func(r rune) bool { _, ok := sanitise.Lookalike(r); return ok }
	const name = "../../../web/src/hidden.ts"
	want := "// Written by `go test ./internal/text/sanitise -update`: characters that do something\n// instead of being seen, but for the line feed and the tab.\n" +
		"export const hidden = /[" + class(hidden) + "]/gu;\n" +
		"\n// Letters that look like Latin ones and are none.\nexport const lookalike = /[" + class(alike) + "]/gu;\n" +
		"\n// Runs of scripts that are written from right to left.\nexport const rightToLeft = /([" + class(sanitise.RightToLeft) + "]+)/gu;\n"
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != want {
		t.Errorf("%s is not what it would be now: %v", name, err)
	}
	if plain, err := os.ReadFile("../../../web/src/plain.ts"); err != nil || !strings.Contains(string(plain), ".replace(hidden,") {
		t.Errorf("plain.ts does without it: %v", err)
	}
}
