// Package clientrig drives real coding agents in tests: each in a home of its own,
// before a scripted model, plain or in a terminal, with a real coordinator. The tests
// run in a network that has nothing but loopback; test/clients.sh installs the clients
// and makes that network.
package clientrig

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// installed is the variable that says where test/clients.sh has put the clients.
const installed = "C3PO_CLIENTS"

// Key opens nothing: the model is our own.
const Key = "sk-none-needed-on-loopback"

// A Client is a coding agent, and how a test has to do with it.
type Client struct {
	Name  string
	Args  []string                       // it is always given
	Once  []string                       // before a prompt without a terminal
	Open  []string                       // in a terminal
	Ready []string                       // what a terminal shows until it takes input; Enter goes from one to the next
	Pause time.Duration                  // between typing and Enter, which would otherwise be taken for one paste
	Files func(*Agent) map[string]string // below its home: where the model is, and what a person may have set
	Env   func(*Agent) []string
}

const pause = 500 * time.Millisecond

// clients are all of them, by name.
var clients = map[string]Client{
	"claude": {
		Name: "claude", Args: []string{"--permission-mode", "manual"}, Once: []string{"-p"}, Ready: []string{"manual mode on"},
		Env: func(a *Agent) []string {
			env := []string{
				// c3po is not on it: its plugin is told where that is.
				"PATH=" + a.Client.bin(a.T) + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
				"CLAUDE_CONFIG_DIR=" + filepath.Join(a.Home(), ".claude"), "TMPDIR=" + filepath.Join(a.Dir, "tmp"),
				"ANTHROPIC_BASE_URL=" + a.Model.URL, "ANTHROPIC_API_KEY=" + Key, "CLAUDE_CODE_MAX_RETRIES=1",
				"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			}
			if a.Binary != "" {
				env = append(env, "C3PO_BINARY="+a.Binary)
			}
			return env
		},
	},
	"codex": {
		Name: "codex", Once: []string{"exec", "--skip-git-repo-check"}, Ready: []string{"Ask Codex"}, Pause: pause,
		Files: func(a *Agent) map[string]string {
			return map[string]string{".codex/config.toml": fmt.Sprintf(codexConfig, a.Model.URL, a.Folder)}
		},
	},
	"gemini": {
		Name: "gemini", Args: []string{"-m", "gemini-2.5-flash"}, Once: []string{"-p"}, Ready: []string{"Type your message"}, Pause: pause,
		Files: func(a *Agent) map[string]string {
			return map[string]string{
				".gemini/settings.json":       geminiSettings,
				".gemini/trustedFolders.json": fmt.Sprintf(`{%q: "TRUST_FOLDER"}`, a.Folder),
			}
		},
		Env: func(a *Agent) []string {
			return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + a.Model.URL}
		},
	},
	"opencode": {
		Name: "opencode", Once: []string{"run"}, Ready: []string{"Ask anything"}, Pause: pause,
		Files: func(a *Agent) map[string]string {
			// That what plugins import is in place: OpenCode would look for it in a network
			// that is not there, for more than a minute.
			const wants = `"dependencies": {"@opencode-ai/plugin": "1.18.33"}`
			return map[string]string{
				".config/opencode/opencode.jsonc":     fmt.Sprintf(opencodeConfig, a.Model.URL),
				".config/opencode/package.json":       "{" + wants + "}",
				".config/opencode/package-lock.json":  `{"lockfileVersion": 3, "packages": {"": {` + wants + `}}}`,
				".config/opencode/node_modules/.keep": "",
			}
		},
		Env: func(*Agent) []string { return []string{"OPENCODE_DISABLE_MODELS_FETCH=1"} },
	},
	"copilot": {
		Name: "copilot", Once: []string{"-s", "-p"}, Ready: []string{"❯"}, Pause: pause,
		Files: func(a *Agent) map[string]string {
			return map[string]string{
				".copilot/mcp-config.json": "{\n\t\"mcpServers\": {},\n\t\"unheardOf\": [1,\n\t\t2]\n}\n",
				".copilot/config.json":     fmt.Sprintf(`{"trustedFolders": [%q]}`, a.Folder),
			}
		},
		Env: func(a *Agent) []string {
			return []string{
				"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL=" + a.Model.URL + "/v1",
				"COPILOT_PROVIDER_API_KEY=none", "COPILOT_MODEL=of-the-test",
				// It unpacks itself there, 235 MB: once for all tests.
				"XDG_CACHE_HOME=" + filepath.Join(os.Getenv(installed), "copilot", "cache"),
			}
		},
	},
	"kimi": {
		Name: "kimi", Once: []string{"-p"}, Open: []string{"--auto"}, Ready: []string{"Trust this folder", "No session yet"}, Pause: pause,
		Files: func(a *Agent) map[string]string {
			return map[string]string{
				".kimi-code/config.toml": fmt.Sprintf(kimiConfig, a.Model.URL),
				".kimi-code/mcp.json":    "{\n    \"mcpServers\": {\n    }\n}\n",
			}
		},
	},
}

// where is the folder of all clients. Without it the test is skipped.
func where(t *testing.T) string {
	t.Helper()
	folder := os.Getenv(installed)
	if folder == "" {
		t.Skip(installed + " is not set: the run.sh beside this test sets it")
	}
	return folder
}

// bin is the folder of an installed client's program. Without it the test is skipped.
func (c Client) bin(t *testing.T) string {
	t.Helper()
	folder := where(t)
	if _, err := os.Stat(filepath.Join(folder, c.Name, "installed")); err != nil {
		t.Skip(c.Name + " could not be installed; run.sh says so")
	}
	return filepath.Join(folder, c.Name, "node_modules", ".bin")
}

// Modules is where npm has put what a client is made of.
func (c Client) Modules(t *testing.T) string { return filepath.Dir(c.bin(t)) }

// What a person may have in the files of a client, with our model in them.
const (
	codexConfig = `# my settings
model = "of-the-test"   # the big one
model_provider = "test"
sandbox_mode = "read-only"
approval_policy = "never"

[model_providers.test]
name = "test"
base_url = "%s/v1"
env_key = "NO_KEY"
wire_api = "responses"

[analytics]
enabled = false

[features]
plugins = false
daemon_auto_start = false

[projects."%s"]
trust_level = "trusted"
`
	geminiSettings = `{
  // mine
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false, "unheardOf": [1,
    2]}
}
`
	opencodeConfig = `{
  "$schema": "https://opencode.ai/config.json",
  // mine
  "model": "test/of-the-test", "small_model": "test/of-the-test",
  "autoupdate": false, "share": "disabled",
  "provider": {
    "test": {
      "npm": "@ai-sdk/openai-compatible", "name": "test",
      "options": {"baseURL": "%s/v1", "apiKey": "none"},
      "models": {"of-the-test": {"name": "test", "tool_call": true, "limit": {"context": 100000, "output": 4096}, "cost": {"input": 3, "output": 15}}},
    },
  },
}
`
	kimiConfig = `# mine
default_model = "test"
telemetry = false

[providers.test]
type = "openai"
base_url = "%s/v1"
api_key = "none"

[models.test]
provider = "test"
model = "of-the-test"   # the big one
max_context_size = 100000
`
)
