package clients

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/internal/host/configedit"
)

const (
	// codexMark is in every hook of ours: the tool of the session process that answers it.
	codexMark = `tool = "` + codexTool + `"`
	codexTool = "c3po_hook"
	// codexTrust is behind every trust of ours, so that it is found again wherever
	// in its list the hook is by then.
	codexTrust = "# c3po"
	// codexHookTimeoutSeconds is how many seconds a hook may take. The session process answers in a
	// fraction of one, whatever the coordinator does.
	codexHookTimeoutSeconds = 5
)

func codex() Client {
	return Client{
		Name: "codex", Title: "Codex", Program: "codex",
		Approves: []string{
			"Codex may use the tools of c3po without asking you each time",
			"five hooks of c3po count as reviewed: at the start of a session, at a prompt, before and after a tool, at the end of a turn. They ask the c3po session process for new mail and for leases of files, and start no other program",
		},
		Notes:     []string{"a Codex that runs already, and its daemon, do not have it: end them first (codex app-server daemon stop)"},
		Approvals: true, Holds: true,
		Files: codexFiles, Setup: codexSetup,
	}
}

// codexSetup reads what config.toml says.
func codexSetup(p Place) (Setup, error) {
	text, _, err := read(codexUser(p))
	if err != nil {
		return Setup{}, err
	}
	var file struct {
		Servers map[string]struct {
			Command string   `toml:"command"`
			Args    []string `toml:"args"`
		} `toml:"mcp_servers"`
		Hooks map[string]any `toml:"hooks"` // its state has another form than its events
	}
	if err := configedit.DecodeTOML(text, &file); err != nil {
		return Setup{}, err
	}
	calls := func(event string) bool {
		groups, _ := file.Hooks[event].([]any)
		for _, group := range groups {
			table, _ := group.(map[string]any)
			list, _ := table["hooks"].([]any)
			for _, each := range list {
				if written, _ := each.(map[string]any); written["tool"] == codexTool {
					return true
				}
			}
		}
		return false
	}
	var out Setup
	if server := file.Servers["c3po"]; server.Command != "" {
		out.Command = append([]string{server.Command}, server.Args...)
	}
	out.Approvals, out.Hold = calls(codexAsks(p).event), held(out.Command)
	for _, h := range codexHooks() {
		event := h.event
		if h.matcher != "" {
			event = beforeEdit
		}
		out.Hooks = append(out.Hooks, Hook{Event: event, Tool: codexTool, Input: h.arguments(), Missing: !calls(h.event)})
	}
	return out, nil
}

func codexUser(p Place) string {
	return filepath.Join(p.folderFor("CODEX_HOME", ".codex"), "config.toml")
}

// A codexHook is an event that the session process answers. Codex refuses variables that
// an event does not have.
type codexHook struct {
	event, state string
	input        []string
	name         string // by which the session process knows the event
	seconds      int
	matcher      string // the tools it is for; empty for all
}

func codexHooks() []codexHook {
	return []codexHook{
		{"SessionStart", "session_start", []string{"source"}, "SessionStart", codexHookTimeoutSeconds, ""},
		{"UserPromptSubmit", "user_prompt_submit", nil, "UserPromptSubmit", codexHookTimeoutSeconds, ""},
		{"PreToolUse", "pre_tool_use", []string{"tool_use_id", "tool_name", "tool_input", "cwd"}, "PreToolUse", codexHookTimeoutSeconds, "^apply_patch$"},
		{"PostToolUse", "post_tool_use", []string{"tool_use_id"}, "PostToolUse", codexHookTimeoutSeconds, ""},
		{"Stop", "stop", []string{"stop_hook_active"}, "Stop", codexHookTimeoutSeconds, ""},
	}
}

// codexAsks is the event of a permission dialog that is about to open.
func codexAsks(p Place) codexHook {
	return codexHook{"PermissionRequest", "permission_request", []string{"tool_name", "tool_input", "cwd"}, "Approve", p.hookSeconds(), ""}
}

func (h codexHook) arguments() map[string]string {
	in := map[string]string{"hook_event_name": h.name, "session_id": "${session_id}"}
	for _, name := range h.input {
		in[name] = "${" + name + "}"
	}
	return in
}

// text is the hook as a value in config.toml.
func (h codexHook) text() string {
	in := `{ hook_event_name = "` + h.name + `", session_id = "${session_id}"`
	for _, name := range h.input {
		in += fmt.Sprintf(`, %s = "${%s}"`, name, name)
	}
	return fmt.Sprintf(`[{ type = "mcp_tool", server = "c3po", %s, timeout = %d, input = %s } }]`, codexMark, h.seconds, in)
}

