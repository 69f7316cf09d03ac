// Package matrix reads the table of what must hold under which fault
// (testdata/matrix.txt), and turns what `go test -json` says about its tests
// into the table that `make torture` ends with. It runs nothing itself.
package matrix

import (
	"fmt"
	"slices"
	"strings"
)

// An Entry is one line: a test, or a command, that shows a row.
type Entry struct {
	Row     string
	Package string // of a test: "./internal/hub"
	Test    string
	Command string // for the shell, instead of a test
	Alone   bool   // it measures, so nothing may run beside it
}

// Name is what the table calls the entry.
func (e Entry) Name() string {
	if e.Command != "" {
		return e.Command
	}
	return e.Test
}

// Parse reads lines of the forms
//
//	B1 ./internal/testkit/faultrig TestNothingIsLost
//	A3 $ make fuzz
//	F1 alone ./tools/bench TestSendsGoOnAtTheirRate
//
// sorted by row. Empty lines and those that begin with # say nothing.
func Parse(text string) ([]Entry, error) {
	var entries []Entry
	number := 0
	for line := range strings.Lines(text) {
		number++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		entry, err := parseLine(words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if n := len(entries); n > 0 && compareRows(entries[n-1].Row, entry.Row) > 0 {
			return nil, fmt.Errorf("line %d: row %s stands after row %s", number, entry.Row, entries[n-1].Row)
		}
		if slices.ContainsFunc(entries, func(e Entry) bool {
			return e.Row == entry.Row && e.Name() == entry.Name() && e.Package == entry.Package
		}) {
			return nil, fmt.Errorf("line %d: %s is there twice in row %s", number, entry.Name(), entry.Row)
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

func parseLine(words []string) (Entry, error) {
	entry, what := Entry{Row: words[0]}, words[1:]
	if len(what) > 0 && what[0] == "alone" {
		entry.Alone, what = true, what[1:]
	}
	switch {
	case len(what) > 1 && what[0] == "$":
		entry.Command = strings.Join(what[1:], " ")
	case len(what) == 2 && strings.HasPrefix(what[0], "./") && strings.HasPrefix(what[1], "Test"):
		entry.Package, entry.Test = what[0], what[1]
	default:
		return Entry{}, fmt.Errorf("%q is neither ROW [alone] ./PACKAGE TestName nor ROW [alone] $ COMMAND", strings.Join(words, " "))
	}
	return entry, nil
}

// compareRows puts I2s before I10s, and J last.
func compareRows(a, b string) int {
	letterA, numberA := splitRow(a)
	letterB, numberB := splitRow(b)
	if letterA != letterB {
		return strings.Compare(letterA, letterB)
	}
	return numberA - numberB
}

func splitRow(row string) (letter string, number int) {
	letter = row[:1]
	_, _ = fmt.Sscanf(row[1:], "%d", &number) // a row without a number is the first of its letter
	return letter, number
}
