package screencast

import (
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestARecordingIsWellFormedAndShowsEveryLine(t *testing.T) {
	t.Parallel()
	var svg strings.Builder
	err := Write(&svg, []Pane{{"web & co", 20, 2}, {"api", 20, 1}}, []Frame{
		{[]string{"$ \x1b[1mhello\x1b[0m", "waits"}, time.Second},
		{[]string{"$ \x1b[1mhello\x1b[0m\n<b>\x1b[7mx\x1b[m", "answers \x1b[38;5;196mred"}, 3 * time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := svg.String()
	for reader := xml.NewDecoder(strings.NewReader(text)); err == nil; _, err = reader.Token() {
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("%v\n%s", err, text)
	}
	for _, want := range []string{"web &amp; co", ">hello<", "&lt;b&gt;", ">waits<", ">answers<", "#ff0000", "25.000%{transform:translateX(-184.8px)}", "4.00s step-end"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing:\n%s", want, text)
		}
	}
	if n := strings.Count(text, ">hello<"); n != 1 {
		t.Errorf("a line that stays is drawn %d times", n)
	}
	if strings.Contains(text, "script") {
		t.Error("it has a script")
	}
}

func TestColoursOfATerminalAreRead(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]part{
		"plain":                       {{text: "plain"}},
		"\x1b[31mred\x1b[39mnot":      {{text: "red", fore: sixteen[1]}, {text: "not"}},
		"\x1b[38;2;1;2;3;1mx":         {{text: "x", fore: "#010203", bold: true}},
		"\x1b[48:5:16mx":              {{text: "x", back: "#000000"}},
		"\x1b[2mdim\x1b[22mnot":       {{text: "dim", dim: true}, {text: "not"}},
		"\x1b[7mx":                    {{text: "x", fore: background, back: ink, reverse: true}},
		"\x1b]8;;http://x\x1b\\link":  {{text: "link"}},
		"\x1b[97;100mx\x1b[0m\x1b[0K": {{text: "x", fore: sixteen[15], back: sixteen[8]}},
	} {
		if got := parse(line); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", line, got, want)
		}
	}
}

func TestFramesThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	for name, frames := range map[string][]Frame{"none": nil, "a screen too few": {{nil, time.Second}}} {
		if err := Write(io.Discard, []Pane{{"a", 1, 1}}, frames); err == nil {
			t.Errorf("%s: it is drawn", name)
		}
	}
}