// hash is how Codex names what was reviewed: the hook as JSON with sorted keys.
func (h codexHook) hash() (string, error) {
	group := map[string]any{
		"event_name": h.state,
		"hooks": []any{map[string]any{
			"type": "mcp_tool", "server": "c3po", "tool": codexTool, "timeout": h.seconds, "input": h.arguments(),
		}},
	}
	if h.matcher != "" {
		group["matcher"] = h.matcher
	}
	text, err := json.Marshal(group)
	return fmt.Sprintf("sha256:%x", sha256.Sum256(text)), err
}

func codexFiles(p Place) ([]File, error) {
	user := codexUser(p)
	if p.Project == "" {
		return []File{codexFile(p, user, true, user), skillFile(p)}, nil
	}
	project := filepath.Join(p.Project, ".codex", "config.toml")
	return []File{codexFile(p, project, true, ""), codexFile(p, user, false, project), skillFile(p)}, nil
}

// codexFile is a config.toml that gets the server and the hooks, the trust in the
// hooks of the file of that name, or both.
func codexFile(p Place, path string, server bool, trusted string) File {
	tables := func(text []byte, hooks []codexHook) (configedit.TOML, error) {
		out := configedit.TOML{Ours: codexTrusts(trusted, "")}
		if server {
			out.Tables = append(out.Tables, codexServer(p))
		}
		for _, h := range hooks {
			list := []string{"hooks", h.event}
			if server {
				keys := []configedit.Key{{Name: "hooks", Value: h.text()}}
				if h.matcher != "" {
					keys = append([]configedit.Key{{Name: "matcher", Value: configedit.TOMLText(h.matcher)}}, keys...)
				}
				out.Tables = append(out.Tables, configedit.Table{Path: list, Array: true, Mark: codexMark, Keys: keys})
			}
			if trusted == "" {
				continue
			}
			if trusted != path {
				var err error
				if text, _, err = read(trusted); err != nil {
					return out, err
				}
			}
			n, err := configedit.Tables(text, list, codexMark)
			if err != nil {
				return out, err
			}
			hash, err := h.hash()
			if err != nil {
				return out, err
			}
			out.Tables = append(out.Tables, configedit.Table{
				Path: []string{"hooks", "state", fmt.Sprintf("%s:%s:%d:0", trusted, h.state, n)},
				Keys: []configedit.Key{{Name: "trusted_hash", Value: configedit.TOMLText(hash), Remark: codexTrust}},
			})
		}
		return out, nil
	}
	return File{
		Path: path,
		Add: func(text []byte) ([]byte, []configedit.Undo, error) {
			hooks, asks := codexHooks(), codexAsks(p)
			var err error
			if p.Approvals {
				hooks = append(hooks, asks)
			} else {
				before := configedit.TOML{Ours: codexTrusts(trusted, asks.state)}
				if server {
					before.Tables = []configedit.Table{{Path: []string{"hooks", asks.event}, Array: true, Mark: codexMark}}
				}
				text, err = before.Remove(text)
			}
			var ours configedit.TOML
			if err == nil {
				ours, err = tables(text, hooks)
			}
			if err == nil {
				text, err = ours.Add(text)
			}
			return text, nil, err
		},
		Remove: func(text []byte, _ []configedit.Undo) ([]byte, error) {
			ours, err := tables(text, append(codexHooks(), codexAsks(p)))
			if err == nil {
				text, err = ours.Remove(text)
			}
			return text, err
		},
	}
}

// codexTrusts tells the trust in our hooks of a file, for one event or all.
func codexTrusts(file, state string) func(path []string, array bool, body string) bool {
	return func(path []string, _ bool, body string) bool {
		return file != "" && len(path) == 3 && path[0] == "hooks" && path[1] == "state" && strings.HasPrefix(path[2], file+":"+state) && strings.Contains(body, codexTrust)
	}
}

// codexServer starts the session process. Codex gives it no variables but those named
// here. None of them says who the agent is: one daemon serves all terminals, with
// the variables of the first.
func codexServer(p Place) configedit.Table {
	keys := []configedit.Key{
		{Name: "command", Value: configedit.TOMLText(p.Program)},
		{Name: "args", Value: tomlList(p.arguments("codex"))},
		{Name: "env_vars", Value: tomlList([]string{
			"C3PO_COORDINATOR_URL", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "TMPDIR", "CODEX_HOME", "C3PO_UNATTENDED",
		})},
		{Name: "default_tools_approval_mode", Value: `"approve"`},
		{Name: "tool_timeout_sec", Value: "3900"}, // above the longest wait there is
	}
	return configedit.Table{Path: []string{"mcp_servers", "c3po"}, Keys: keys}
}

func tomlList(texts []string) string {
	quoted := slices.Clone(texts)
	for i, text := range quoted {
		quoted[i] = configedit.TOMLText(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
