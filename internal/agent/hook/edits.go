package hook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/c3po-dev/c3po"
)

// editors are the tools by which clients change files, and how each names them.
var editors = map[string]string{
	"Edit": "file_path", "Write": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path", // Claude Code, Kimi
	"edit": "filePath", "write": "filePath", "multiedit": "filePath", // OpenCode; Copilot's edit has a path
	"create": "path", "str_replace_editor": "path", "str_replace": "path", "insert": "path", // Copilot
	"replace": "file_path", "write_file": "file_path", // Gemini
	"WriteFile": "path", "StrReplaceFile": "path", // Kimi
	"apply_patch": "", "patch": "", // Codex, OpenCode, Copilot
}

// patched is a line of a patch that names a file.
var patched = regexp.MustCompile(`(?m)^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$`)

// Changes says that a tool changes files.
func (e Event) Changes() bool {
	_, changes := editors[e.ToolName]
	return changes
}

// Edits are the files that a call of a tool is about to change, as the client names them;
// none if the tool changes no files that it names.
func (e Event) Edits() []string {
	field, edits := editors[e.ToolName]
	if !edits {
		return nil
	}
	if file := cmp.Or(e.File, e.Notebook); file != "" {
		return []string{file}
	}
	var input map[string]any
	if json.Unmarshal(e.Input, &input) != nil {
		return patchedFiles(string(e.Input))
	}
	var files []string
	for _, name := range []string{field, "file_path", "filePath", "path"} {
		if file, _ := input[name].(string); file != "" && len(files) == 0 {
			files = []string{file}
		}
	}
	for _, value := range input {
		if text, _ := value.(string); len(files) == 0 {
			files = patchedFiles(text)
		}
	}
	return files
}

func patchedFiles(text string) (files []string) {
	for _, line := range patched.FindAllStringSubmatch(text, -1) {
		files = append(files, line[1])
	}
	return files
}

// Refuse keeps a tool from running, and tells the model why.
func (by Dialect) Refuse(why string) string {
	switch by {
	case Copilot:
		text, err := json.Marshal(map[string]string{"permissionDecision": "deny", "permissionDecisionReason": why})
		if err != nil {
			return "{}" // texts cannot fail to become JSON
		}
		return string(text)
	case Gemini:
		return encode(output{Decision: "deny", Reason: why})
	}
	return encode(output{Specific: &specific{Event: PreToolUse, Permission: "deny", Reason: why}})
}

// HeldWords tell a model that another session edits a file. What the holder works on are
// the holder's words, so they stand in quotes, on one line.
func HeldWords(held c3po.Lease, now time.Time) string {
	text := fmt.Sprintf("c3po: '%s' has been editing %q for %s, so this edit was not made.", held.Holder.Brief(), held.Path, c3po.Age(now.Sub(held.Since)))
	if held.Task != "" {
		text += fmt.Sprintf(" It says it works on %q.", oneLine(held.Task))
	}
	return text + fmt.Sprintf(" Work on something else, or ask with send_message(target=%q). The file is free once that session commits it, reverts it or ends.", held.Holder.Brief())
}

// OverlapWords tell a model of files that another session edits too: nobody could say so
// when they were edited.
func OverlapWords(overlaps []c3po.Lease, now time.Time) string {
	var said []string
	for _, held := range overlaps {
		said = append(said, fmt.Sprintf("%q ('%s', for %s)", held.Path, held.Holder.Brief(), c3po.Age(now.Sub(held.Since))))
	}
	return "While the coordinator was away you edited files that another session edits: " + strings.Join(said, ", ") + ". Compare before you commit."
}

func oneLine(text string) string {
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "")
	if runes := []rune(text); len(runes) > 120 {
		text = string(runes[:119]) + "…"
	}
	return text
}
