package hook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// editors are the tools by which the clients change files that they name. No client has
// a tool of such a name that does something else.
var editors = []string{
	"Edit", "Write", "MultiEdit", "NotebookEdit", // Claude Code, and Kimi the first two
	"edit", "write", "multiedit", "patch", "apply_patch", // OpenCode, and Codex the last
	"create", "str_replace_editor", // Copilot, and edit and apply_patch
	"replace", "write_file", // Gemini
	"WriteFile", "StrReplaceFile", // Kimi, before it took Claude Code's names
}

// Editing says that a tool changes files that it names.
func Editing(tool string) bool { return slices.Contains(editors, tool) }

// Changes says that a tool changes files. Such a call is held up or left to its client, and
// never allowed by us.
func (e Event) Changes() bool { return Editing(e.ToolName) }

// Edits are the files that a call of a tool is about to change, as the client names them;
// none if the tool changes no files that it names.
func (e Event) Edits() []string {
	if !e.Changes() {
		return nil
	}
	var in struct {
		File, Path, OpenCode, Notebook string
		Patch, Text, Input, Command    string
	}
	var raw map[string]json.RawMessage
	if json.Unmarshal(e.Input, &raw) != nil {
		var text string // Codex hands a patch over as itself
		if json.Unmarshal(e.Input, &text) != nil {
			text = string(e.Input)
		}
		in.Text = text
	}
	for name, to := range map[string]*string{
		"file_path": &in.File, "path": &in.Path, "filePath": &in.OpenCode, "notebook_path": &in.Notebook,
		"patch": &in.Patch, "patchText": &in.Text, "input": &in.Input, "command": &in.Command,
	} {
		_ = json.Unmarshal(raw[name], to) // of another type it names no file
	}
	var files []string
	add := func(file string) {
		if file != "" && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	for _, file := range []string{e.File, e.Notebook, in.File, in.Path, in.OpenCode, in.Notebook} {
		add(file)
	}
	for _, patch := range []string{in.Patch, in.Text, in.Input, in.Command} {
		for line := range strings.Lines(patch) {
			for _, head := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
				if file, ok := strings.CutPrefix(line, head); ok {
					add(strings.TrimSpace(file))
				}
			}
		}
	}
	return files
}

// Call names a call of a tool; one of a client that gives its calls no names, by the files
// that it edits.
func (e Event) Call() string {
	if files := e.Edits(); e.ToolUseID == "" && len(files) > 0 {
		return "edit:" + strings.Join(files, "\x00")
	}
	return e.ToolUseID
}

// Refuse keeps a tool from running, and tells the model why.
func (by Dialect) Refuse(why string) string {
	switch by {
	case Gemini:
		return encode(output{Decision: "deny", Reason: why})
	case Copilot:
		text, err := json.Marshal(map[string]string{"permissionDecision": "deny", "permissionDecisionReason": why})
		if err != nil {
			return "{}" // texts cannot fail to become JSON
		}
		return string(text)
	}
	return encode(output{Specific: &specific{Event: PreToolUse, Permission: "deny", Reason: why}})
}

// HeldWords tell a model that another session edits a file. What the holder says of its
// task is text of others: it comes last, as it is carried to a model, or is empty.
func HeldWords(held c3po.Lease, carried string, now time.Time) string {
	holder := held.Holder.Brief()
	text := fmt.Sprintf("c3po: '%s' has been editing %q for %s, so this edit was not made. Work on something else, or tell your user. The file is free once that session commits it, reverts it or ends.",
		holder, held.Path, c3po.Age(now.Sub(held.Since)))
	if carried == "" {
		return text
	}
	return text + " What that agent says it works on:\n" + carried
}

// OverlapWords tell a model of files that another session edits too: nobody could say so
// when they were edited, or the branch was switched since.
func OverlapWords(overlaps []c3po.Lease, now time.Time) string {
	var said []string
	for _, held := range overlaps {
		said = append(said, fmt.Sprintf("%q ('%s', for %s)", held.Path, held.Holder.Brief(), c3po.Age(now.Sub(held.Since))))
	}
	return "Another session edits files that you have changed: " + strings.Join(said, ", ") + ". Compare before you commit."
}

// UnleasedWords tell a model that files it edits have no lease, because there are too many.
func UnleasedWords(paths []string, why string) string {
	said := make([]string, min(len(paths), 3))
	for i := range said {
		said[i] = fmt.Sprintf("%q", paths[i])
	}
	text := strings.Join(said, ", ")
	if more := len(paths) - len(said); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("You edited %s without a lease, so another session may edit the same: %s. Commit what is done.", text, why)
}
