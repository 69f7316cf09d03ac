package configedit

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// JSON is what of ours stands in a JSON file, with or without comments.
type JSON struct {
	Members  []Member
	Elements []Element
}

// A Member is a value at a path of keys. Objects on the way are made.
type Member struct {
	Path  []string
	Value any
}

// An Element is one of the array at a path of keys, which is made if it is not
// there. Those whose text has the mark are ours.
type Element struct {
	Path  []string
	Value any
	Mark  string
}

// Add puts in what is not there, and sets right what is there and differs.
func (j JSON) Add(text []byte) ([]byte, []Undo, error) {
	e := &jsonEdit{text: text}
	if len(bytes.TrimSpace(text)) == 0 {
		e.note(nil, ref(string(text)))
		e.text = []byte("{}\n")
	}
	for _, m := range j.Members {
		if err := e.set(m); err != nil {
			return nil, nil, err
		}
	}
	for _, el := range j.Elements {
		if err := e.appendTo(el); err != nil {
			return nil, nil, err
		}
	}
	_, err := readJSON(e.text)
	return e.text, e.undo, err
}

// Remove takes out what Add has put in; undo is what Add has said.
func (j JSON) Remove(text []byte, undo []Undo) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return text, nil
	}
	e := &jsonEdit{text: text, undo: undo}
	for _, el := range slices.Backward(j.Elements) {
		if err := e.withdraw(el); err != nil {
			return nil, err
		}
	}
	for _, m := range slices.Backward(j.Members) {
		if err := e.unset(m.Path); err != nil {
			return nil, err
		}
	}
	if len(bytes.TrimSpace(e.text)) > 0 { // else the file was empty before
		if _, err := readJSON(e.text); err != nil {
			return nil, err
		}
	}
	return e.text, nil
}

func ref(text string) *string { return &text }

// A jsonEdit is a text that is being changed.
type jsonEdit struct {
	text []byte
	undo []Undo
}

// note remembers how a place was. The first word about it counts.
func (e *jsonEdit) note(path []string, was *string) {
	if _, known := e.valueBefore(path); !known {
		e.undo = append(e.undo, Undo{Path: slices.Clone(path), Was: was})
	}
}

func (e *jsonEdit) valueBefore(path []string) (was *string, known bool) {
	for _, u := range e.undo {
		if slices.Equal(u.Path, path) {
			return u.Was, true
		}
	}
	return nil, false
}

func (e *jsonEdit) splice(from, to int, with string) {
	e.text = slices.Concat(e.text[:from], []byte(with), e.text[to:])
}

func (e *jsonEdit) raw(n node) string { return string(e.text[n.start:n.end]) }

func (e *jsonEdit) root() (node, error) {
	root, err := readJSON(e.text)
	if err == nil && root.open != '{' {
		err = c3po.Errorf(c3po.InvalidRequest, "it holds no JSON object").Suggest("Mend the file first; nothing was changed.")
	}
	return root, err
}

func (e *jsonEdit) set(m Member) error {
	root, err := e.root()
	if err != nil {
		return err
	}
	if there, ok := root.at(m.Path); ok {
		if same(e.raw(there), m.Value) {
			return nil
		}
		e.note(m.Path, ref(e.raw(there)))
		text, err := render(m.Value, e.lineIndent(there.start), e.unit(), e.newline())
		if err == nil {
			e.splice(there.start, there.end, text)
		}
		return err
	}
	return e.make(root, m.Path, m.Value)
}

// make puts a member where none is, with the objects on the way to it.
func (e *jsonEdit) make(root node, path []string, value any) error {
	depth, at := 0, root
	for ; depth < len(path)-1; depth++ {
		i, ok := at.member(path[depth])
		if !ok {
			break
		}
		at = at.items[i].value
	}
	if at.open != '{' {
		return c3po.Errorf(c3po.InvalidRequest, "%s is not an object there", strings.Join(path[:depth], ".")).
			Suggest("Make it one, or take it out; nothing was changed.")
	}
	for i := len(path) - 1; i > depth; i-- {
		value = map[string]any{path[i]: value}
	}
	if len(at.items) == 0 {
		e.note(path[:depth], ref(e.raw(at)))
	}
	for i := depth + 1; i < len(path); i++ {
		e.note(path[:i], nil)
	}
	return e.insert(at, path[depth], value)
}

func (e *jsonEdit) appendTo(el Element) error {
	root, err := e.root()
	if err != nil {
		return err
	}
	array, ok := root.at(el.Path)
	if !ok {
		if err := e.make(root, el.Path, []any{el.Value}); err != nil {
			return err
		}
		e.note(el.Path, nil)
		return nil
	}
	if array.open != '[' {
		return c3po.Errorf(c3po.InvalidRequest, "%s is not a list there", strings.Join(el.Path, ".")).
			Suggest("Make it one, or take it out; nothing was changed.")
	}
	for _, it := range array.items {
		if !strings.Contains(e.raw(it.value), el.Mark) {
			continue
		}
		if same(e.raw(it.value), el.Value) {
			return nil
		}
		text, err := render(el.Value, e.lineIndent(it.start), e.unit(), e.newline())
		if err == nil {
			e.splice(it.value.start, it.value.end, text)
		}
		return err
	}
	if len(array.items) == 0 {
		e.note(el.Path, ref(e.raw(array)))
	}
	return e.insert(array, "", el.Value)
}

