package ptyrun

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Prompt is how a program looks that waits for a line.
type Prompt struct {
	// Line is what stands on the line of the cursor, left of it.
	Line *regexp.Regexp
	// Dialog matches a row of the screen while the program asks for something else
	// than a line; none if nil.
	Dialog *regexp.Regexp
	// Frame matches the rows right above and below that line; any do if nil.
	Frame *regexp.Regexp
	// FullScreen says that the program itself has the whole terminal, and not only
	// what it may start.
	FullScreen bool
	// Shell says that the program runs what is typed into it.
	Shell bool
}

// PromptOf is what is known of a program by its name.
func PromptOf(program string) (Prompt, bool) {
	p, known := prompts()[strings.TrimSuffix(filepath.Base(program), ".exe")]
	return p, known
}

func prompts() map[string]Prompt {
	// Not ">", which is also what a shell shows when a command goes on in the
	// next line.
	shell := Prompt{Line: regexp.MustCompile(`[$#%] $`), Shell: true}
	python := Prompt{Line: regexp.MustCompile(`^>>> $`), Shell: true}
	return map[string]Prompt{
		"sh": shell, "bash": shell, "dash": shell, "ash": shell, "ksh": shell, "zsh": shell,
		"fish":   {Line: regexp.MustCompile(`\S[>#] $`), Shell: true},
		"python": python, "python3": python,
		// Its dialogs and what it starts in its place have no such frame.
		"claude": {
			Line:       regexp.MustCompile(`^❯[\s\x{a0}]$`),
			Frame:      regexp.MustCompile(`^─{10,}`),
			Dialog:     regexp.MustCompile(`^\s*❯ \d+\. |Esc to (cancel|close)|Enter to (confirm|select)`),
			FullScreen: true,
		},
	}
}

// shows says that the program waits at its prompt, with nothing left of the
// cursor.
func (p Prompt) shows(v view) bool {
	if v.lost || v.alternate && !p.FullScreen || p.Line == nil || !p.Line.MatchString(v.left) {
		return false
	}
	if p.Frame != nil {
		if v.row == 0 || v.row+1 >= len(v.rows) || !p.Frame.MatchString(v.rows[v.row-1]) || !p.Frame.MatchString(v.rows[v.row+1]) {
			return false
		}
	}
	return p.Dialog == nil || !slices.ContainsFunc(v.rows, p.Dialog.MatchString)
}
