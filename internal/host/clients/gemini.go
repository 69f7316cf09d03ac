package clients

import (
	"path/filepath"
	"strings"

	"github.com/c3po-dev/c3po/internal/host/configedit"
)

const (
	// geminiMark is in every hook of ours.
	geminiMark = "hook --client gemini"
	// geminiHookTimeoutMillis is how many milliseconds a hook may take. It ends by itself in
	// a fraction of that, whatever the coordinator does.
	geminiHookTimeoutMillis = 5_000
	// geminiWaitTimeoutMillis is the same for one that waits for mail: a week, in which
	// somebody will have come back.
	geminiWaitTimeoutMillis = 7 * 24 * 3600 * 1000
	// toolTimeoutMillis is how many milliseconds a call of a tool may take, for clients that
	// can be told so: more than the longest wait there is.
	toolTimeoutMillis = 3_900_000
)

func gemini() Client {
	return Client{
		Name: "gemini", Title: "Gemini CLI", Program: "gemini", Shell: true,
		Approves: []string{
			"Gemini may use the tools of c3po without asking you each time (trust)",
			"six hooks run `c3po hook`: at the start of a session, at a prompt, before a permission dialog, before an edit, after a tool, at the end of a turn. They ask the c3po session process for new mail and for leases of files, tell it that a dialog opens, and do nothing else",
		},
		Notes: []string{
			"nothing can wake an idle Gemini from outside: mail waits until your next prompt. `c3po install gemini --stay-reachable` makes the end of each turn wait for mail instead; Esc ends the wait",
		},
		Stays: true,
		Files: geminiFiles, Setup: geminiSetup,
	}
}

// geminiHooks are the events of Gemini that are answered, and what they are
// called where they are decided.
func geminiHooks() [][2]string {
	return [][2]string{
		{"SessionStart", "SessionStart"}, {"BeforeAgent", "UserPromptSubmit"}, {"Notification", "Notification"}, {"BeforeTool", beforeEdit}, {"AfterTool", "AfterTool"}, {"AfterAgent", "Stop"},
	}
}

func geminiSettings(p Place) string {
	if p.Project != "" {
		return filepath.Join(p.Project, ".gemini", "settings.json")
	}
	return filepath.Join(p.Home, ".gemini", "settings.json")
}

func geminiFiles(p Place) ([]File, error) {
	ours := configedit.JSON{Members: []configedit.Member{{
		Path: []string{"mcpServers", "c3po"},
		Value: map[string]any{
			"command": p.Program, "args": p.arguments("gemini"), "timeout": toolTimeoutMillis, "trust": true,
		},
	}}}
	for _, h := range geminiHooks() {
		command, most := p.hookCommand("gemini", h[0]), geminiHookTimeoutMillis
		if p.Stay && h[0] == "AfterAgent" {
			command, most = p.hookCommand("gemini", "--wait "+h[0]), geminiWaitTimeoutMillis
		}
		group := map[string]any{"hooks": []any{map[string]any{
			"name": "c3po", "type": "command", "command": command, "timeout": most,
		}}}
		if h[1] == beforeEdit {
			group["matcher"] = "^(write_file|replace)$"
		}
		ours.Elements = append(ours.Elements, configedit.Element{Path: []string{"hooks", h[0]}, Mark: geminiMark, Value: group})
	}
	return []File{{Path: geminiSettings(p), Add: ours.Add, Remove: ours.Remove}, skillFile(p)}, nil
}

// geminiSetup reads what settings.json says.
func geminiSetup(p Place) (Setup, error) {
	text, _, err := read(geminiSettings(p))
	if err != nil {
		return Setup{}, err
	}
	var file struct {
		Servers servers `json:"mcpServers"`
		Hooks   map[string][]struct {
			Hooks []struct {
				Command string `json:"command"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	if err := configedit.DecodeJSON(text, &file); err != nil {
		return Setup{}, err
	}
	out := Setup{Command: file.Servers.ourCommand()}
	for _, h := range geminiHooks() {
		found := Hook{Event: h[1], Missing: true}
		for _, group := range file.Hooks[h[0]] {
			for _, written := range group.Hooks {
				if strings.Contains(written.Command, geminiMark) {
					found.Command, found.Missing = shell(written.Command), false
				}
			}
		}
		out.Hooks = append(out.Hooks, found)
	}
	return out, nil
}
