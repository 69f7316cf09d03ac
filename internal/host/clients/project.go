package clients

import (
	"path/filepath"

	"github.com/c3po-dev/c3po/internal/host/configedit"
)

// A ProjectEntry is what a file of a project says about c3po. It counts there
// instead of what is installed for all projects, whoever has written it.
type ProjectEntry struct {
	File   string // within the project
	Client string // who reads it
	Start  string // the program it names
	URL    string // the server it names instead
	Env    map[string]string
	Off    bool
	Err    error // the file cannot be read
}

// A projectFile is where a client looks for what holds in one project.
type projectFile struct {
	client, name string
	servers      string // the key of its list of MCP servers
	decode       func([]byte, any) error
}

func projectFiles() []projectFile {
	return []projectFile{
		{"claude", ".mcp.json", "mcpServers", configedit.DecodeJSON},
		{"claude", ".claude/settings.json", "", configedit.DecodeJSON},
		{"claude", ".claude/settings.local.json", "", configedit.DecodeJSON},
		{"codex", ".codex/config.toml", "mcp_servers", configedit.DecodeTOML},
		{"gemini", ".gemini/settings.json", "mcpServers", configedit.DecodeJSON},
		{"copilot", ".github/mcp.json", "mcpServers", configedit.DecodeJSON},
		{"kimi", ".kimi-code/mcp.json", "mcpServers", configedit.DecodeJSON},
		{"opencode", "opencode.json", "mcp", configedit.DecodeJSON},
		{"opencode", "opencode.jsonc", "mcp", configedit.DecodeJSON},
	}
}

// ProjectFiles are the names, within a project, of all files that clients read
// there.
func ProjectFiles() []string {
	var names []string
	for _, f := range projectFiles() {
		names = append(names, f.name)
	}
	return names
}

// ProjectEntries reads what the files of a project say.
func ProjectEntries(project string) []ProjectEntry {
	var all []ProjectEntry
	for _, f := range projectFiles() {
		text, there, err := read(filepath.Join(project, filepath.FromSlash(f.name)))
		if !there && err == nil {
			continue
		}
		var file map[string]any
		if err == nil {
			err = f.decode(text, &file)
		}
		if err != nil {
			all = append(all, ProjectEntry{File: f.name, Client: f.client, Err: err})
			continue
		}
		if servers, _ := file[f.servers].(map[string]any); servers != nil {
			if server, _ := servers["c3po"].(map[string]any); server != nil {
				all = append(all, entryOf(f, server))
			}
		}
		// Claude Code switches plugins on and off for a project.
		if plugins, _ := file["enabledPlugins"].(map[string]any); plugins["c3po@c3po"] == false {
			all = append(all, ProjectEntry{File: f.name, Client: f.client, Off: true})
		}
	}
	return all
}

// entryOf reads one server, by all the words that clients have for its parts.
func entryOf(f projectFile, server map[string]any) ProjectEntry {
	e := ProjectEntry{File: f.name, Client: f.client, Env: map[string]string{}}
	switch command := server["command"].(type) {
	case string:
		e.Start = command
	case []any:
		if len(command) > 0 {
			e.Start, _ = command[0].(string)
		}
	}
	for _, name := range []string{"url", "httpUrl"} {
		if url, _ := server[name].(string); url != "" {
			e.URL = url
		}
	}
	for _, name := range []string{"env", "environment"} {
		variables, _ := server[name].(map[string]any)
		for key, value := range variables {
			e.Env[key], _ = value.(string)
		}
	}
	e.Off = server["enabled"] == false || server["disabled"] == true
	return e
}
