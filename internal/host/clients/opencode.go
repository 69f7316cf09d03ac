package clients

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/c3po-dev/c3po/internal/host/configedit"
)

// opencodePlugin tells the session process what a session does, and the session of its
// mail.
//
//go:embed opencode.ts
var opencodePlugin string

// opencodeProgram is the line of the plugin that names our program.
var opencodeProgram = regexp.MustCompile(`(?m)^const c3po = (".*")$`)

// opencodeApprovals is the line of the plugin that says whether dialogs are questions to
// the person elsewhere.
var opencodeApprovals = regexp.MustCompile(`(?m)^const approvals: boolean = (true|false)$`)

// opencodeToolTimeoutMillis is how many milliseconds a tool may take: more than the longest
// wait there is.
const opencodeToolTimeoutMillis = 3_900_000

func opencode() Client {
	return Client{
		Name: "opencode", Title: "OpenCode", Program: "opencode",
		Approves: []string{
			"a plugin of c3po runs inside OpenCode. It starts no program but c3po, and starts a turn when there is mail",
			"OpenCode may use the tools of c3po without asking you each time, unless your permissions say otherwise",
		},
		Notes:     []string{"OpenCode gets @opencode-ai/plugin from npm when it first starts with a plugin; without a network that start takes a minute longer"},
		Approvals: true,
		Files:     opencodeFiles, Setup: opencodeSetup,
	}
}

// opencodeFolder is where OpenCode looks for plugins.
func opencodeFolder(p Place) string {
	if p.Project != "" {
		return filepath.Join(p.Project, ".opencode")
	}
	return filepath.Join(p.folderFor("XDG_CONFIG_HOME", ".config"), "opencode")
}

func opencodePluginFile(p Place) string {
	return filepath.Join(opencodeFolder(p), "plugin", "c3po.ts")
}

// An opencodeServer is how OpenCode starts our tools.
type opencodeServer struct {
	Type    string   `json:"type"`
	Command []string `json:"command"`
	Enabled bool     `json:"enabled"`
	Timeout int      `json:"timeout"`
}

// opencodeConfig is the file that names servers, and the server of ours in it. Of
// the two that OpenCode reads it is the one that has ours, else one that is there.
func opencodeConfig(p Place) (path string, ours opencodeServer, err error) {
	folder := opencodeFolder(p)
	if p.Project != "" {
		folder = p.Project
	}
	for _, name := range []string{"opencode.jsonc", "opencode.json"} {
		name = filepath.Join(folder, name)
		text, there, err := read(name)
		if err != nil {
			return "", ours, err
		}
		var file struct {
			MCP map[string]opencodeServer `json:"mcp"`
		}
		// One that cannot be read is refused when it is to be changed.
		if configedit.DecodeJSON(text, &file) == nil && len(file.MCP["c3po"].Command) > 0 {
			return name, file.MCP["c3po"], nil
		}
		if there && path == "" {
			path = name
		}
	}
	if path == "" {
		path = filepath.Join(folder, "opencode.json")
	}
	return path, ours, nil
}

func opencodeFiles(p Place) ([]File, error) {
	path, _, err := opencodeConfig(p)
	if err != nil {
		return nil, err
	}
	server := opencodeServer{
		Type: "local", Command: append([]string{p.Program}, p.arguments("opencode")...), Enabled: true, Timeout: opencodeToolTimeoutMillis,
	}
	config := configedit.JSON{Members: []configedit.Member{{Path: []string{"mcp", "c3po"}, Value: server}}}
	program, err := json.Marshal(p.Program)
	if err != nil {
		return nil, err
	}
	plugin := opencodeProgram.ReplaceAllLiteralString(opencodePlugin, "const c3po = "+string(program))
	plugin = opencodeApprovals.ReplaceAllLiteralString(plugin, fmt.Sprintf("const approvals: boolean = %t", p.Approvals))
	return []File{
		{Path: path, Add: config.Add, Remove: config.Remove},
		wholeFile(opencodePluginFile(p), []byte(plugin)),
		skillFile(p),
	}, nil
}

// opencodeSetup is the server that the configuration names, and what the plugin
// runs by the program that is written in it.
func opencodeSetup(p Place) (Setup, error) {
	_, server, err := opencodeConfig(p)
	if err != nil {
		return Setup{}, err
	}
	out := Setup{Wakes: true}
	if server.Enabled {
		out.Command = server.Command
	}
	text, _, err := read(opencodePluginFile(p))
	if err != nil {
		return out, err
	}
	var program string
	if line := opencodeProgram.FindSubmatch(text); line != nil {
		err = json.Unmarshal(line[1], &program)
	}
	if err != nil {
		return out, err
	}
	if line := opencodeApprovals.FindSubmatch(text); line != nil {
		out.Approvals = string(line[1]) == "true"
	}
	if program != "" {
		out.Monitor = []string{program, "monitor", "--client", "opencode"}
	}
	for _, event := range []string{"UserPromptSubmit", "PostToolUse", "Stop"} {
		h := Hook{Event: event, Missing: program == ""}
		if program != "" {
			h.Command = []string{program, "hook", "--client", "opencode", event}
		}
		out.Hooks = append(out.Hooks, h)
	}
	return out, nil
}
