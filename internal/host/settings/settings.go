// Package settings reads c3po.yaml, the file of a person's settings. It is
// strict: a key that means nothing is an error that names its line and the key
// that was probably meant, because a setting that is quietly ignored is found
// out too late.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/c3po-dev/c3po/c3po"
)

// Name is what the file is called in the folder of settings.
const Name = "c3po.yaml"

// limitsKey is the key that holds the limits.
const limitsKey = "limits"

// maxFileBytes is more than any file of settings has.
const maxFileBytes = 1 << 20

// A File is what was set, by key. What stands under another key is called with
// both: limits.sends_per_minute.
type File struct {
	Path   string
	values map[string]Value
	groups map[string][]string // keys that hold keys of their own
}

// A Value is what a key was set to, as it would be written for a flag.
type Value struct {
	Text string
	Line int
}

// Get looks a key up. A File that is nil has none.
func (f *File) Get(key string) (Value, bool) {
	if f == nil {
		return Value{}, false
	}
	v, ok := f.values[key]
	return v, ok
}

// Limits are the default ones with what the file says of them.
func (f *File) Limits() c3po.Limits {
	limits := c3po.DefaultLimits()
	for _, name := range LimitNames() {
		if v, ok := f.Get(limitsKey + "." + name); ok {
			_ = SetLimit(&limits, name, v.Text) // Read has tried it
		}
	}
	return limits
}

// Read reads a file in which the given keys, and limits, may be set; "a.b" is b
// under a. A file that is not there sets nothing: nil.
func Read(path string, keys []string) (*File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && info.Size() > maxFileBytes {
		return nil, refuse(path, 1, "this is no file of settings: it has %d bytes", info.Size()).Suggest("Move it away.")
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, c3po.Errorf(c3po.InvalidRequest, "cannot read %s: %w", path, err).Suggest("Check who owns it.")
	}
	return Parse(path, data, keys)
}

// Parse is Read for what has been read; path is what errors call it.
func Parse(path string, data []byte, keys []string) (*File, error) {
	f := &File{Path: path, values: map[string]Value{}, groups: map[string][]string{limitsKey: LimitNames()}}
	known := []string{limitsKey}
	for _, key := range keys {
		group, name, under := strings.Cut(key, ".")
		if under {
			f.groups[group] = append(f.groups[group], name)
		}
		if !slices.Contains(known, group) {
			known = append(known, group)
		}
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, f.misspelt(err)
	}
	for i, doc := range tree.Docs {
		if doc.Body == nil {
			continue
		}
		if i > 0 {
			return nil, refuse(path, lineOf(doc.Body), "there is a second document").Suggest("Keep all settings in one, without ---.")
		}
		if err := f.mapping(doc.Body, "", known); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// misspelt is an error of the YAML itself.
func (f *File) misspelt(err error) error {
	line, sentence := 1, err.Error()
	if where, ok := errors.AsType[yaml.Error](err); ok {
		sentence = where.GetMessage()
		if token := where.GetToken(); token != nil && token.Position != nil {
			line = token.Position.Line
		}
	}
	sentence, _, _ = strings.Cut(sentence, "\n")
	return refuse(f.Path, line, "this is not YAML: %s", sentence).Suggest("A setting is written `key: value`; keys of limits are indented.")
}

// mapping takes the keys of one level.
func (f *File) mapping(node ast.Node, under string, known []string) error {
	var pairs []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	case *ast.NullNode:
	default:
		what := "the file"
		if under != "" {
			what = under
		}
		return refuse(f.Path, lineOf(node), "%s holds no keys", what).Suggest("Write each setting as `key: value` on a separate line.")
	}
	for _, pair := range pairs {
		if err := f.pair(pair, under, known); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) pair(pair *ast.MappingValueNode, under string, known []string) error {
	key, line := pair.Key.String(), lineOf(pair.Key)
	full := key
	if under != "" {
		full = under + "." + key
	}
	if !slices.Contains(known, key) {
		return refuse(f.Path, line, "there is no setting %.80q", full).Suggest("%s", advice(key, under, known))
	}
	if names := f.groups[key]; under == "" && names != nil {
		return f.mapping(pair.Value, key, names)
	}
	text, err := f.text(full, pair.Value)
	if err != nil {
		return err
	}
	if under == limitsKey {
		limits := c3po.DefaultLimits()
		if err := SetLimit(&limits, key, text); err != nil {
			return refuse(f.Path, line, "%s", err.Error()).Suggest("%s", c3po.AsError(err).Suggestion)
		}
	}
	f.values[full] = Value{Text: text, Line: line}
	return nil
}

// text is a value as a flag would take it: a list is separated by commas.
func (f *File) text(key string, node ast.Node) (string, error) {
	switch n := node.(type) {
	case *ast.NullNode:
		return "", nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.SequenceNode:
		var parts []string
		for _, part := range n.Values {
			text, err := f.text(key, part)
			if err != nil {
				return "", err
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, ","), nil
	case *ast.StringNode:
		return n.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, nil
	default: // also anchors and tags: settings are too few to be abbreviated
		return "", refuse(f.Path, lineOf(node), "%s takes one value or a list of them", key).Suggest("Write `%s: value`.", key)
	}
}

func lineOf(node ast.Node) int {
	if token := node.GetToken(); token != nil && token.Position != nil {
		return token.Position.Line
	}
	return 1
}

func refuse(path string, line int, format string, args ...any) *c3po.Error {
	return c3po.Errorf(c3po.InvalidRequest, "%s:%d: %s", path, line, fmt.Sprintf(format, args...))
}