// insert puts an item behind the last one of a container, in the style of the
// others: on a line of its own if they have one, with a comma if they all have.
func (e *jsonEdit) insert(in node, key string, value any) error {
	end, behindLine := e.lastOf(in)
	indent, gap, inLine, after := "", " ", false, ""
	switch {
	case len(in.items) == 0:
		outer := e.lineIndent(in.start)
		indent = outer + e.unit()
		gap, after = e.newline()+indent, e.newline()+outer
	case bytes.ContainsRune(e.text[in.start:in.items[0].start], '\n') || behindLine:
		indent = e.lineIndent(in.items[0].start)
		gap = e.newline() + indent
	default:
		inLine = true
	}
	unit := e.unit()
	if inLine {
		unit = ""
	}
	text, err := render(value, indent, unit, e.newline())
	if err != nil {
		return err
	}
	if in.open == '{' {
		name, err := render(key, "", "", "")
		if err != nil {
			return err
		}
		text = name + ": " + text
	}
	if len(in.items) == 0 {
		e.splice(end, in.end-1, gap+text+after)
		return nil
	}
	last := in.items[len(in.items)-1]
	if last.comma >= 0 {
		e.splice(end, end, gap+text+",")
		return nil
	}
	e.splice(end, end, gap+text)
	e.splice(last.value.end, last.value.end, ",")
	return nil
}

// lastOf is the end of the last thing in a container, be it a comment, and says
// whether it is one that ends with its line.
func (e *jsonEdit) lastOf(in node) (end int, lineComment bool) {
	end = in.rest
	for at := end; ; at = end {
		begin := bytes.IndexByte(e.text[at:in.end-1], '/') + at
		if begin < at {
			return end, lineComment
		}
		closing := "*/"
		if lineComment = e.text[begin+1] == '/'; lineComment {
			closing = "\n"
		}
		end = begin + 2 + bytes.Index(e.text[begin+2:], []byte(closing)) + len(closing)
		if lineComment {
			end = begin + len(bytes.TrimRight(e.text[begin:end], " \t\r\n"))
		}
	}
}

func (e *jsonEdit) unset(path []string) error {
	root, err := e.root()
	if err != nil {
		return err
	}
	there, ok := root.at(path)
	if !ok {
		return nil
	}
	if was, known := e.valueBefore(path); known && was != nil {
		e.splice(there.start, there.end, *was)
		return nil
	}
	parent, _ := root.at(path[:len(path)-1])
	i, _ := parent.member(path[len(path)-1])
	e.cut(parent, i)
	return e.prune(path[:len(path)-1])
}

func (e *jsonEdit) withdraw(el Element) error {
	for {
		root, err := e.root()
		if err != nil {
			return err
		}
		array, ok := root.at(el.Path)
		if !ok || array.open != '[' {
			return nil
		}
		i := slices.IndexFunc(array.items, func(it item) bool { return strings.Contains(e.raw(it.value), el.Mark) })
		if i < 0 {
			return nil
		}
		e.cut(array, i)
		if err := e.prune(el.Path); err != nil {
			return err
		}
	}
}

// cut takes out an item with the white space before it and the comma it needed.
func (e *jsonEdit) cut(in node, i int) {
	it := in.items[i]
	from, to := len(bytes.TrimRight(e.text[:it.start], " \t\r\n")), it.value.end
	if it.comma >= 0 {
		to = it.comma + 1
	}
	e.splice(from, to, "")
	if it.comma < 0 && i > 0 {
		e.splice(in.items[i-1].comma, in.items[i-1].comma+1, "")
	}
}

// prune gives containers that hold nothing any more the form they had, and takes
// out those that were not there.
func (e *jsonEdit) prune(path []string) error {
	for {
		root, err := e.root()
		if err != nil {
			return err
		}
		there, ok := root.at(path)
		if !ok || len(there.items) > 0 {
			return nil
		}
		was, known := e.valueBefore(path)
		bare := len(bytes.TrimSpace(e.text[there.start+1:there.end-1])) == 0
		switch {
		case !known:
			return nil
		case was == nil && bare && len(path) > 0:
			parent, _ := root.at(path[:len(path)-1])
			i, _ := parent.member(path[len(path)-1])
			e.cut(parent, i)
			path = path[:len(path)-1]
			continue
		case was != nil && strings.TrimSpace(*was) == "" && bare:
			if len(bytes.TrimSpace(e.text)) == there.end-there.start { // no comments around it
				e.text = []byte(*was)
			}
		case was != nil && squeeze(*was) == squeeze(e.raw(there)):
			e.splice(there.start, there.end, *was)
		}
		return nil
	}
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), "") }

// lineIndent is the white space at the start of the line on which a place is.
func (e *jsonEdit) lineIndent(at int) string {
	line := e.text[bytes.LastIndexByte(e.text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit is how far the file indents.
func (e *jsonEdit) unit() string {
	for line := range bytes.Lines(e.text) {
		rest := bytes.TrimLeft(line, " \t")
		if indent := line[:len(line)-len(rest)]; len(indent) > 0 && len(rest) > 0 && rest[0] == '"' {
			return string(indent)
		}
	}
	return "  "
}

func (e *jsonEdit) newline() string { return newlineOf(e.text) }

func newlineOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// render is a value as text; in one line if unit is empty.
func render(value any, indent, unit, newline string) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if unit != "" {
		encoder.SetIndent(indent, unit)
	}
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	return strings.ReplaceAll(strings.TrimSuffix(out.String(), "\n"), "\n", newline), nil
}

// same says that a text, be it with comments, means the value.
func same(raw string, value any) bool {
	text, err := json.Marshal(value)
	if err != nil {
		return false
	}
	var is, want any
	return DecodeJSON([]byte(raw), &is) == nil && json.Unmarshal(text, &want) == nil && reflect.DeepEqual(want, is)
}
