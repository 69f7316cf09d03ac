package clients

import "strings"

// hookCommand is the line that a client hands to a shell at an event.
func (p Place) hookCommand(client, event string) string {
	return shellQuote(p.Program) + " hook --client " + client + " " + event
}

// shellQuote is a text as a shell reads it as one word.
func shellQuote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@:", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// shell is how a client runs such a line.
func shell(line string) []string { return []string{"sh", "-c", line} }

// servers are the MCP servers of a client, as most of them write them.
type servers map[string]struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// ourCommand is the command that serves our tools; none if there is none.
func (s servers) ourCommand() []string {
	if s["c3po"].Command == "" {
		return nil
	}
	return append([]string{s["c3po"].Command}, s["c3po"].Args...)
}
