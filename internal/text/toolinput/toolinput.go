// Package toolinput writes the arguments of a tool so that a person can judge them: a command
// as a command, a change of a file as a diff, everything else field by field.
//
// A line that starts in the first column is ours: "$ " before a command, a field's name, the
// sign of a changed line, the name of a block. Further lines of a value are indented, so
// that no value can pose as another field.
//
// Nothing of the arguments is left out. What can't be seen for what it is, is named: ⟨U+001B⟩,
// ⟨U+00A0⟩, and a letter of another script in a word that reads as Latin. Long runs of blanks,
// empty lines and unchanged lines are counted: ⟨400 spaces⟩. A bracket ⟨ of the input is
// ⟨U+27E8⟩, so that no input can write such marks itself, and no two inputs read the same. The
// hash of a request is over the input itself, not this text.
package toolinput

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const indent = "  "

// Text is what a call of a tool would do. Input is a JSON object.
func Text(input json.RawMessage) string {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(input, &fields) != nil || fields == nil {
		return field("input", input)
	}
	var parts []string
	add := func(text string) { parts = append(parts, text) }
	if command, ok := take(fields, "command", "cmd"); ok {
		add("$ " + indentRest(command))
	}
	if url, ok := take(fields, "url"); ok {
		add("url: " + indentRest(url))
	}
	own := append([]string{"edit"}, ourNames...)
	path, inFile := take(fields, "file_path", "filePath", "path", "notebook_path")
	if inFile {
		own = append(own, "file")
		add("file: " + filePath(path))
	}
	changes := blocks(fields)
	if inFile && len(changes) == 1 && changes[0].name != "patch" {
		changes[0].name = ""
	}
	for _, change := range changes {
		if change.name != "" {
			add(change.name + ":")
		}
		add(change.text)
	}
	add(edits(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		add(field(fieldName(name, own...), fields[name]))
	}
	if len(parts) == 0 || len(parts) == 1 && parts[0] == "" { // an object without fields
		return nothing
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "\n")
}

type block struct{ name, text string }

// blocks are the changes that the fields would make to a file.
func blocks(fields map[string]json.RawMessage) (all []block) {
	if change, ok := edit(fields); ok {
		all = append(all, block{"edit", change})
	}
	if content, ok := take(fields, "content", "file_text"); ok {
		all = append(all, block{"content", markAdded(content)})
	}
	if patch, ok := take(fields, "patch", "diff"); ok {
		all = append(all, block{"patch", indent + indentRest(patch)})
	}
	return all
}

// edit is the replacement of a text by another.
func edit(fields map[string]json.RawMessage) (change string, ok bool) {
	before, from := take(fields, "old_string", "oldString", "old_str")
	after, to := take(fields, "new_string", "newString", "new_str", "new_source")
	return diff(before, after), from || to
}

// edits are several replacements in one file, each with its number. If one of them is
// anything else, they stay in the fields.
func edits(fields map[string]json.RawMessage) string {
	var list []map[string]json.RawMessage
	if json.Unmarshal(fields["edits"], &list) != nil {
		return ""
	}
	var lines []string
	for n, one := range list {
		change, ok := edit(one)
		if !ok {
			return ""
		}
		lines = append(lines, fmt.Sprintf("edit %d of %d:", n+1, len(list)), change)
		for _, name := range slices.Sorted(maps.Keys(one)) {
			lines = append(lines, field(fmt.Sprintf("edit %d, %s", n+1, fieldName(name)), one[name]))
		}
	}
	if len(lines) > 0 {
		delete(fields, "edits")
	}
	return strings.Join(lines, "\n")
}

// take removes the first of the fields that is a text.
func take(fields map[string]json.RawMessage, names ...string) (text string, ok bool) {
	for _, name := range names {
		raw, given := fields[name]
		if given && len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
			delete(fields, name)
			return text, true
		}
	}
	return "", false
}

// field is a name with a text, or with JSON.
func field(name string, raw json.RawMessage) string {
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil && text != "" {
		return name + ": " + indentRest(text)
	}
	// Anew: JSON may write every letter as a number, and a person reads letters.
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return name + ": " + indentRest(string(raw))
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if encoder.Encode(value) != nil {
		return name + ": " + indentRest(string(raw))
	}
	return name + ": " + indentRest(out.String())
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_.-]*$`)

// ourNames are what a person might take for facts that c3po states.
var ourNames = []string{"agent", "allow", "allowed", "approved", "c3po", "deny", "expires", "folder", "host", "reason", "session", "tool", "user", "verdict"}

// fieldName is a name as it is, or as JSON if it could be taken for something else, such as
// one of our own names.
func fieldName(name string, own ...string) string {
	if plainName.MatchString(name) && !slices.ContainsFunc(own, func(one string) bool { return strings.EqualFold(one, name) }) {
		return name
	}
	return quote(name)
}

// filePath is a path as it is, or as JSON if a character of it is not plainly seen.
func filePath(path string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == '"' }
	if path == "" || strings.ContainsFunc(path, odd) || strings.ContainsAny(path[:1], " $+-") || strings.HasSuffix(path, " ") || spell(path) != path {
		return quote(path)
	}
	return path
}

var plainPath = regexp.MustCompile(`^[\pL\pN/\\._~:@+-]+$`)

// Folder is a path for a line that has other words as well: as it is, or as JSON if it has
// anything in it that could pose as one of them.
func Folder(path string) string {
	if plainPath.MatchString(path) {
		return path
	}
	return quote(path)
}

func quote(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(text) != nil {
		return spell(fmt.Sprintf("%q", text))
	}
	return spell(strings.TrimSuffix(out.String(), "\n"))
}

// indentRest is a text whose lines after the first are marked as its own.
func indentRest(text string) string {
	return strings.Join(spellLines(strings.Split(strings.TrimSuffix(text, "\n"), "\n")), "\n"+indent)
}
