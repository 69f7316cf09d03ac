package clients

import (
	"encoding/json"
	"path/filepath"

	"github.com/c3po-dev/c3po/internal/host/configedit"
)

// copilotHookTimeoutSeconds is how many seconds a hook may take. It ends by itself in a
// fraction of that, whatever the coordinator does.
const copilotHookTimeoutSeconds = 5

func copilot() Client {
	return Client{
		Name: "copilot", Title: "Copilot CLI", Program: "copilot", Shell: true,
		Approves: []string{
			"Copilot may use the tools of c3po, and run `c3po wait --notice`, without asking you each time: a hook of c3po says so for these alone",
			"seven hooks run `c3po hook`: at the start and the end of a session, at a prompt, before and after a tool, when a request to the model fails, at the end of a turn. They ask the c3po session process for new mail and for leases of files, and do nothing else",
		},
		Notes: []string{
			"an idle Copilot wakes up only while `c3po wait --notice` runs in one of its background shells, which it starts at the start of a session",
		},
		Approvals: true, Holds: true,
		Files: copilotFiles, Setup: copilotSetup,
	}
}

// copilotHooks are the events of Copilot that are answered, and what they are
// called where they are decided.
func copilotHooks() [][2]string {
	return [][2]string{
		{"sessionStart", "SessionStart"}, {"userPromptSubmitted", "userPromptSubmitted"}, {"preToolUse", "preToolUse"},
		{"postToolUse", "postToolUse"}, {"errorOccurred", "errorOccurred"}, {"agentStop", "Stop"}, {"sessionEnd", "SessionEnd"},
	}
}

// copilotAsks is the event of a permission dialog that is about to open.
const copilotAsks = "permissionRequest"

// copilotPlaces are the file of its servers and the one of our hooks. The .mcp.json
// of a project is read by others too, who would not speak as Copilot does.
func copilotPlaces(p Place) (servers, hooks string) {
	if p.Project != "" {
		return filepath.Join(p.Project, ".github", "mcp.json"), filepath.Join(p.Project, ".github", "hooks", "c3po.json")
	}
	home := p.folderFor("COPILOT_HOME", ".copilot")
	return filepath.Join(home, "mcp-config.json"), filepath.Join(home, "hooks", "c3po.json")
}

// A copilotFile is a file of hooks.
type copilotFile struct {
	Version int                      `json:"version"`
	Hooks   map[string][]copilotHook `json:"hooks"`
}

type copilotHook struct {
	Type    string `json:"type"`
	Bash    string `json:"bash"`
	Seconds int    `json:"timeoutSec"`
}

func copilotFiles(p Place) ([]File, error) {
	servers, hooks := copilotPlaces(p)
	ours := configedit.JSON{Members: []configedit.Member{{
		Path: []string{"mcpServers", "c3po"},
		Value: map[string]any{
			"type": "local", "command": p.Program, "args": p.arguments("copilot"), "tools": []string{"*"}, "timeout": toolTimeoutMillis,
		},
	}}}
	written := copilotFile{Version: 1, Hooks: map[string][]copilotHook{}}
	for _, h := range copilotHooks() {
		written.Hooks[h[0]] = []copilotHook{{Type: "command", Bash: p.hookCommand("copilot", h[0]), Seconds: copilotHookTimeoutSeconds}}
	}
	if p.Approvals {
		written.Hooks[copilotAsks] = []copilotHook{{Type: "command", Bash: p.hookCommand("copilot", copilotAsks), Seconds: p.hookSeconds()}}
	}
	text, err := json.MarshalIndent(written, "", "  ")
	if err != nil {
		return nil, err
	}
	return []File{
		{Path: servers, Add: ours.Add, Remove: ours.Remove},
		wholeFile(hooks, append(text, '\n')), skillFile(p),
	}, nil
}

// copilotSetup reads what both files say.
func copilotSetup(p Place) (Setup, error) {
	named, hooked := copilotPlaces(p)
	var file struct {
		Servers servers `json:"mcpServers"`
	}
	text, _, err := read(named)
	if err == nil {
		err = configedit.DecodeJSON(text, &file)
	}
	if err != nil {
		return Setup{}, err
	}
	var hooks copilotFile
	if text, _, err = read(hooked); err == nil {
		err = configedit.DecodeJSON(text, &hooks)
	}
	if err != nil {
		return Setup{}, err
	}
	out := Setup{Command: file.Servers.ourCommand(), Approvals: len(hooks.Hooks[copilotAsks]) > 0}
	out.Hold = held(out.Command)
	for _, h := range copilotHooks() {
		found := Hook{Event: h[1], Missing: true}
		for _, written := range hooks.Hooks[h[0]] {
			found.Command, found.Missing = shell(written.Bash), false
		}
		out.Hooks = append(out.Hooks, found)
	}
	return out, nil
}
