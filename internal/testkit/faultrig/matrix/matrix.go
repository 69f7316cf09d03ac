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
		if slices.Contains(entries, entry) {
			return nil, fmt.Errorf("line %d: %s is there twice in row %s", number, entry.Name(), entry.Row)
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

func parseLine(words []string) (Entry, error) {
	switch {
	case len(words) > 2 && words[1] == "$":
		return Entry{Row: words[0], Command: strings.Join(words[2:], " ")}, nil
	case len(words) == 3 && strings.HasPrefix(words[1], "./") && strings.HasPrefix(words[2], "Test"):
		return Entry{Row: words[0], Package: words[1], Test: words[2]}, nil
	default:
		return Entry{}, fmt.Errorf("%q is neither ROW ./PACKAGE TestName nor ROW $ COMMAND", strings.Join(words, " "))
	}
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
