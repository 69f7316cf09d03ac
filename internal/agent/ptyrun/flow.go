package ptyrun

import "bytes"

// maxBehindBytes is how much text is kept back for the screen. It is taken in before
// a key goes to the program, so it must be little.
const maxBehindBytes = 64 << 10

// flows says that output is text in lines, and how it looks: whatever its amount,
// it changes nothing of the terminal but the rows that are shown, and only its
// end is seen.
func flows(output []byte) bool {
	for i := 0; i < len(output); i++ {
		switch b := output[i]; {
		case b == '\x1b':
			length := styleLength(output[i:])
			if length == 0 {
				return false
			}
			i += length - 1
		case b < ' ' && b != '\n' && b != '\r' && b != '\t', b == '\x7f':
			return false
		}
	}
	return true
}

// styleLength is the length of the escape sequence for colors that text begins with, or
// 0.
func styleLength(text []byte) int {
	if len(text) < 3 || text[1] != '[' {
		return 0
	}
	for i, b := range text[2:] {
		switch {
		case b == 'm':
			return i + 3
		case (b < '0' || b > '9') && b != ';' && b != ':':
			return 0
		}
	}
	return 0
}

// A flow is text that has gone by, of which the end is kept.
type flow struct {
	text []byte
}

// add takes text in if what it then must forget has scrolled off the screen.
func (f *flow) add(text []byte, rows int) bool {
	if len(f.text)+len(text) <= maxBehindBytes {
		f.text = append(f.text, text...)
		return true
	}
	all := append(f.take(), text...)
	kept := all[max(0, len(all)-maxBehindBytes/2):]
	_, lines, found := bytes.Cut(kept, []byte("\n"))
	if !found || bytes.Count(lines, []byte("\n")) < 2*rows {
		f.text = all[:len(all)-len(text)]
		return false
	}
	f.text = append(all[:0], lines...)
	return true
}

// take hands out what was kept, once.
func (f *flow) take() []byte {
	text := f.text
	f.text = f.text[:0]
	return text
}
