package rest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// A node is an object of the document, its keys in their order.
type node []entry

type entry struct {
	key   string
	value any // string, bool, int, []string, []node, node
}

func (n node) with(key string, value any) node { return append(n, entry{key, value}) }

// unless adds a text that is not empty.
func (n node) unless(key, value string) node {
	if value == "" {
		return n
	}
	return n.with(key, value)
}

// shapes are the schemas of everything on the wire, made from the Go types.
type shapes struct {
	source
	named map[string]node
}

// forms are types of which JSON shows something else than their fields.
var forms = map[reflect.Type]node{
	reflect.TypeFor[time.Time]():       {{"type", "string"}, {"format", "date-time"}},
	reflect.TypeFor[json.RawMessage](): {{"type", "object"}}, // metadata
	reflect.TypeFor[dialect.Payload](): {},                   // a text, or any other JSON value
	reflect.TypeFor[[]byte]():          {{"type", "string"}, {"format", "binary"}},
}

// besides are fields that a type has on the wire alone.
var besides = map[reflect.Type]reflect.Type{
	reflect.TypeFor[c3po.Error](): reflect.TypeFor[struct {
		Retry c3po.Retry `json:"retry" jsonschema:"Whether the same request may be made again"`
	}](),
}

// patterns are texts of a form.
var patterns = map[reflect.Type]string{
	reflect.TypeFor[c3po.AgentID]():   `^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}(/[A-Za-z0-9][A-Za-z0-9_.-]{0,63})?$`,
	reflect.TypeFor[c3po.MessageID](): `^[^:]+::[^:]+::[0-9a-f]{8}$`,
	reflect.TypeFor[c3po.Space]():     `^[a-z0-9][a-z0-9._-]{0,63}$`,
}

// of is the schema of a type as others refer to it. Of the dialects, whose types
// share names with ours, prefix says which it is.
func (s *shapes) of(t reflect.Type, prefix string) node {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if form, known := forms[t]; known {
		return form
	}
	switch t.Kind() {
	case reflect.Slice:
		return node{{"type", "array"}, {"items", s.of(t.Elem(), prefix)}}
	case reflect.Bool:
		return node{{"type", "boolean"}}
	case reflect.Int, reflect.Int64:
		return node{{"type", "integer"}}
	case reflect.Map:
		return node{{"type", "object"}}
	case reflect.String:
		words := s.words[nameIn(t)]
		if patterns[t] == "" && len(words) == 0 || t == reflect.TypeFor[c3po.RoomName]() {
			return node{{"type", "string"}}
		}
		return s.refer(t, "")
	case reflect.Struct:
		return s.refer(t, prefix)
	default:
		panic("no schema of " + t.String())
	}
}

// refer names a type in the document, and describes it there.
func (s *shapes) refer(t reflect.Type, prefix string) node {
	name := capitalised(t.Name())
	if t.PkgPath() == reflect.TypeFor[dialect.Ticket]().PkgPath() {
		name = prefix + name
	}
	if _, done := s.named[name]; !done {
		s.named[name] = nil // it may hold itself
		s.named[name] = s.describe(t, name, prefix)
	}
	return reference("schemas", name)
}

func reference(kind, name string) node { return node{{"$ref", "#/components/" + kind + "/" + name}} }

func (s *shapes) describe(t reflect.Type, name, prefix string) node {
	said := s.sentences[nameIn(t)]
	for _, article := range []string{"A ", "An ", ""} {
		if rest, own := strings.CutPrefix(said, article+t.Name()+" "); own {
			said = capitalised(article+name) + " " + rest
			break
		}
	}
	n := node{}.unless("description", said)
	if t.Kind() == reflect.String {
		n = n.with("type", "string").unless("pattern", patterns[t])
		if words := s.words[nameIn(t)]; len(words) > 0 && patterns[t] == "" {
			n = n.with("enum", words)
		}
		return n
	}
	if several, ok := reflect.Zero(t).Interface().(interface{ Forms() []any }); ok {
		var all []node
		for _, form := range several.Forms() {
			all = append(all, s.of(reflect.TypeOf(form), prefix))
		}
		return n.with("oneOf", all)
	}
	var required []string
	properties := node{}
	all := fieldsOf(t)
	if more := besides[t]; more != nil {
		all = append(all, fieldsOf(more)...)
	}
	for _, f := range all {
		if f.always {
			required = append(required, f.name)
		}
		properties = properties.with(f.name, s.property(f, prefix))
	}
	n = n.with("type", "object")
	if len(required) > 0 {
		n = n.with("required", required)
	}
	if len(properties) > 0 {
		n = n.with("properties", properties)
	}
	return n
}

// property is the schema of a field, with what is said of it: by the tag that
// tools have too, or beside it. The tags enum, range and form say what its type
// does not.
func (s *shapes) property(f field, prefix string) node {
	n := s.of(f.Type, prefix)
	switch words := f.Tag.Get("enum"); {
	case words == "any":
		n = node{{"type", "string"}}
	case words != "":
		n = node{{"type", "string"}, {"enum", strings.Split(words, ",")}}
	}
	if f.Type.Kind() == reflect.Pointer && f.always {
		n = orNull(n)
	}
	n = slices.Clone(n).unless("pattern", f.Tag.Get("form"))
	for i, bound := range strings.Split(f.Tag.Get("range"), ",") {
		if bound != "" {
			n = n.with([]string{"minimum", "maximum"}[i], json.Number(bound))
		}
	}
	said := f.Tag.Get("jsonschema")
	if said == "" {
		said = capitalised(s.fields[nameIn(f.in)+"."+f.Name])
	}
	return n.unless("description", said)
}

func orNull(n node) node {
	if n[0].key == "type" {
		return append(node{{"type", []string{n[0].value.(string), "null"}}}, n[1:]...)
	}
	return node{{"oneOf", []node{n, {{"type", "null"}}}}}
}

// A field as JSON shows it.
type field struct {
	reflect.StructField
	in     reflect.Type // which declares it
	name   string
	always bool
	depth  int
}

// fieldsOf are the fields of a struct and of those in it that have no name of
// their own. Of two with one name JSON shows the outer.
func fieldsOf(t reflect.Type) []field {
	var all []field
	collect(t, 0, nil, &all)
	outer := map[string]int{}
	for _, f := range all {
		if depth, known := outer[f.name]; !known || f.depth < depth {
			outer[f.name] = f.depth
		}
	}
	return slices.DeleteFunc(all, func(f field) bool { return f.depth > outer[f.name] })
}

// collect also takes the names that a struct around this one says are always there.
func collect(t reflect.Type, depth int, always []string, into *[]field) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "":
			collect(f.Type, depth+1, append(strings.Split(f.Tag.Get("always"), ","), always...), into)
			continue
		}
		leaves := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		*into = append(*into, field{f, t, name, !leaves || f.Tag.Get("always") == "true" || slices.Contains(always, name), depth})
	}
}

// sorted are the schemas by name.
func (s *shapes) sorted() node {
	all := node{}
	for _, name := range slices.Sorted(maps.Keys(s.named)) {
		all = all.with(name, s.named[name])
	}
	return all
}

// close says that a body holds nothing that is not known.
func (s *shapes) close(name string) {
	n := s.named[name]
	at := slices.IndexFunc(n, func(e entry) bool { return e.key == "type" })
	if at < 0 {
		panic(fmt.Sprintf("%s is no object", name))
	}
	if !slices.ContainsFunc(n, func(e entry) bool { return e.key == "additionalProperties" }) {
		s.named[name] = slices.Insert(slices.Clone(n), at+1, entry{"additionalProperties", false})
	}
}
