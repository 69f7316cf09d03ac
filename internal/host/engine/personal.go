package engine

import (
	"path/filepath"
	"slices"
	"strings"
)

// shells are what a person types into. What else they are used for has a script.
var shells = []string{"sh", "bash", "zsh", "fish", "dash", "ash", "ksh", "mksh", "tcsh", "csh", "nu", "elvish", "xonsh", "pwsh"}

// starters are above everything that a user runs.
var starters = []string{"systemd", "init", "launchd", "login", "sshd", "sshd-session", "tmux", "screen", "zellij"}

// Personal says that a process is its user's own, and so no agent: a shell that somebody
// types into, or what a user's shells are started by.
func Personal(pid int) bool {
	args, known := Arguments(pid)
	if !known || len(args) == 0 {
		return false
	}
	// A shell of a login has a dash before its name, tmux and sshd a colon after it.
	name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(strings.Fields(args[0] + " ")[0]), "-"), ":")
	if slices.Contains(starters, name) {
		return true
	}
	if !slices.Contains(shells, name) || slices.ContainsFunc(args[1:], givesScript) {
		return false
	}
	terminal, known := OnTerminal(pid)
	return terminal || !known
}

// givesScript says that an argument of a shell is what it runs, or comes before that.
func givesScript(arg string) bool {
	return !strings.HasPrefix(arg, "-") || !strings.HasPrefix(arg, "--") && strings.Contains(arg, "c")
}
