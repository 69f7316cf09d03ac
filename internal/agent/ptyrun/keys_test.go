package ptyrun

import (
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestKeysTellWhatIsKnownOfALine(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]struct {
		keys []string
		want lineState
	}{
		"nothing":                           {nil, lineEmpty},
		"a letter":                          {[]string{"a"}, lineTyped},
		"a letter and Enter":                {[]string{"a", "\r"}, lineEmpty},
		"a letter taken back":               {[]string{"a", "\x7f"}, lineUnknown},
		"one of two letters taken back":     {[]string{"a", "b", "\x7f"}, lineTyped},
		"one of two umlauts taken back":     {[]string{"ä", "ö", "\x7f"}, lineTyped},
		"taken back and typed again":        {[]string{"a", "\x7f", "b"}, lineTyped},
		"a blank":                           {[]string{" "}, lineTyped},
		"the key that completes":            {[]string{"\t"}, lineUnknown},
		"the line before":                   {[]string{"\x1b[A"}, lineUnknown},
		"the line before, in pieces":        {[]string{"\x1b", "[", "A"}, lineUnknown},
		"the line before, and Enter":        {[]string{"\x1bOA", "\r"}, lineEmpty},
		"Alt and Enter, a new line":         {[]string{"\x1b\r"}, lineUnknown},
		"a line feed, which may not send":   {[]string{"\n"}, lineUnknown},
		"a paste of two lines":              {[]string{"\x1b[200~a\rb\r\x1b[201~"}, lineTyped},
		"a paste and Enter":                 {[]string{"\x1b[200~a\rb\x1b[201~", "\r"}, lineEmpty},
		"Alt and P, then letters":           {[]string{"\x1bP", "a", "b"}, lineTyped},
		"Alt and P":                         {[]string{"\x1bP"}, lineUnknown},
		"Alt and P, letters and Enter":      {[]string{"\x1b]", "a", "\r"}, lineEmpty},
		"Escape":                            {[]string{"\x1b"}, lineUnknown},
		"Control-C":                         {[]string{"a", "\x03"}, lineUnknown},
		"the window has the focus":          {[]string{"\x1b[I", "\x1b[O"}, lineEmpty},
		"the mouse":                         {[]string{"\x1b[<0;10;5M\x1b[<0;10;5m"}, lineEmpty},
		"what the terminal is":              {[]string{"\x1b[?62;22c\x1b[>1;10;0c\x1b[24;80R\x1bP>|xterm\x1b\\\x1b]11;rgb:0/0/0\x07"}, lineEmpty},
		"letters while the terminal speaks": {[]string{"a\x1b[I"}, lineTyped},
	} {
		var k keys
		for _, input := range in.keys {
			k.feed([]byte(input))
		}
		if k.state != in.want {
			t.Errorf("%s: %d, want %d", name, k.state, in.want)
		}
	}
	piped := keys{piped: true}
	if piped.feed([]byte("a\n")); piped.state != lineEmpty {
		t.Error("a line of a pipe does not end")
	}
}

func TestATicketThatThePersonHasTypedIsKnown(t *testing.T) {
	t.Parallel()
	var k keys
	for _, c := range strings.Split("echo '<<c3po:web::api::0000002a hi c3po>>'", "") {
		k.feed([]byte(c))
	}
	k.feed([]byte("\x1b[200~" + strings.Repeat("x", 2*maxPlainBytes) + "<<c3po:web::api::0000002b\x1b[201~"))
	for ticket, want := range map[c3po.MessageID]bool{
		"web::api::0000002a": true, "web::api::0000002b": true, "web::api::0000002c": false,
	} {
		if k.typedTicket(ticket) != want {
			t.Errorf("%s: %v", ticket, !want)
		}
	}
}

// Whatever is pressed, only Enter makes a line provably empty.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("a\x1b[200~\r\x1b[201~\x7f\x1b[A"))
	f.Fuzz(func(t *testing.T, input []byte) {
		var k keys
		k.feed([]byte("a"))
		k.feed(input)
		if k.state == lineEmpty && !strings.Contains(string(input), "\r") {
			t.Errorf("after %q the line is empty", input)
		}
		if len(k.plain) > maxPlainBytes {
			t.Errorf("%d bytes are kept", len(k.plain))
		}
	})
}
