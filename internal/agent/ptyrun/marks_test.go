package ptyrun

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
)

const ticket = c3po.MessageID("web::api::0000002a")

// answersIn reads what a program prints, in pieces of so many bytes.
func answersIn(output string, piece int) []answer {
	var all []answer
	r := newAnswerReader(func(a answer) { all = append(all, a) })
	for len(output) > 0 {
		n := min(piece, len(output))
		r.write([]byte(output[:n]))
		output = output[n:]
	}
	return all
}

func TestAnAnswerIsWhatStandsBetweenTheMarks(t *testing.T) {
	t.Parallel()
	open := "<<c3po:" + string(ticket)
	long := strings.Repeat("0123456789abcde\n", maxAnswerBytes/16)
	for name, in := range map[string]struct {
		output string
		want   []string
	}{
		"one line":            {"so: " + open + " yes c3po>> done", []string{"yes"}},
		"several":             {open + "\r\nfirst\r\n\r\n  second  \r\nc3po>>\r\n", []string{"first\n\nsecond"}},
		"indented code":       {open + "\nif x:\n    y\nz\nc3po>>", []string{"if x:\n    y\nz"}},
		"in colour":           {"\x1b[1m<<\x1b[31mc3po:" + string(ticket) + "\x1b[0m \x1b[32m\x1b[Kyes\x1b(B\x1b[m c3po>>", []string{"yes"}},
		"with a link":         {"\x1b[1m<<\x1b[31mc3po:" + string(ticket) + "\x1b[0m \x1b[32myes\x1b[m \x1b]8;;http://x\x07can\x1b]8;;\x07 c3po>>", []string{"yes can"}},
		"two":                 {open + " a c3po>>" + open + " b c3po>>", []string{"a", "b"}},
		"half, at the end":    {open + " a", nil},
		"half, without begin": {"a c3po>>", nil},
		"half, then whole":    {open + " a\n" + open + " b c3po>>", []string{"b"}},
		"nothing in it":       {open + " \n c3po>>", nil},
		"a third bracket":     {"<" + open + " a c3po>>", []string{"a"}},
		"no ticket":           {"<<c3po: a c3po>>", nil},
		"no such ticket":      {"<<c3po:TICKET a c3po>>", nil},
		"the largest":         {open + "\n" + long + "c3po>>", []string{strings.TrimSpace(long)}},
		"too large":           {open + "\n" + long + "one more c3po>>", nil},
		"written over":        {open + " 10%\r20%\r100% c3po>>", nil},
		"drawn":               {open + " a\x1b[5;1Hb c3po>>", nil},
		"after what is drawn": {"\x1b[2J\x1b[H" + open + " a c3po>>", []string{"a"}},
	} {
		var got []string
		for _, a := range answersIn(in.output, 1<<20) {
			if a.ticket != ticket {
				t.Errorf("%s: it is for %s", name, a.ticket)
			}
			got = append(got, a.text)
		}
		if diff := cmp.Diff(in.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestAnAnswerThatIsSeenAgainHasTheSameKey(t *testing.T) {
	t.Parallel()
	first := answer{ticket, "a long line that was broken\nhere"}
	for _, again := range []answer{first, {ticket, "a long line that\nwas broken here"}, {ticket, "a long line that wasbroken here"}} {
		if again.key() != first.key() {
			t.Errorf("%q has another key", again.text)
		}
	}
	for _, other := range []answer{{ticket, "a long line"}, {"web::api::0000002b", first.text}} {
		if other.key() == first.key() {
			t.Errorf("%v has the same key", other)
		}
	}
}

func TestALongAnswerLosesNothingWhenItIsCutIntoParts(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("ä", 120)
	got := parts(text, 50)
	if len(got) != 3 || strings.Join(got, "") != text {
		t.Errorf("%q", got)
	}
}

// overlapping marks are where a plain reading is too plain.
var overlapping = regexp.MustCompile(`<<c3po:\S*(<<c3po:|c3po>>)|c3po>>>|<c3po>>`)

// FuzzAnswers holds the reader against a plain reading of the same text.
func FuzzAnswers(f *testing.F) {
	open := "<<c3po:" + string(ticket)
	for _, seed := range []string{
		open + " a c3po>>", open + open + " a c3po>>", "<<<c3po:" + string(ticket) + "\ta\nb c3po>> c3po>>", "\x1b[31m" + open + "\x1b[0m x c3po>>",
		open + " \x1b[2J c3po>>", open + " a\rb c3po>>", "<<c3po:x " + open + "\r\nx\r\nc3po>>", "\x9b\xff" + open + " \xff c3po>>",
	} {
		f.Add(seed, 3)
	}
	whole := regexp.MustCompile(`(?s)^.*<<c3po:(\S+)\s(.*)$`)
	f.Fuzz(func(t *testing.T, output string, piece int) {
		got := answersIn(output, 1<<20)
		if diff := cmp.Diff(got, answersIn(output, 1+(piece&63)), cmp.AllowUnexported(answer{})); diff != "" {
			t.Errorf("it matters where the output was cut:\n%s", diff)
		}
		for _, a := range got {
			if _, err := c3po.ParseMessageID(string(a.ticket)); err != nil {
				t.Error(err)
			}
			if a.text == "" || len(a.text) > maxAnswerBytes || strings.Contains(a.text, closeMark) || strings.Contains(a.text, openMark) {
				t.Errorf("this is no answer: %q", a.text)
			}
			if strings.ContainsFunc(a.text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
				t.Errorf("it does more than be read: %q", a.text)
			}
		}
		// Of plain text a regular expression reads the same.
		if strings.ContainsFunc(output, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f }) || len(output) > maxAnswerBytes {
			return
		}
		var want []answer
		rest := output
		for {
			before, after, found := strings.Cut(rest, closeMark)
			if !found {
				break
			}
			if m := whole.FindStringSubmatch(before); m != nil {
				if id, err := c3po.ParseMessageID(m[1]); err == nil && tidy(m[2]) != "" {
					want = append(want, answer{id, tidy(m[2])})
				}
			}
			rest = after
		}
		if !overlapping.MatchString(output) {
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(answer{})); diff != "" {
				t.Errorf("%q:\n%s", output, diff)
			}
		}
	})
}
