package clients

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/c3po-dev/c3po/internal/host/configedit"
)

const (
	// kimiMark is in every hook of ours.
	kimiMark = "hook --client kimi"
	// kimiHookTimeoutSeconds is how many seconds a hook may take. It ends by itself in a
	// fraction of that, whatever the coordinator does.
	kimiHookTimeoutSeconds = 5
)

func kimi() Client {
	return Client{
		Name: "kimi", Title: "Kimi Code", Program: "kimi", Shell: true,
		Approves: []string{
			"eight hooks run `c3po hook`: at a prompt, before an edit, after a tool, when a permission dialog opens and closes, when a turn is interrupted, at the end of a turn and of a session. They ask the c3po session process for new mail and for leases of files, tell it of dialogs, and do nothing else",
		},
		Notes: []string{
			"Kimi asks you before each use of a tool of c3po, and has no setting against it that works: start it as `kimi --auto` if it should answer mail by itself",
			"Kimi needs Node 22.19 or later; the npm package `node` has one",
			"an idle Kimi wakes up only while `c3po wait --notice` runs in one of its background shells, which it starts at the start of a session",
		},
		Files: kimiFiles, Setup: kimiSetup,
	}
}

// kimiHooks are the events of Kimi that are answered. What is said at the start of
// a session does not reach its model, so it is said at the first prompt.
func kimiHooks() []string {
	return []string{"UserPromptSubmit", kimiEdits, "PostToolUse", "PermissionRequest", "PermissionResult", "Interrupt", "Stop", "SessionEnd"}
}

// kimiEdits is the event of an edit that is about to be made.
const kimiEdits = "PreToolUse"

func kimiHome(p Place) string { return p.folderFor("KIMI_CODE_HOME", ".kimi-code") }

// kimiServers is the file of its servers, which there is for a project too.
func kimiServers(p Place) string {
	if p.Project != "" {
		return filepath.Join(p.Project, ".kimi-code", "mcp.json")
	}
	return filepath.Join(kimiHome(p), "mcp.json")
}

func kimiConfig(p Place) string { return filepath.Join(kimiHome(p), "config.toml") }

func kimiFiles(p Place) ([]File, error) {
	ours := configedit.JSON{Members: []configedit.Member{{
		Path:  []string{"mcpServers", "c3po"},
		Value: map[string]any{"command": p.Program, "args": p.arguments("kimi"), "toolTimeoutMs": toolTimeoutMillis},
	}}}
	var hooks configedit.TOML
	for _, event := range kimiHooks() {
		keys := []configedit.Key{
			{Name: "event", Value: configedit.TOMLText(event)},
			{Name: "command", Value: configedit.TOMLText(p.hookCommand("kimi", event))},
			{Name: "timeout", Value: fmt.Sprint(kimiHookTimeoutSeconds)},
		}
		if event == kimiEdits {
			keys = append(keys, configedit.Key{Name: "matcher", Value: configedit.TOMLText("^(Write|Edit|WriteFile|StrReplaceFile)$")})
		}
		hooks.Tables = append(hooks.Tables, configedit.Table{Path: []string{"hooks"}, Array: true, Mark: kimiMark + " " + event, Keys: keys})
	}
	return []File{
		{Path: kimiServers(p), Add: ours.Add, Remove: ours.Remove},
		{
			Path: kimiConfig(p),
			Add: func(text []byte) ([]byte, []configedit.Undo, error) {
				text, err := hooks.Add(text)
				return text, nil, err
			},
			Remove: func(text []byte, _ []configedit.Undo) ([]byte, error) { return hooks.Remove(text) },
			Shared: p.Project != "", // its hooks are always the user's
		},
		skillFile(p),
	}, nil
}

// kimiSetup reads what both files say.
func kimiSetup(p Place) (Setup, error) {
	var file struct {
		Servers servers `json:"mcpServers"`
	}
	text, _, err := read(kimiServers(p))
	if err == nil {
		err = configedit.DecodeJSON(text, &file)
	}
	if err != nil {
		return Setup{}, err
	}
	var config struct {
		Hooks []struct {
			Event   string `toml:"event"`
			Command string `toml:"command"`
		} `toml:"hooks"`
	}
	if text, _, err = read(kimiConfig(p)); err == nil {
		err = configedit.DecodeTOML(text, &config)
	}
	if err != nil {
		return Setup{}, err
	}
	out := Setup{Command: file.Servers.ourCommand()}
	for _, event := range kimiHooks() {
		found := Hook{Event: event, Missing: true}
		if event == kimiEdits {
			found.Event = beforeEdit
		}
		for _, written := range config.Hooks {
			if written.Event == event && strings.Contains(written.Command, kimiMark) {
				found.Command, found.Missing = shell(written.Command), false
			}
		}
		out.Hooks = append(out.Hooks, found)
	}
	return out, nil
}
