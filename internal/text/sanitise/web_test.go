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

// The dashboard spells out what terminals, logs and models have spelt out, by a
// table that is made from ours.
func TestTheDashboardHidesWhatWeHide(t *testing.T) {
	t.Parallel()
	var class strings.Builder
	hidden := func(r rune) bool { return r != '\n' && r != '\t' && sanitise.Hidden(r) }
	for r := rune(0); r <= unicode.MaxRune; r++ {
		first := r
		for hidden(r) {
			r++
		}
		switch last := r - 1; {
		case last < first:
		case last == first:
			fmt.Fprintf(&class, "\\u{%x}", first)
		default:
			fmt.Fprintf(&class, "\\u{%x}-\\u{%x}", first, last)
		}
	}
	const name = "../../../web/src/hidden.ts"
	want := "// Written by `go test ./internal/text/sanitise -update`: characters that do something\n// instead of being seen, but for the line feed and the tab.\n" +
		"export const hidden = /[" + class.String() + "]/gu;\n"
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
