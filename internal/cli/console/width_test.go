package console

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestAListTakesOneLineARowOnATerminal(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 64)
	rows := [][]string{
		{"TICKET", "FROM", "TO", "STATE", "TASK"},
		{long + "::web::76f41509", long, "web", Ink(true).Good("pending"), "migrating the database to the new schema, step three of twelve"},
		{"none of them"},
	}
	for _, line := range layOut(rows, 80) {
		if n := width(line); n > 80 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	row := layOut(rows, 80)[1]
	if !strings.Contains(row, "76f41509") || !strings.Contains(row, "pending") || !strings.HasSuffix(row, "…") {
		t.Errorf("it cannot be typed any more: %s", row)
	}
	if whole := strings.Join(layOut(rows, 0), "\n"); !strings.Contains(whole, long+"::web::76f41509") || !strings.Contains(whole, "step three of twelve") {
		t.Errorf("a file does not get all of it: %s", whole)
	}
	path := "/" + strings.Repeat("long/", 30)
	if about := layOut([][]string{{"data", path}, {"log", path}}, 80); !strings.Contains(about[0], path) {
		t.Errorf("a path is cut: %s", about[0])
	}
}

func TestAListOfManyColumnsFitsATerminalOfEighty(t *testing.T) {
	t.Parallel()
	rows := [][]string{
		{"KEY ID", "ROLE", "STATE", "SPACES", "AGENTS", "LAST USED", "EXPIRES", "LABEL"},
		{"k3xv2ab7qmzd", "observer", "active", "main lab", "laptop/*", "within the hour", "2027-11-19 15:04", "the one for the laptop"},
	}
	for _, line := range layOut(rows, 80) {
		if n := width(line); n > 80 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	if row := layOut(rows, 80)[1]; !strings.Contains(row, "k3xv2ab7qmzd") {
		t.Errorf("it cannot be revoked any more: %s", row)
	}
}

func TestACommandToCopyIsNotBrokenIntoTwoLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Run `c3po up --listen 127.0.0.1:9000` again, please":   "Run\n`c3po up --listen 127.0.0.1:9000`\nagain, please",
		"Move it with: c3po down && c3po up --listen :9000":     "Move it with:\nc3po down && c3po up --listen :9000",
		"Leave first: c3po leave --person, and do it right now": "Leave first:\nc3po leave --person,\nand do it right now",
		"an open ` is a word": "an open ` is a word",
	} {
		if diff := cmp.Diff(want, strings.Join(wrapWords(atoms(text), 20), "\n")); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAParagraphIsBrokenBetweenWordsAndATableIsNot(t *testing.T) {
	t.Parallel()
	text := "One two three\nfour five.\n\n  a table   stays\n  as it is\n\nEnd."
	if diff := cmp.Diff("One two\nthree four\nfive.\n\n  a table   stays\n  as it is\n\nEnd.", Reflow(text, 10)); diff != "" {
		t.Error(diff)
	}
	for _, line := range Wrap(strings.Repeat("grün ", 40), 20) {
		if utf8.RuneCountInString(line) > 20 {
			t.Error(line)
		}
	}
}

func TestEmptyColumnsAndLongNamesGiveWayToWhatIsSaid(t *testing.T) {
	t.Parallel()
	rows := [][]string{
		{"AGENT", "STATE", "AVAILABLE", "MAIL", "TASK"},
		{strings.Repeat("n", 60), "last call 57 s ago", "available", "reads it when it is started", ""},
		{"api", "online", "available", "reads it now", ""},
	}
	lines := layOut(rows, 80)
	for _, want := range []string{"last call 57 s ago", "reads it when it is started"} {
		if !strings.Contains(lines[1], want) || width(lines[1]) > 80 {
			t.Errorf("%d characters: %s", width(lines[1]), lines[1])
		}
	}
	short := [][]string{rows[0], {"api", "last call 22 s ago", "paused: waits for you", "reads it when its user answers", ""}}
	if line := layOut(short, 80)[1]; !strings.HasSuffix(line, "reads it when its user answers") {
		t.Errorf("the empty column cuts what is said: %s", line)
	}
	if strings.Contains(lines[0], "TASK") {
		t.Errorf("an empty column takes room: %s", lines[0])
	}
	if wide := layOut(rows, 200); !strings.Contains(wide[0], "TASK") {
		t.Errorf("it is dropped where there is room: %s", wide[0])
	}
}
