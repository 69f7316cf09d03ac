package ptyrun

import (
	"strings"

	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	// maxLineBytes is what a terminal that collects lines takes of one: POSIX lets it
	// drop the rest.
	maxLineBytes = 4000
	// lineBreak stands for a line break where only one line can be typed. It is
	// how an envelope spells it, and a text that has it literally is spelt
	// otherwise.
	lineBreak = `\u{a}`
)

// harmless makes a text fit to be typed: no control character is in it, and no
// mark, so that the program's echo of it is no answer.
func harmless(text string) string {
	text = strings.Join(sanitise.Lines(text), "\n")
	text = strings.ReplaceAll(text, "\t", "    ") // a key that completes what is typed
	return strings.ReplaceAll(text, "<<c3po", `<\u{3c}c3po`)
}

// paste is a text as it is typed into a program, all but the Enter that sends it.
// A program that does not take pastes gets one line.
func paste(text string, brackets bool) string {
	text = harmless(text)
	if brackets {
		// As terminals do it: a line break in a paste is what the Enter key sends.
		return pasteBegin + strings.ReplaceAll(text, "\n", "\r") + pasteEnd
	}
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", lineBreak)
}
