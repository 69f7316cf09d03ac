package verify

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// The files of a plugin of Claude Code, and how it names our server.
const (
	hooksFile    = "hooks/hooks.json"
	toolsFile    = ".mcp.json"
	monitorsFile = "monitors/monitors.json"
	pluginRoot   = "CLAUDE_PLUGIN_ROOT"
	pluginServer = "plugin:c3po:c3po"
)

// A Plugin is the plugin as Claude Code reads it.
type Plugin struct {
	Root  string   // its folder
	Files fs.FS    // what is in the folder
	Whole fs.FS    // what should be in it
	Env   []string // of the commands that it names
	Fix   string   // the command that installs it
}

// Client is Claude Code with that plugin: the commands are those the files name.
func (p Plugin) Client() Client {
	c := Client{Name: "claude-code", Fix: p.Fix, Wakes: true}
	c.Server, c.Monitor = p.server(), p.monitor()
	have, wanted := p.hooks(p.Files), p.hooks(p.Whole)
	for _, event := range inOrder(have, wanted) {
		if len(have[event]) == 0 {
			c.Hooks = append(c.Hooks, Hook{Event: event, Trouble: "it is not in " + filepath.Join(p.Root, hooksFile)})
		}
		for _, h := range have[event] {
			c.Hooks = append(c.Hooks, p.hook(event, h))
		}
	}
	return c
}

// A written hook is one as it stands in the file.
type writtenHook struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Server  string            `json:"server"`
	Tool    string            `json:"tool"`
	Input   map[string]string `json:"input"`
}

// hooks are those of a plugin by event. A file that cannot be read has none.
func (p Plugin) hooks(files fs.FS) map[string][]writtenHook {
	var written struct {
		Hooks map[string][]struct {
			Hooks []writtenHook `json:"hooks"`
		} `json:"hooks"`
	}
	read(files, hooksFile, &written)
	all := map[string][]writtenHook{}
	for event, groups := range written.Hooks {
		for _, group := range groups {
			all[event] = append(all[event], group.Hooks...)
		}
	}
	return all
}

// inOrder are the events of both, in the order of a session's life.
func inOrder(have, wanted map[string][]writtenHook) []string {
	both := maps.Clone(wanted)
	maps.Copy(both, have)
	life := []string{sessionStart, userPromptSubmit, preToolUse, "PermissionRequest", "Notification", postToolUse, "PostToolUseFailure", "PermissionDenied", stopEvent, "StopFailure", sessionEnd}
	return slices.SortedFunc(maps.Keys(both), func(a, b string) int {
		if x, y := slices.Index(life, a), slices.Index(life, b); x != y {
			return x - y
		}
		return strings.Compare(a, b)
	})
}

func (p Plugin) hook(event string, h writtenHook) Hook {
	switch {
	case h.Type == "command" && h.Command != "":
		return Hook{Event: event, Command: p.shell(h.Command)}
	case h.Type == "mcp_tool" && h.Server == pluginServer && h.Tool != "":
		return Hook{Event: event, Tool: h.Tool, Input: h.Input}
	default:
		return Hook{Event: event, Trouble: "what " + filepath.Join(p.Root, hooksFile) + " names for it is not of c3po"}
	}
}

func (p Plugin) server() *Command {
	var written struct {
		Servers map[string]struct {
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
		} `json:"mcpServers"`
	}
	read(p.Files, toolsFile, &written)
	server, found := written.Servers["c3po"]
	if !found || server.Command == "" {
		return nil
	}
	command := &Command{Args: []string{p.expand(server.Command)}, Env: p.env()}
	for _, arg := range server.Args {
		command.Args = append(command.Args, p.expand(arg))
	}
	for name, value := range server.Env {
		command.Env = append(command.Env, name+"="+p.expand(value))
	}
	return command
}

func (p Plugin) monitor() *Command {
	var written []struct {
		Command string `json:"command"`
	}
	read(p.Files, monitorsFile, &written)
	if len(written) == 0 || written[0].Command == "" {
		return nil
	}
	return p.shell(written[0].Command)
}

// shell is a command as Claude Code runs it.
func (p Plugin) shell(line string) *Command {
	return &Command{Args: []string{"sh", "-c", p.expand(line)}, Env: p.env()}
}

func (p Plugin) env() []string { return append(slices.Clone(p.Env), pluginRoot+"="+p.Root) }

func (p Plugin) expand(text string) string {
	return strings.ReplaceAll(text, "${"+pluginRoot+"}", p.Root)
}

// read leaves v alone if there is no such file, or it is not JSON: then it names
// nothing, which is what is told.
func read(files fs.FS, name string, v any) {
	if data, err := fs.ReadFile(files, name); err == nil {
		_ = json.Unmarshal(data, v)
	}
}
