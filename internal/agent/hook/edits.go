package hook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po"
)

// editors are the tools by which Claude Code changes files that it names.
var editors = []string{"Edit", "Write", "MultiEdit", "NotebookEdit"}

// Changes says that a tool changes files. Such a call is held up or left to its client, and
// never allowed by us.
func (e Event) Changes() bool { return slices.Contains(editors, e.ToolName) }

// Edits are the files that a call of a tool is about to change, as the client names them;
// none if the tool changes no files that it names.
func (e Event) Edits() []string {
	file := cmp.Or(e.File, e.Notebook)
	if file == "" || !e.Changes() {
		return nil
	}
	return []string{file}
}

// Refuse keeps a tool of Claude Code from running, and tells the model why.
func Refuse(why string) string {
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
