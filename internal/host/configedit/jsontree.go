package configedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// A node is one value of a JSON text with comments, and where it stands.
type node struct {
	start, end int
	open       byte // '{' or '[' of what holds items
	items      []item
	rest       int // of what holds items: where the last of them, or its comma, ends
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

// DecodeJSON reads what a file means, be it with comments. An empty one means
// nothing.
func DecodeJSON(text []byte, into any) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	root, err := parseJSON(text)
	if err != nil {
		return err
	}
	root.Standardize()
	if err := json.Unmarshal(root.Pack(), into); err != nil {
		return unreadable("JSON", err)
	}
	return nil
}

// maxBrackets bounds how deep a file can be nested, since reading it takes the
// stack. No file of a person's has so many.
const maxBrackets = 100_000

// parseJSON reads JSON with comments and trailing commas, which is a superset of
// JSON.
func parseJSON(text []byte) (hujson.Value, error) {
	if bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) > maxBrackets {
		return hujson.Value{}, unreadable("JSON", errors.New("it is nested too deeply"))
	}
	root, err := hujson.Parse(plain(text))
	if err != nil {
		return root, unreadable("JSON", errors.New(strings.TrimPrefix(err.Error(), "hujson: ")))
	}
	for v := range root.All() {
		if _, scalar := v.Value.(hujson.Literal); scalar {
			v.Value = hujson.Literal(text[v.StartOffset:v.EndOffset])
		}
	}
	return root, nil
}

// plain is a text with comments that the library takes: a comment may end with the
// file, and have any bytes in it. Everything keeps its place.
func plain(text []byte) []byte {
	text = append(slices.Clone(text), '\n')
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case i == 0 && r == '\ufeff':
			copy(text, "   ")
		case r == utf8.RuneError && n == 1, r == '\u2028', r == '\u2029':
			copy(text[i:], "???"[:n]) // which is nothing outside of comments and strings
		}
		i += n
	}
	return text
}

func readJSON(text []byte) (node, error) {
	root, err := parseJSON(text)
	return nodeOf(root), err
}

func nodeOf(v hujson.Value) node {
	n := node{start: v.StartOffset, end: v.EndOffset, rest: v.StartOffset + 1}
	switch holds := v.Value.(type) {
	case *hujson.Object:
		n.open = '{'
		for i, m := range holds.Members {
			n.take(item{start: m.Name.StartOffset, key: m.Name.Value.(hujson.Literal).String()}, m.Value, i+1 == len(holds.Members))
		}
	case *hujson.Array:
		n.open = '['
		for i, e := range holds.Elements {
			n.take(item{start: e.StartOffset}, e, i+1 == len(holds.Elements))
		}
	}
	return n
}

// take adds an item. The last one may have no comma, and nothing behind it then.
func (n *node) take(it item, v hujson.Value, last bool) {
	it.value, it.comma, n.rest = nodeOf(v), -1, v.EndOffset
	if !last || v.AfterExtra != nil {
		it.comma = v.EndOffset + len(v.AfterExtra)
		n.rest = it.comma + 1
	}
	n.items = append(n.items, it)
}
