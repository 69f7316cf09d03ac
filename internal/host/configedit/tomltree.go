package configedit

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A section is a table header of a TOML text and the keys below it. Comments
// behind the last key belong to what follows.
type section struct {
	path       []string
	array      bool // [[…]]
	start, end int  // whole lines
	keys       []tomlKey
}

type tomlKey struct {
	path       []string
	start, end int // of the whole expression, without the end of its line
	value      int // where its value begins
}

func (s section) key(name string) (tomlKey, bool) {
	for _, k := range s.keys {
		if slices.Equal(k.path, []string{name}) {
			return k, true
		}
	}
	return tomlKey{}, false
}

// DecodeTOML reads what a file means.
func DecodeTOML(text []byte, into any) error {
	if err := toml.Unmarshal(text, into); err != nil {
		return unreadable("TOML", err)
	}
	return nil
}

// readTOML finds the sections of a text that a parser accepts. The first is what
// stands before all headers.
func readTOML(text []byte) ([]section, error) {
	var meaning map[string]any
	if err := toml.Unmarshal(text, &meaning); err != nil {
		return nil, unreadable("TOML", err)
	}
	r := &tomlReader{text: text}
	sections := []section{{}}
	for r.space(true); r.pos < len(text); r.space(true) {
		if err := r.expression(&sections); err != nil {
			return nil, unreadable("TOML", fmt.Errorf("line %d: %w", 1+bytes.Count(text[:min(r.pos, len(text))], []byte{'\n'}), err))
		}
	}
	return sections, nil
}

type tomlReader struct {
	text []byte
	pos  int
}

func (r *tomlReader) at(prefix string) bool { return bytes.HasPrefix(r.text[r.pos:], []byte(prefix)) }

// space skips white space, and with lines also comments and ends of lines.
func (r *tomlReader) space(lines bool) {
	for r.pos < len(r.text) {
		switch c := r.text[r.pos]; {
		case c == ' ' || c == '\t':
			r.pos++
		case lines && (c == '\n' || c == '\r'):
			r.pos++
		case lines && c == '#':
			r.line()
		default:
			return
		}
	}
}

// line skips to the end of the line.
func (r *tomlReader) line() {
	for r.pos < len(r.text) && r.text[r.pos] != '\n' {
		r.pos++
	}
}

func (r *tomlReader) expression(sections *[]section) error {
	begin := bytes.LastIndexByte(r.text[:r.pos], '\n') + 1
	if r.at("[") {
		s := section{start: begin, array: r.at("[[")}
		r.pos += len("[")
		if s.array {
			r.pos += len("[")
		}
		var err error
		if s.path, err = r.key(); err != nil {
			return err
		}
		r.line()
		s.end = min(r.pos+1, len(r.text))
		*sections = append(*sections, s)
		return nil
	}
	k := tomlKey{start: r.pos}
	var err error
	if k.path, err = r.key(); err != nil {
		return err
	}
	if !r.at("=") {
		return fmt.Errorf("an equals sign is missing")
	}
	r.pos++
	r.space(false)
	k.value = r.pos
	if err := r.value(); err != nil {
		return err
	}
	k.end = r.pos
	r.line()
	last := &(*sections)[len(*sections)-1]
	last.keys = append(last.keys, k)
	last.end = min(r.pos+1, len(r.text))
	return nil
}

// key reads a key, dotted or not, and the white space behind it.
func (r *tomlReader) key() ([]string, error) {
	var path []string
	for {
		r.space(false)
		begin := r.pos
		switch {
		case r.at(`"`):
			if err := r.skipQuoted(`"`); err != nil {
				return nil, err
			}
			part, err := strconv.Unquote(string(r.text[begin:r.pos]))
			if err != nil {
				return nil, fmt.Errorf("the key %s is not well formed", r.text[begin:r.pos])
			}
			path = append(path, part)
		case r.at(`'`):
			if err := r.skipQuoted(`'`); err != nil {
				return nil, err
			}
			path = append(path, string(r.text[begin+1:r.pos-1]))
		default:
			for r.pos < len(r.text) && !strings.ContainsRune(" \t\r\n.=]", rune(r.text[r.pos])) {
				r.pos++
			}
			path = append(path, string(r.text[begin:r.pos]))
		}
		r.space(false)
		if !r.at(".") {
			return path, nil
		}
		r.pos++
	}
}

// value skips a value: to the end of its line, or of what it opens.
func (r *tomlReader) value() error {
	depth, end := 0, r.pos
	for r.pos < len(r.text) {
		switch c := r.text[r.pos]; c {
		case '"', '\'':
			quote := string(c)
			if r.at(strings.Repeat(quote, 3)) {
				quote = strings.Repeat(quote, 3)
			}
			if err := r.skipQuoted(quote); err != nil {
				return err
			}
			end = r.pos
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '#':
			if depth == 0 {
				r.pos = end
				return nil
			}
			r.line()
			continue
		case '\n':
			if depth == 0 {
				r.pos = end
				return nil
			}
		case ' ', '\t', '\r':
			r.pos++
			continue
		}
		r.pos++
		end = r.pos
	}
	r.pos = end
	return nil
}

// skipQuoted skips a text with its quotes, which may be three.
func (r *tomlReader) skipQuoted(quote string) error {
	for r.pos += len(quote); r.pos < len(r.text); r.pos++ {
		switch {
		case r.text[r.pos] == '\\' && quote[0] == '"':
			r.pos++
		case r.at(quote):
			r.pos += len(quote)
			// Up to two more quotes may belong to the text before the three that end it.
			for len(quote) == 3 && r.at(quote[:1]) {
				r.pos++
			}
			return nil
		}
	}
	r.pos = len(r.text)
	return fmt.Errorf("a text does not end")
}
