package agentfile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

func config() agentfile.Config {
	return agentfile.Config{Path: "agents.yaml", Home: "/home/ada", Clients: []string{"claude", "codex", "gemini", "shell"}, ACP: []string{"gemini"}}
}

const whole = `# what this host runs
notes: ~/Documents/Notes
coder:
  workspace: ~/Code/project
  host: docker
  client: codex
  image: registry.example/team/codex:1
  model: opus
  env:
    ANTHROPIC_BASE_URL: https://api.anthropic.com
    PORT: 8080
    DEBUG: true
    SECRET:
  init:
    - "source ~/venv/bin/activate"
    - npm ci
  prompt: |
    Look into your mail
    and answer it.
  triggers:
    - c3po
    - type: script
      command: ./has-work
    - {type: cron, schedule: "*/15 8-18 * * mon-fri"}
    - type: file
      path: inbox
    - type: webhook
      port: 8901
      path: /deploy
  post_run: notify-send done
  push:
    to: git@git.example:team/project.git
    branch: agent/coder
  network: none
  memory: thread
  limits:
    runs_per_hour: 12
    run_timeout: 30m
    stop_grace: 5s
    memory: 2g
    cpus: 1.5
    pids: 200
`

func TestTheShortAndTheBlockFormAreRead(t *testing.T) {
	t.Parallel()
	file, err := agentfile.Parse(config(), []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := []agentfile.Agent{
		{Name: "notes", Workspace: "/home/ada/Documents/Notes", Client: "claude", Limits: agentfile.DefaultLimits(), Line: 2},
		{
			Name: "coder", Workspace: "/home/ada/Code/project", Host: "docker", Client: "codex", Image: "registry.example/team/codex:1", Model: "opus", Line: 3,
			Env: []agentfile.Variable{
				{Name: "ANTHROPIC_BASE_URL", Value: "https://api.anthropic.com"}, {Name: "PORT", Value: "8080"}, {Name: "DEBUG", Value: "true"}, {Name: "SECRET", Inherit: true},
			},
			Init:   []string{"source ~/venv/bin/activate", "npm ci"},
			Prompt: "Look into your mail\nand answer it.",
			Triggers: []agentfile.Trigger{
				{Type: agentfile.TriggerC3PO},
				{Type: agentfile.TriggerScript, Command: "./has-work"},
				{Type: agentfile.TriggerCron, Schedule: schedule(t, "*/15 8-18 * * mon-fri")},
				{Type: agentfile.TriggerFile, Path: "/home/ada/Code/project/inbox"},
				{Type: agentfile.TriggerWebhook, Port: 8901, Path: "/deploy"},
			},
			PostRun: []string{"notify-send done"},
			Push:    &agentfile.Push{To: "git@git.example:team/project.git", Branch: "agent/coder"},
			Network: agentfile.NetworkNone,
			Memory:  agentfile.MemoryThread,
			Limits:  agentfile.Limits{RunsPerHour: 12, RunTimeout: 30 * time.Minute, StopGrace: 5 * time.Second, Memory: "2g", CPUs: "1.5", PIDs: 200},
		},
	}
	if diff := cmp.Diff(want, file.Agents, cmpopts.EquateComparable(agentfile.Schedule{})); diff != "" {
		t.Errorf("the file is read otherwise (-want +got):\n%s", diff)
	}
}

// mistakes are files with one each, and what is said of it. Those that a schema
// cannot see have a reason.
var mistakes = []struct {
	name, text, error, advice string
	unseen                    string
}{
	{"a key that is nearly right", "a:\n  workspace: /w\n  modle: opus\n", `agents.yaml:3:3: agent a has no key "modle"`, "Did you mean model?", ""},
	{"a key with a dash", "a:\n  workspace: /w\n  post-run: x\n", `agents.yaml:3:3: agent a has no key "post-run"`, "Did you mean post_run?", ""},
	{"a key far from all", "a:\n  workspace: /w\n  frobnicate: x\n", `agents.yaml:3:3: agent a has no key "frobnicate"`, "It may have: workspace, host,", ""},
	{"a limit that is nearly right", "a:\n  workspace: /w\n  limits:\n    cpu: 2\n", `agents.yaml:4:5: limits has no key "cpu"`, "Did you mean cpus?", ""},
	{"no workspace", "a:\n  model: opus\n", "agents.yaml:1:1: agent a has no workspace", "Give it the folder", ""},
	{"an agent without a value", "a:\n", "agents.yaml:1:4: a has no value", "`a: value`", ""},
	{"a key without a value", "a:\n  workspace: /w\n  prompt:\n", "agents.yaml:3:11: prompt has no value", "take the line out", ""},
	{"a path that depends on the place", "a: Code/x\n", `agents.yaml:1:4: workspace "Code/x" is not a full path`, "~/", ""},
	{"the home of somebody else", "a: ~bob/x\n", "not a full path", "~/", ""},
	{"a colon in a folder", "a: /w:x\n", "has a colon in it", "rename it", ""},
	{"a list of agents", "- a\n", "agents.yaml:1:1: the file holds no keys", "`key: value`", ""},
	{"a list for a workspace", "a: [x]\n", "agents.yaml:1:4: workspace takes one text", "`workspace: value`", ""},
	{"a name that poses as a person", "human: /w\n", `agents.yaml:1:1: "human" cannot be the name`, "keeps for itself", "the reserved names are not repeated in the schema"},
	{"a host in a name", "docker/a: /w\n", "cannot be the name", "`host:`", ""},
	{"an unknown client", "a:\n  workspace: /w\n  client: codx\n", `agents.yaml:3:11: client cannot be "codx"`, "Did you mean codex?", "the clients are those of the program that reads the file"},
	{"a client that our image does not have", "a:\n  workspace: /w\n  client: codex\n", "agents.yaml:1:1: agent a runs codex", "image", "it depends on two keys"},
	{"a client that does not speak ACP", "a:\n  workspace: /w\n  client: codex\n  image: img\n  via: acp\n", "agents.yaml:1:1: agent a runs codex, which does not speak", "These speak it: gemini.", "it depends on two keys"},
	{"a way that is none", "a:\n  workspace: /w\n  via: acpp\n", `via cannot be "acpp"`, "acp", ""},
	{"a shell without a script", "a:\n  workspace: /w\n  client: shell\n", "agents.yaml:1:1: agent a is a shell without a script", "prompt", "it depends on two keys"},
	{"an option for an image", "a:\n  workspace: /w\n  image: --privileged\n", "image cannot be", "Give a name", ""},
	{"an option for a model", "a:\n  workspace: /w\n  model: --x\n", "model cannot be", "Give a name", ""},
	{"an option for a prompt", "a:\n  workspace: /w\n  prompt: --dangerous\n", "prompt begins with a dash", "Begin it with a word.", ""},
	{"an empty prompt", "a:\n  workspace: /w\n  prompt: ' '\n", "prompt has no text", "take the line out", ""},
	{"a variable that is none", "a:\n  workspace: /w\n  env:\n    A-B: x\n", `agents.yaml:4:5: "A-B" cannot be the name of a variable`, "letters", ""},
	{"a variable that is a list", "a:\n  workspace: /w\n  env:\n    A: [x]\n", "agents.yaml:4:8: A takes one text", "A: value", ""},
	{"lists in a list", "a:\n  workspace: /w\n  init:\n    - [x]\n", "agents.yaml:4:7: init takes a list of texts", "dash", ""},
	{"an empty command", "a:\n  workspace: /w\n  init: ['']\n", "init has an empty entry", "Take it out.", ""},
	{"one trigger without a list", "a:\n  workspace: /w\n  triggers: c3po\n", "triggers takes a list", "`- c3po`", ""},
	{"an unknown trigger", "a:\n  workspace: /w\n  triggers: [{type: crom, schedule: '@daily'}]\n", `type cannot be "crom"`, "Did you mean cron?", ""},
	{"a trigger without a type", "a:\n  workspace: /w\n  triggers: [{command: x}]\n", "has no type", "c3po, script", ""},
	{"a script without a command", "a:\n  workspace: /w\n  triggers: [script]\n", "a trigger of type script needs command", "command:", ""},
	{"mail with a command", "a:\n  workspace: /w\n  triggers: [{type: c3po, command: x}]\n", "a trigger of type c3po has no command", "Take it out", ""},
	{"a day that never comes", "a:\n  workspace: /w\n  triggers: [{type: cron, schedule: '0 0 30 2 *'}]\n", "never comes", "calendar", "a pattern knows no calendar"},
	{"a schedule of four fields", "a:\n  workspace: /w\n  triggers: [{type: cron, schedule: '0 0 * *'}]\n", "has 4 fields instead of 5", "@hourly", ""},
	{"an hour that is none", "a:\n  workspace: /w\n  triggers: [{type: cron, schedule: '0 24 * * *'}]\n", `"24" is no hour of a schedule`, "0 to 23", "a pattern knows no hours"},
	{"a file outside by ..", "a:\n  workspace: /w\n  triggers: [{type: file, path: ../x}]\n", "leaves the workspace", "full path", "a pattern cannot follow a path"},
	{"a port that is none", "a:\n  workspace: /w\n  triggers: [{type: webhook, port: 70000}]\n", "port cannot be", "65535", ""},
	{"a path that is none", "a:\n  workspace: /w\n  triggers: [{type: webhook, port: 7000, path: x}]\n", "path cannot be", "/deploy", ""},
	{"a program for a remote", "a:\n  workspace: /w\n  push: 'ext::sh -c id'\n", "to cannot be", "address of git", ""},
	{"an option for a remote", "a:\n  workspace: /w\n  push: --receive-pack=id\n", "to cannot be", "address of git", ""},
	{"a host that is an option", "a:\n  workspace: /w\n  push: ssh://-oProxyCommand=id/x\n", "to cannot be", "address of git", ""},
	{"an option for a branch", "a:\n  workspace: /w\n  push: {to: /r, branch: --all}\n", "branch cannot be", "agent/reviewer", ""},
	{"a branch without an address", "a:\n  workspace: /w\n  push: {branch: b}\n", "push has no address", "to:", ""},
	{"an unknown network", "a:\n  workspace: /w\n  network: hots\n", `network cannot be "hots"`, "Did you mean host?", ""},
	{"an unknown memory", "a:\n  workspace: /w\n  memory: threads\n", `memory cannot be "threads"`, "Did you mean thread?", ""},
	{"a time without its unit", "a:\n  workspace: /w\n  limits:\n    run_timeout: 30\n", `run_timeout cannot be "30"`, "unit", ""},
	{"no runs at all", "a:\n  workspace: /w\n  limits:\n    runs_per_hour: 0\n", "runs_per_hour cannot be", "from 1", ""},
	{"a size without its unit", "a:\n  workspace: /w\n  limits:\n    memory: 2\n", "memory cannot be", "2g", ""},
	{"no processor at all", "a:\n  workspace: /w\n  limits:\n    cpus: 0\n", "cpus cannot be", "0.01", ""},
}

func TestAMistakeIsNamedWithItsPlaceAndWhatWasMeant(t *testing.T) {
	t.Parallel()
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			_, err := agentfile.Parse(config(), []byte(m.text))
			if err == nil {
				t.Fatal("it is accepted")
			}
			e := c3po.AsError(err)
			if e.Code != c3po.InvalidRequest || !strings.Contains(e.Message, m.error) || !strings.Contains(e.Suggestion, m.advice) {
				t.Errorf("it is refused with %q (%s), hint %q", e.Message, e.Code, e.Suggestion)
			}
			if !strings.HasPrefix(e.Message, "agents.yaml:") {
				t.Errorf("the error does not begin with its place: %s", e.Message)
			}
		})
	}
}

