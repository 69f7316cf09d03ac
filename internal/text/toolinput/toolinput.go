// Package toolinput writes the arguments of a tool so that a person can judge them: a command
// as a command, a change of a file as a diff, everything else field by field. Nothing of
// the arguments is left out.
package toolinput

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Text is what a call of a tool would do. Input is a JSON object.
func Text(input json.RawMessage) string {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(input, &fields) != nil {
		return string(input)
	}
	var parts []string
	add := func(text string) { parts = append(parts, strings.TrimRight(text, "\n")) }
	path, inFile := take(fields, "file_path", "filePath", "path", "notebook_path")
	if command, ok := take(fields, "command", "cmd"); ok {
		add("$ " + command)
	}
	if url, ok := take(fields, "url"); ok {
		add(url)
	}
	if inFile {
		add(path)
	}
	before, changes := take(fields, "old_string", "oldString", "old_str")
	after, changesTo := take(fields, "new_string", "newString", "new_str", "new_source")
	if changes || changesTo {
		add(diff(before, after))
	}
	if content, ok := take(fields, "content", "file_text"); ok {
		add(marked("+", content))
	}
	if patch, ok := take(fields, "patch", "diff"); ok {
		add(patch)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		add(name + ": " + value(fields[name]))
	}
	return strings.Join(parts, "\n")
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

// value is a field as text, or as JSON with its lines indented.
func value(raw json.RawMessage) string {
	var text string
	if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return text
	}
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}

// diff marks the lines that go and those that come; lines that stay at either end have no mark.
func diff(before, after string) string {
	old, changed := strings.Split(before, "\n"), strings.Split(after, "\n")
	if before == "" {
		old = nil
	}
	if after == "" {
		changed = nil
	}
	head := 0
	for head < min(len(old), len(changed)) && old[head] == changed[head] {
		head++
	}
	tail := 0
	for tail < min(len(old), len(changed))-head && old[len(old)-1-tail] == changed[len(changed)-1-tail] {
		tail++
	}
	var lines []string
	mark := func(sign string, all []string) {
		for _, line := range all {
			lines = append(lines, sign+line)
		}
	}
	mark(" ", old[:head])
	mark("-", old[head:len(old)-tail])
	mark("+", changed[head:len(changed)-tail])
	mark(" ", old[len(old)-tail:])
	return strings.Join(lines, "\n")
}

func marked(sign, text string) string {
	return sign + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+sign)
}
