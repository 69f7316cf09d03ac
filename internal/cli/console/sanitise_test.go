package console

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
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

func TestNoPieceOfALineIsWiderThanTheTerminalAndNothingIsLost(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "short", strings.Repeat("x", 200), strings.Repeat("a word ", 40), strings.Repeat("日本", 60), strings.Repeat("x", 76) + " answered w9::human::0a1b2c3d"} {
		got := pieces(line, 76)
		if strings.Join(got, "") != line {
			t.Errorf("%q became %q", line, got)
		}
		for _, piece := range got {
			columns := 0
			for _, r := range piece {
				if columns++; r >= 0x1100 {
					columns++
				}
			}
			if columns > 76 {
				t.Errorf("%d columns: %q", columns, piece)
			}
		}
	}
}

// A terminal orders letters that run from right to left in its own way, or not at all.
func TestEverySignOfACommandIsShownInItsPlace(t *testing.T) {
	t.Parallel()
	const text = "Allow Bash?\n\n$ rm \"אב\" \"ג\" 1"
	for kind, want := range map[c3po.Kind]string{c3po.KindApproval: `  | $ rm "⟨U+05D0⟩⟨U+05D1⟩" "⟨U+05D2⟩" 1`, c3po.KindEscalation: `  | $ rm "אב" "ג" 1`} {
		var out bytes.Buffer
		PrintMessage(&out, time.Now(), c3po.Message{Kind: kind, FromAgent: "api", Message: text})
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("%s: %s", kind, out.String())
		}
	}
}

func TestTabsDoNotCarryATextPastTheEdgeOfTheTerminal(t *testing.T) {
	t.Parallel()
	for _, line := range behindGutter([]string{"ls" + strings.Repeat("\t", 12) + "state: answered, proved by passkey x", "\tindented"}, 80) {
		if rest, behind := strings.CutPrefix(line, "  | "); !behind || strings.Contains(rest, "\t") || len(line) > 80 {
			t.Errorf("a line is %q", line)
		}
	}
	if got := behindGutter([]string{"\tindented"}, 0); len(got) != 1 || got[0] != "  | \tindented" {
		t.Errorf("in a file it is %q", got)
	}
}
