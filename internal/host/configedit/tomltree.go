package configedit

import (
	"bytes"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
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
	value, end int // where its value begins and ends
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
	var parser unstable.Parser
	parser.Reset(text)
	sections := []section{{}}
	for parser.NextExpression() {
		node := parser.Expression()
		path, from, to := tomlPath(node)
		if node.Kind == unstable.KeyValue {
			end := int(node.Raw.Offset + node.Raw.Length)
			value := to + bytes.IndexByte(text[to:], '=') + 1
			value += len(text[value:end]) - len(bytes.TrimLeft(text[value:end], " \t"))
			last := &sections[len(sections)-1]
			last.keys = append(last.keys, tomlKey{path: path, value: value, end: end})
			last.end = endOfLine(text, end)
			continue
		}
		sections = append(sections, section{
			path: path, array: node.Kind == unstable.ArrayTable,
			start: bytes.LastIndexByte(text[:from], '\n') + 1, end: endOfLine(text, to),
		})
	}
	if err := parser.Error(); err != nil {
		return nil, unreadable("TOML", err)
	}
	return sections, nil
}

// tomlPath is the key of an expression, and where it stands.
func tomlPath(node *unstable.Node) (path []string, from, to int) {
	for parts := node.Key(); parts.Next(); {
		part := parts.Node()
		if path == nil {
			from = int(part.Raw.Offset)
		}
		path, to = append(path, string(part.Data)), int(part.Raw.Offset+part.Raw.Length)
	}
	return path, from, to
}

// endOfLine is where the line after a place begins.
func endOfLine(text []byte, from int) int {
	if n := bytes.IndexByte(text[from:], '\n'); n >= 0 {
		return from + n + 1
	}
	return len(text)
}
