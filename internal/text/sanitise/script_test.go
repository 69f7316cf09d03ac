package sanitise_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

func TestOnAScreenNobodyKnowsLettersStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	got := sanitise.Exact("$ rm \"אב\" \"ג\" 1\n\tا\u202e⟨2 spaces⟩\x1b é")
	if diff := cmp.Diff([]string{`$ rm "⟨U+05D0⟩⟨U+05D1⟩" "⟨U+05D2⟩" 1`, "\t⟨U+0627⟩⟨U+202E⟩⟨2 spaces⟩⟨U+001B⟩ é"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAWordThatOnlyLooksLatinIsMarked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ mixed, whole string }{
		"Allow once":          {"Allow once", "Allow once"},
		"Аllow":               {"⟨U+0410⟩llow", "⟨U+0410⟩llow"},
		"gооgle.com":          {"g⟨U+043E⟩⟨U+043E⟩gle.com", "g⟨U+043E⟩⟨U+043E⟩gle.com"},
		"сору":                {"сору", "⟨U+0441⟩⟨U+043E⟩⟨U+0440⟩⟨U+0443⟩"},
		"-с":                  {"-с", "-⟨U+0441⟩"},
		"работа с базой":      {"работа с базой", "работа с базой"},
		"Δx μs kΩ 5λ":         {"Δx μs kΩ 5λ", "Δx μs kΩ 5λ"},
		"PDFки, API-ключ":     {"PDFки, API-ключ", "PDFки, API-ключ"},
		"café naïve Grüße 日本": {"café naïve Grüße 日本", "café naïve Grüße 日本"},
		"𝐫m":                  {"⟨U+1D42B⟩m", "⟨U+1D42B⟩m"},
		"ｒｍ":                  {"ｒｍ", "⟨U+FF52⟩⟨U+FF4D⟩"},
	} {
		if got := sanitise.MarkLookalikes(text, false, sanitise.Mark); got != want.mixed {
			t.Errorf("%q is marked as %q, want %q", text, got, want.mixed)
		}
		if got := sanitise.MarkLookalikes(text, true, sanitise.Mark); got != want.whole {
			t.Errorf("%q is marked as %q in a command, want %q", text, got, want.whole)
		}
	}
}

func TestAWordOfOursIsKnownInEverySpelling(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Allow once", "ALLOW  ONCE!", "1. Allow once", "Аllow once", "Аӏӏоԝ οnсе", "Allow\u00a0once", "A\u200bllow once", "𝐀𝐥𝐥𝐨𝐰 𝐨𝐧𝐜𝐞", "Ａｌｌｏｗ once",
		"Ạllow oncẹ", "All0w once", "A11ow once", "Allow̲ once", "allow-once", "ᎪꓡꓡΟꓪ ОꓠСЕ",
	} {
		if !sanitise.ReadsLike(text, "allowonce") {
			t.Errorf("%q does not read as ours", text)
		}
	}
	for _, text := range []string{"Allow two", "Разрешить", "Alle weg", "Allow it once", "once", "", strings.Repeat("ж", 9)} {
		if sanitise.ReadsLike(text, "allowonce") {
			t.Errorf("%q reads as ours", text)
		}
	}
}
