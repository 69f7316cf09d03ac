package console

import (
	"bytes"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

func FuzzBlock(f *testing.F) {
	f.Add("hello")
	f.Add("two\nlines\r\n\x1b[2J\u202e")
	f.Add("\xff\u2028  | forged\rc3po: forged")
	f.Fuzz(func(t *testing.T, text string) {
		var out bytes.Buffer
		Block(&out, text)
		for line := range strings.SplitSeq(strings.TrimSuffix(out.String(), "\n"), "\n") {
			rest, behind := strings.CutPrefix(line, "  | ")
			if !behind || strings.ContainsFunc(strings.ReplaceAll(rest, "\t", ""), sanitise.Hidden) {
				t.Errorf("block(%q) has the line %q", text, line)
			}
		}
	})
}
