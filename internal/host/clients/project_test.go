package clients_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/internal/host/clients"
)

func TestWhatIsInstalledIntoAProjectIsFoundInItsFiles(t *testing.T) {
	t.Parallel()
	for _, c := range clients.All() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			project := t.TempDir()
			i := installerOf(t, t.TempDir(), c)
			i.Place.Project = project
			if _, err := i.PlanInstall(); err != nil {
				t.Skip(c.Title, "has no files for one project: ", err)
			}
			install(t, i)
			all := clients.ProjectEntries(project)
			if len(all) != 1 || all[0].Client != c.Name || all[0].Start != "/opt/c3po" || all[0].Off || all[0].URL != "" || all[0].Err != nil {
				t.Errorf("found %+v; projectFiles must name the file", all)
			}
		})
	}
}

func TestWhatAPersonHasWrittenIntoAProjectIsFound(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	for name, text := range map[string]string{
		".mcp.json":                   `{"mcpServers": {"c3po": {"url": "http://nas:8420/mcp"}, "other": {"command": "x"}}}`,
		".claude/settings.local.json": `{"enabledPlugins": {"c3po@c3po": false, "other@x": false}}`,
		".codex/config.toml":          "[mcp_servers.c3po]\ncommand = \"c3po\"\nenabled = false\nenv = { C3PO_COORDINATOR_URL = \"http://nas\" }\n",
		"opencode.jsonc":              "{ // mine\n \"mcp\": {\"c3po\": {\"type\": \"local\", \"command\": [\"/old/c3po\", \"mcp\"]}}}",
		".gemini/settings.json":       `{"mcpServers": `,
	} {
		name = filepath.Join(project, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var found []clients.ProjectEntry
	for _, e := range clients.ProjectEntries(project) {
		if e.File == ".gemini/settings.json" {
			if e.Err == nil {
				t.Error("half a file is read as a whole one")
			}
			continue
		}
		found = append(found, e)
	}
	none := map[string]string{}
	want := []clients.ProjectEntry{
		{File: ".mcp.json", Client: "claude", URL: "http://nas:8420/mcp", Env: none},
		{File: ".claude/settings.local.json", Client: "claude", Off: true},
		{File: ".codex/config.toml", Client: "codex", Start: "c3po", Off: true, Env: map[string]string{"C3PO_COORDINATOR_URL": "http://nas"}},
		{File: "opencode.jsonc", Client: "opencode", Start: "/old/c3po", Env: none},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}
