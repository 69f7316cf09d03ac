package configedit

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A node is one value of a JSON text with comments, and where it stands.
type node struct {
	start, end int
	open       byte // '{' or '[' of what holds items
	items      []item
}

// An item is a member of an object or an element of an array.
type item struct {
	start int    // of its key, or of its value where there is none
	key   string // of a member
	value node
	comma int // where the comma after it is; -1 if there is none
}

func (n node) member(key string) (int, bool) {
	for i := len(n.items) - 1; i >= 0; i-- { // of two of the same name the last one counts
		if n.open == '{' && n.items[i].key == key {
			return i, true
		}
	}
	return 0, false
}

// at finds the value of a path of keys.
func (n node) at(path []string) (node, bool) {
	for _, key := range path {
		i, ok := n.member(key)
		if !ok {
			return node{}, false
		}
		n = n.items[i].value
	}
	return n, true
}

// A jsonReader reads JSON with comments and trailing commas, which is a superset
// of JSON. Its position is always at the next byte that is not read.
type jsonReader struct {
	text []byte
	pos  int
}

const depthMost = 200

// DecodeJSON reads what a file means, be it with comments. An empty one means
// nothing.
func DecodeJSON(text []byte, into any) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	root, err := readJSON(text)
	if err != nil {
		return err
	}
	plain, err := json.Marshal(meaning(string(text), root))
	if err == nil {
		err = json.Unmarshal(plain, into)
	}
	if err != nil {
		return unreadable("JSON", err)
	}
	return nil
}

func readJSON(text []byte) (node, error) {
	r := &jsonReader{text: text}
	if len(text) >= 3 && string(text[:3]) == "\ufeff" {
		r.pos = 3
	}
	if err := r.space(); err != nil {
		return node{}, unreadable("JSON", err)
	}
	root, err := r.value(0)
	if err == nil {
		err = r.space()
	}
	if err == nil && r.pos < len(text) {
		err = r.fault("more follows after the value")
	}
	if err != nil {
		return node{}, unreadable("JSON", err)
	}
	return root, nil
}

func (r *jsonReader) fault(words string) error {
	line := 1
	for _, b := range r.text[:min(r.pos, len(r.text))] {
		if b == '\n' {
			line++
		}
	}
	return fmt.Errorf("line %d: %s", line, words)
}

func (r *jsonReader) peek() byte {
	if r.pos >= len(r.text) {
		return 0
	}
	return r.text[r.pos]
}

// space skips white space and comments.
func (r *jsonReader) space() error {
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case ' ', '\t', '\r', '\n':
			r.pos++
		case '/':
			if err := r.comment(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

func (r *jsonReader) comment() error {
	rest := string(r.text[r.pos:min(r.pos+2, len(r.text))])
	switch rest {
	case "//":
		for r.pos < len(r.text) && r.text[r.pos] != '\n' {
			r.pos++
		}
		return nil
	case "/*":
		for i := r.pos + 2; i+1 < len(r.text); i++ {
			if r.text[i] == '*' && r.text[i+1] == '/' {
				r.pos = i + 2
				return nil
			}
		}
		return r.fault("a comment does not end")
	}
	return r.fault("there is a stray /")
}

func (r *jsonReader) value(depth int) (node, error) {
	if depth > depthMost {
		return node{}, r.fault("it is nested too deeply")
	}
	n := node{start: r.pos}
	switch c := r.peek(); c {
	case '{', '[':
		n.open = c
		r.pos++
		if err := r.itemsOf(&n, depth); err != nil {
			return n, err
		}
	case '"':
		if _, err := r.str(); err != nil {
			return n, err
		}
	default:
		for r.pos < len(r.text) && wordByte(r.text[r.pos]) {
			r.pos++
		}
		if !json.Valid(r.text[n.start:r.pos]) {
			return n, r.fault("a value is expected")
		}
	}
	n.end = r.pos
	return n, nil
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'
}

func (r *jsonReader) str() (string, error) {
	begin := r.pos
	for r.pos++; r.pos < len(r.text); r.pos++ {
		switch r.text[r.pos] {
		case '\\':
			r.pos++
		case '"':
			r.pos++
			var text string
			if err := json.Unmarshal(r.text[begin:r.pos], &text); err != nil {
				return "", r.fault("a text is not well formed")
			}
			return text, nil
		}
	}
	r.pos = len(r.text)
	return "", r.fault("a text does not end")
}

// itemsOf reads what a container holds, up to and with its end.
func (r *jsonReader) itemsOf(n *node, depth int) error {
	closing := byte('}')
	if n.open == '[' {
		closing = ']'
	}
	for {
		if err := r.space(); err != nil {
			return err
		}
		if r.peek() == closing {
			r.pos++
			return nil
		}
		if len(n.items) > 0 && n.items[len(n.items)-1].comma < 0 {
			return r.fault("a comma is missing")
		}
		it := item{start: r.pos, comma: -1}
		if n.open == '{' {
			if err := r.key(&it); err != nil {
				return err
			}
		}
		var err error
		if it.value, err = r.value(depth + 1); err != nil {
			return err
		}
		if err := r.space(); err != nil {
			return err
		}
		if r.peek() == ',' {
			it.comma = r.pos
			r.pos++
		}
		n.items = append(n.items, it)
	}
}

func (r *jsonReader) key(it *item) (err error) {
	if r.peek() != '"' {
		return r.fault("a key is expected")
	}
	if it.key, err = r.str(); err != nil {
		return err
	}
	if err = r.space(); err != nil {
		return err
	}
	if r.peek() != ':' {
		return r.fault("a colon is missing")
	}
	r.pos++
	return r.space()
}
