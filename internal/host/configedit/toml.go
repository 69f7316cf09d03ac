package configedit

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// TOML is what of ours stands in a TOML file.
type TOML struct {
	Tables []Table
	// Ours says of a table that it is ours too, and goes with the others; nil if
	// there are no such. body is the text of the table with its header.
	Ours func(path []string, array bool, body string) bool
}

// A Table is a table with keys. Keys of others in it are kept.
type Table struct {
	Path  []string
	Array bool   // an element of a list of tables
	Mark  string // of an element: that its text has this makes it ours
	Keys  []Key
}

// A Key has a value that is written as TOML writes it, and perhaps a comment
// behind it, for a key that is new.
type Key struct{ Name, Value, Remark string }

func (k Key) render(newline string) string {
	text := k.Name + " = " + k.Value
	if k.Remark != "" {
		text += " " + k.Remark
	}
	return text + newline
}

// Add puts in what is not there, and sets right what is there and differs. New
// tables come last in the file.
func (t TOML) Add(text []byte) ([]byte, error) {
	if _, err := readTOML(text); err != nil {
		return nil, err
	}
	newline := newlineOf(text)
	unended := len(text) > 0 && !bytes.HasSuffix(text, []byte("\n"))
	if unended {
		text = slices.Concat(text, []byte(newline))
	}
	for _, table := range t.Tables {
		sections, err := readTOML(text)
		if err != nil {
			return nil, clash(table, err)
		}
		if i := slices.IndexFunc(sections, func(s section) bool { return table.is(s, text) }); i >= 0 {
			text = table.settle(text, sections[i], newline)
			continue
		}
		separator := newline
		if len(text) == 0 {
			separator = ""
		}
		text = slices.Concat(text, []byte(separator+table.render(newline)))
	}
	if unended {
		text = bytes.TrimSuffix(text, []byte(newline))
	}
	if _, err := readTOML(text); err != nil {
		return nil, clash(t.Tables[len(t.Tables)-1], err)
	}
	return text, nil
}

// clash is a table that cannot be where another form of it already is.
func clash(table Table, err error) error {
	e, ok := errors.AsType[*c3po.Error](err)
	if !ok {
		return err
	}
	return c3po.Errorf(c3po.InvalidRequest, "the table %s cannot be added: %s", header(table.Path, table.Array), e.Message).
		Suggest("Write it as separate tables, with headers in brackets; nothing was changed.")
}

// Remove takes our tables out, with the tables below them.
func (t TOML) Remove(text []byte) ([]byte, error) {
	newline := newlineOf(text)
	unended := len(text) > 0 && !bytes.HasSuffix(text, []byte("\n"))
	if unended {
		text = slices.Concat(text, []byte(newline))
	}
	sections, err := readTOML(text)
	if err != nil {
		return nil, err
	}
	for _, s := range slices.Backward(sections) {
		if len(s.path) == 0 || !t.owns(s, text) {
			continue
		}
		from := s.start
		// The empty line that stands before each of our tables.
		if before := bytes.TrimSuffix(text[:from], []byte(newline)); len(before) < from && bytes.HasSuffix(before, []byte("\n")) {
			from = len(before)
		}
		text = slices.Concat(text[:from], text[s.end:])
	}
	if unended {
		text = bytes.TrimSuffix(text, []byte(newline))
	}
	_, err = readTOML(text)
	return text, err
}

func (t TOML) owns(s section, text []byte) bool {
	body := string(text[s.start:s.end])
	for _, table := range t.Tables {
		below := !table.Array && len(s.path) > len(table.Path) && slices.Equal(s.path[:len(table.Path)], table.Path)
		if below || table.is(s, text) {
			return true
		}
	}
	return t.Ours != nil && t.Ours(s.path, s.array, body)
}

// Tables is how many elements a list of tables has, as headers, before the first
// whose text has the mark.
func Tables(text []byte, path []string, mark string) (int, error) {
	sections, err := readTOML(text)
	n := 0
	for _, s := range sections {
		if !s.array || !slices.Equal(s.path, path) {
			continue
		}
		if strings.Contains(string(text[s.start:s.end]), mark) {
			break
		}
		n++
	}
	return n, err
}

func (t Table) is(s section, text []byte) bool {
	return len(s.path) > 0 && s.array == t.Array && slices.Equal(s.path, t.Path) &&
		(!t.Array || strings.Contains(string(text[s.start:s.end]), t.Mark))
}

func (t Table) render(newline string) string {
	text := header(t.Path, t.Array) + newline
	for _, k := range t.Keys {
		text += k.render(newline)
	}
	return text
}

// settle gives our keys of a table that is there their values.
func (t Table) settle(text []byte, s section, newline string) []byte {
	var missing string
	type change struct {
		from, to int
		with     string
	}
	var changes []change
	for _, k := range t.Keys {
		there, ok := s.key(k.Name)
		switch {
		case !ok:
			missing += k.render(newline)
		case string(text[there.value:there.end]) != k.Value:
			changes = append(changes, change{there.value, there.end, k.Value})
		}
	}
	changes = append(changes, change{s.end, s.end, missing})
	slices.SortFunc(changes, func(a, b change) int { return b.from - a.from })
	for _, c := range changes {
		text = slices.Concat(text[:c.from], []byte(c.with), text[c.to:])
	}
	return text
}

func header(path []string, array bool) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = tomlKeyName(p)
	}
	if array {
		return "[[" + strings.Join(parts, ".") + "]]"
	}
	return "[" + strings.Join(parts, ".") + "]"
}

func tomlKeyName(name string) string {
	bare := name != ""
	for _, c := range name {
		bare = bare && (c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z')
	}
	if bare {
		return name
	}
	return TOMLText(name)
}

// TOMLText is a text as TOML writes it.
func TOMLText(text string) string {
	out := []byte{'"'}
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\\', byte(c))
		case c < 0x20 || c == 0x7f:
			out = append(out, []byte(escape(c))...)
		default:
			out = append(out, string(c)...)
		}
	}
	return string(append(out, '"'))
}

func escape(c rune) string {
	const digits = "0123456789abcdef"
	return `\u00` + string(digits[c>>4&15]) + string(digits[c&15])
}
