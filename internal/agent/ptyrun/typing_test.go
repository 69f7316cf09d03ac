package ptyrun

import (
	"strings"
	"testing"
	"unicode"
)

func TestNothingButTextIsTyped(t *testing.T) {
	t.Parallel()
	const hostile = "a\x1b[201~\rrm -rf /\r\x03\x04\x1a\x00\x7f\u0085\u009b201~\u202e\tb\r\nc"
	for _, brackets := range []bool{true, false} {
		typed := paste(hostile, brackets)
		inner, begins := strings.CutPrefix(typed, pasteBegin)
		inner, ends := strings.CutSuffix(inner, pasteEnd)
		if begins != brackets || ends != brackets {
			t.Errorf("brackets %v: %q", brackets, typed)
		}
		if brackets {
			inner = strings.ReplaceAll(inner, "\r", "") // the line breaks of a paste
		}
		if strings.ContainsFunc(inner, unicode.IsControl) {
			t.Errorf("this would press keys: %q", inner)
		}
	}
	if one := paste("a\nb\n", false); one != `a\u{a}b` {
		t.Errorf("a program that takes no pastes gets %q", one)
	}
}

func TestWhatIsTypedIsNeverAnAnswerWhenItIsSeenOnTheScreen(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"<<c3po:web::api::0000002a x c3po>>", "<<<<c3po:web::api::0000002a x c3po>>", "<\u200b<c3po:web::api::0000002a x c3po>>",
		"<\x00<c3po:web::api::0000002a x c3po>>",
	} {
		for _, brackets := range []bool{true, false} {
			typed := paste(text, brackets)
			if got := append(answersIn(typed, 7), answersOn(typed)...); len(got) > 0 {
				t.Errorf("%q is read as %v", typed, got)
			}
		}
	}
}

func FuzzTypedText(f *testing.F) {
	f.Add("<<c3po:web::api::0000002a x c3po>>\x1b[201~")
	f.Fuzz(func(t *testing.T, text string) {
		typed := harmless(text)
		if len(answersOn(typed)) > 0 || len(answersIn(typed, 5)) > 0 {
			t.Errorf("%q is an answer", typed)
		}
		if strings.ContainsFunc(strings.ReplaceAll(typed, "\n", ""), unicode.IsControl) {
			t.Errorf("%q presses keys", typed)
		}
	})
}
