package agentfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/c3po-dev/c3po/c3po"
)

// A reader turns nodes of the file into values, and knows where each stands.
type reader struct{ Config }

// A key may stand in a mapping; set takes what was written for it.
type key struct {
	name string
	set  func(r reader, value ast.Node) error
}

// place is where something stands.
type place struct {
	path         string
	line, column int
}

func (p place) refuse(format string, args ...any) *c3po.Error {
	return c3po.Errorf(c3po.InvalidRequest, "%s:%d:%d: %s", p.path, p.line, p.column, fmt.Sprintf(format, args...))
}

func (r reader) at(node ast.Node) place {
	p := place{r.Path, 1, 1}
	if node == nil {
		return p
	}
	if token := node.GetToken(); token != nil && token.Position != nil {
		p.line, p.column = token.Position.Line, token.Position.Column
	}
	return p
}

// misspelt is an error of the YAML itself.
func (r reader) misspelt(err error) error {
	p, sentence := place{r.Path, 1, 1}, err.Error()
	if where, ok := errors.AsType[yaml.Error](err); ok {
		sentence = where.GetMessage()
		if token := where.GetToken(); token != nil && token.Position != nil {
			p.line, p.column = token.Position.Line, token.Position.Column
		}
	}
	sentence, _, _ = strings.Cut(sentence, "\n")
	return p.refuse("this is not YAML: %s", sentence).
		Suggest("An agent is written `name: ~/folder`, or as a block of indented keys; a text with : or # in it needs quotes.")
}

// pairs are the entries of a mapping; what names it in an error.
func (r reader) pairs(node ast.Node, what string) ([]*ast.MappingValueNode, error) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil
	case *ast.NullNode:
		return nil, nil
	default:
		return nil, r.at(node).refuse("%s holds no keys", what).Suggest("Write `key: value` on a separate line.")
	}
}

// key is the name that a pair is set under.
func (r reader) key(pair *ast.MappingValueNode) (string, error) {
	switch k := pair.Key.(type) {
	case *ast.StringNode:
		return k.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode: // an agent may be called 7
		return k.GetToken().Value, nil
	default:
		return "", r.at(pair.Key).refuse("this is no key").Suggest("Write `key: value`; anchors and merges are not taken.")
	}
}

// fill sets the keys of a mapping. What is not there keeps its default.
func (r reader) fill(node ast.Node, what string, keys []key) error {
	pairs, err := r.pairs(node, what)
	if err != nil {
		return err
	}
	for _, pair := range pairs {
		name, err := r.key(pair)
		if err != nil {
			return err
		}
		var names []string
		found := false
		for _, k := range keys {
			names = append(names, k.name)
			if k.name != name {
				continue
			}
			found = true
			if err := r.set(pair.Value, k); err != nil {
				return err
			}
		}
		if found {
			continue
		}
		refused := r.at(pair.Key).refuse("%s has no key %.80q", what, name)
		if near := nearest(name, names); near != "" {
			return refused.Suggest("Did you mean %s?", near)
		}
		return refused.Suggest("It may have: %s.", strings.Join(names, ", "))
	}
	return nil
}

// set gives a value to its key. A key that is written without one is most often
// a line that lost its rest.
func (r reader) set(value ast.Node, k key) error {
	if _, empty := value.(*ast.NullNode); empty || value == nil {
		return r.at(value).refuse("%s has no value", k.name).Suggest("Write it as `%s: value`, or take the line out.", k.name)
	}
	return k.set(r, value)
}

// text is a scalar as it was written.
func (r reader) text(node ast.Node, what string) (string, error) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, nil
	default:
		return "", r.at(node).refuse("%s takes one text", what).Suggest("Write `%s: value`; anchors and tags are not taken.", what)
	}
}

// texts is a list of scalars, or one that stands for a list of one.
func (r reader) texts(node ast.Node, what string) ([]string, error) {
	list, many := node.(*ast.SequenceNode)
	if !many {
		text, err := r.text(node, what)
		if err == nil && strings.TrimSpace(text) == "" {
			return nil, r.at(node).refuse("%s has an empty entry", what).Suggest("Take it out.")
		}
		return []string{text}, err
	}
	var all []string
	for _, value := range list.Values {
		if _, inner := value.(*ast.SequenceNode); inner {
			return nil, r.at(value).refuse("%s takes a list of texts", what).Suggest("Write each on a separate line after a dash.")
		}
		one, err := r.texts(value, what)
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	return all, nil
}

// nearest is the name that was probably meant, if one is near enough.
func nearest(name string, known []string) string {
	best, least := "", 1+len(name)/2 // further away it is another word
	for _, candidate := range known {
		if d := c3po.EditDistance(strings.ToLower(strings.ReplaceAll(name, "-", "_")), candidate); d < least {
			best, least = candidate, d
		}
	}
	return best
}