func TestWhatIsNotYAMLIsSaidWithItsLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: /w\n\tb: x\n":                      "agents.yaml:2:",
		"a: [\n":                               "agents.yaml:1:",
		"a: /w\na: /x\n":                       "agents.yaml:2:1: ",
		"a:\n  workspace: /w\n  workspace: /x": "agents.yaml:3:3: ",
		"a: /w\n---\nb: /w\n":                  "agents.yaml:3:",
		"a: &x /w\nb: *x\n":                    "agents.yaml:1:",
		"a: !!str /w\n":                        "agents.yaml:1:",
		"<<: {a: /w}\n":                        "agents.yaml:1:1: ",
	} {
		_, err := agentfile.Parse(config(), []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) || c3po.AsError(err).Suggestion == "" {
			t.Errorf("%q gives %v, want %s…", text, err, want)
		}
	}
}

func TestAFileMayBeMissingOrEmpty(t *testing.T) {
	t.Parallel()
	cfg := config()
	cfg.Path = filepath.Join(t.TempDir(), agentfile.Name)
	if file, err := agentfile.Read(cfg); err != nil || len(file.Agents) != 0 {
		t.Errorf("a file that is not there: %+v, %v", file, err)
	}
	for _, text := range []string{"", "# none yet\n", "---\n", "\ufeffa: /w\r\n"} {
		if err := os.WriteFile(cfg.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := agentfile.Read(cfg); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := os.WriteFile(cfg.Path, []byte(strings.Repeat("# long\n", 1<<16)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := agentfile.Read(cfg); err == nil || !strings.Contains(err.Error(), "no file of agents") {
		t.Errorf("a file that is far too long: %v", err)
	}
}

func TestAnAgentIsFoundByNameOrTheNearestIsNamed(t *testing.T) {
	t.Parallel()
	file, err := agentfile.Parse(config(), []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if agent, err := file.Agent("notes"); err != nil || agent.Name != "notes" {
		t.Errorf("notes: %+v, %v", agent, err)
	}
	_, err = file.Agent("codr")
	if e := c3po.AsError(err); e == nil || e.Code != c3po.AgentNotFound || e.Suggestion != "Did you mean coder?" {
		t.Errorf("codr: %+v", e)
	}
	_, err = (&agentfile.File{Path: "agents.yaml"}).Agent("x")
	if e := c3po.AsError(err); e == nil || !strings.Contains(e.Suggestion, "It names none") {
		t.Errorf("no agents: %+v", e)
	}
}

// validator is the schema as an editor uses it.
func validator(t testing.TB) *jsonschema.Resolved {
	t.Helper()
	var schema jsonschema.Schema
	if err := json.Unmarshal(agentfile.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func fits(t testing.TB, schema *jsonschema.Resolved, text string) error {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	return schema.Validate(value)
}

// An editor that shows a file as right which is then refused, or the other way
// round, is worse than none.
func TestTheSchemaAcceptsWhatTheReaderAccepts(t *testing.T) {
	t.Parallel()
	schema := validator(t)
	if err := fits(t, schema, whole); err != nil {
		t.Errorf("the schema refuses what is read: %v", err)
	}
	for _, m := range mistakes {
		err := fits(t, schema, m.text)
		if m.unseen == "" && err == nil {
			t.Errorf("the schema accepts %s", m.name)
		}
		if m.unseen != "" && err != nil {
			t.Errorf("the schema does see %s: %v", m.name, err)
		}
	}
}

func TestTheSchemaHasTheKeysOfTheReader(t *testing.T) {
	t.Parallel()
	var schema struct {
		Defs map[string]struct {
			Properties map[string]any
		} `json:"$defs"`
	}
	if err := json.Unmarshal(agentfile.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	for def, keys := range map[string][]string{"agent": agentfile.AgentKeyNames(), "limits": agentfile.LimitKeyNames()} {
		var have []string
		for name := range schema.Defs[def].Properties {
			have = append(have, name)
		}
		if diff := cmp.Diff(keys, have, cmpopts.SortSlices(strings.Compare)); diff != "" {
			t.Errorf("the keys of %s (-reader +schema):\n%s", def, diff)
		}
	}
}

func FuzzAgentFile(f *testing.F) {
	f.Add([]byte(whole))
	for _, m := range mistakes {
		f.Add([]byte(m.text))
	}
	for _, seed := range []string{"? x\n: y", "!!binary x", "\t", "&a [*a]", "a: |\n  /w", "a: .inf", "? [a]\n: /w", "a: {workspace: /w, env: {A: .nan}}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := agentfile.Parse(config(), data)
		if err != nil {
			e := c3po.AsError(err)
			if e.Code != c3po.InvalidRequest || e.Suggestion == "" || strings.Contains(e.Message, "\n") || !strings.HasPrefix(e.Message, "agents.yaml:") {
				t.Errorf("%q is refused with %+v", data, e)
			}
			return
		}
		for _, agent := range file.Agents {
			if !filepath.IsAbs(agent.Workspace) || agent.Client == "" || agent.Limits.RunsPerHour < 1 || agent.Limits.StopGrace <= 0 {
				t.Errorf("%q gives %+v", data, agent)
			}
			if _, err := c3po.ParseAgentID("docker/" + agent.Name); err != nil {
				t.Errorf("%q names %q", data, agent.Name)
			}
			for _, text := range []string{agent.Prompt, agent.Model, agent.Image} {
				if strings.HasPrefix(text, "-") || strings.ContainsRune(text, 0) {
					t.Errorf("%q gives an argument that is an option: %q", data, text)
				}
			}
			for _, trigger := range agent.Triggers {
				if trigger.Type == agentfile.TriggerCron && trigger.Schedule.Next(time.Unix(0, 0)).IsZero() {
					t.Errorf("%q never comes", data)
				}
			}
		}
	})
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

func TestTheExamplesOfTheDocumentAreRight(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/guides/runner.md")
	if err != nil {
		t.Fatal(err)
	}
	schema, agents := validator(t), 0
	for _, block := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
		file, err := agentfile.Parse(config(), []byte(block[1]))
		if err != nil {
			t.Errorf("%v:\n%s", err, block[1])
			continue
		}
		if len(file.Agents) == 0 {
			continue
		}
		agents += len(file.Agents)
		if err := fits(t, schema, block[1]); err != nil {
			t.Errorf("the schema refuses it: %v:\n%s", err, block[1])
		}
	}
	if agents < 3 {
		t.Errorf("it shows %d agents", agents)
	}
	for _, key := range agentfile.AgentKeyNames() {
		if !strings.Contains(string(text), "| `"+key+"` |") {
			t.Errorf("docs/guides/runner.md has no row for %s", key)
		}
	}
	for _, key := range agentfile.LimitKeyNames() {
		if !strings.Contains(string(text), "`"+key+"`") {
			t.Errorf("docs/guides/runner.md does not name %s", key)
		}
	}
}
