// Package agentfile reads agents.yaml, which names the agents that a host runs
// in containers. It is strict: a key that means nothing is an error that names
// file, line, column and the key that was probably meant, because an agent that
// starts without what its file says is found out too late.
package agentfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/c3po-dev/c3po/c3po"
)

// Name is what the file is called.
const Name = "agents.yaml"

// DefaultClient is the coding agent that runs where none is named; the image that
// we build has it.
const DefaultClient = "claude"

// ShellClient is an agent without a model: its prompt is a script.
const ShellClient = "shell"

// ViaACP has the client do its prompt by the Agent Client Protocol.
const ViaACP = "acp"

// MemoryThread is the memory of an agent that is shown, at each start, the
// conversation it was woken for and the notes it has made.
const MemoryThread = "thread"

// maxFileBytes is more than any file of agents has.
const maxFileBytes = 1 << 18

// maxPromptBytes is what fits into one argument of a program on every system.
const maxPromptBytes = 100_000

// A Config says which file is read. The zero value of every field is usable.
type Config struct {
	Path    string   // what errors call the file
	Home    string   // what ~ stands for
	Clients []string // the coding agents that may be named; only DefaultClient if empty
	ACP     []string // those of them that speak the Agent Client Protocol
}

// A File is what agents.yaml says.
type File struct {
	Path   string
	Agents []Agent // in the order of the file
}

// An Agent is one of the file, checked and with its defaults.
type Agent struct {
	Name      string
	Workspace string // a full path
	Host      string // the first part of its id; the runner decides if empty
	Client    string
	Via       string // ViaACP, or the client's own way to do one prompt
	Image     string // the one we build if empty
	Model     string
	Prompt    string
	Env       []Variable
	Init      []string
	PostRun   []string
	Push      *Push  // none if nil
	Network   string // one of Networks; NetworkOwn if empty
	Triggers  []Trigger
	Memory    string // MemoryThread, or none
	Limits    Limits
	Line      int // where it begins
}

// A Variable is one of an agent's environment.
type Variable struct {
	Name  string
	Value string
	// Inherit says that the file gives no value: it is that of the runner's own
	// environment, so that a secret need not stand in the file.
	Inherit bool
}

// Limits is what one agent may use.
type Limits struct {
	RunsPerHour int           // starts of its container
	RunTimeout  time.Duration // of one run; 0 = as long as it takes
	StopGrace   time.Duration // between the request to end and the end
	Memory      string        // as the container runtime writes it, for example 2g, or All; the runner decides if empty
	CPUs        string        // for example 1.5, or All; the runner decides if empty
	PIDs        int           // processes at a time; the runner decides if 0
}

// All is a limit of memory or processors that is none.
const All = "all"

// The networks of a container.
const (
	NetworkOwn  = "own"  // the outside world, and nothing of this host's loopback
	NetworkNone = "none" // nothing but the coordinator
	NetworkHost = "host" // that of this host, with all that listens on its loopback
)

// Networks are the networks that can be asked for.
func Networks() []string { return []string{NetworkOwn, NetworkNone, NetworkHost} }

// A Push is where a branch of the workspace's repository goes after each run.
type Push struct {
	To     string // an address, never taken from the workspace
	Branch string // there and in the workspace
}

// DefaultLimits are those of an agent that sets none.
func DefaultLimits() Limits { return Limits{RunsPerHour: 60, StopGrace: 10 * time.Second} }

// Read reads the file. One that is not there names no agents.
func Read(cfg Config) (*File, error) {
	info, err := os.Stat(cfg.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{Path: cfg.Path}, nil
	}
	if err == nil && info.Size() > maxFileBytes {
		return nil, place{cfg.Path, 1, 1}.refuse("this is no file of agents: it has %d bytes", info.Size()).Suggest("Move it away.")
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(cfg.Path)
	}
	if err != nil {
		return nil, c3po.Errorf(c3po.InvalidRequest, "cannot read %s: %w", cfg.Path, err).Suggest("Check who owns it.")
	}
	return Parse(cfg, data)
}

// Parse is Read for what has been read.
func Parse(cfg Config, data []byte) (*File, error) {
	if len(cfg.Clients) == 0 {
		cfg.Clients = []string{DefaultClient}
	}
	r := reader{cfg}
	tree, err := parser.ParseBytes(bytes.TrimPrefix(data, []byte("\ufeff")), 0) // some editors begin a file with a mark
	if err != nil {
		return nil, r.misspelt(err)
	}
	file := &File{Path: cfg.Path}
	for i, doc := range tree.Docs {
		if doc.Body == nil {
			continue
		}
		if i > 0 {
			return nil, r.at(doc.Body).refuse("there is a second document").Suggest("Keep all agents in one, without ---.")
		}
		pairs, err := r.pairs(doc.Body, "the file")
		if err != nil {
			return nil, err
		}
		for _, pair := range pairs {
			agent, err := r.agent(pair)
			if err != nil {
				return nil, err
			}
			file.Agents = append(file.Agents, agent)
		}
	}
	return file, nil
}

// Agent is the one of that name.
func (f *File) Agent(name string) (Agent, error) {
	var names []string
	for _, agent := range f.Agents {
		if agent.Name == name {
			return agent, nil
		}
		names = append(names, agent.Name)
	}
	err := c3po.Errorf(c3po.AgentNotFound, "%s names no agent %.80q", f.Path, name)
	if near := nearest(name, names); near != "" {
		return Agent{}, err.Suggest("Did you mean %s?", near)
	}
	if len(names) == 0 {
		return Agent{}, err.Suggest("It names none at all; add a line such as `%s: ~/Code/project`.", "coder")
	}
	return Agent{}, err.Suggest("`c3po agent list` shows those it names.")
}

// agent reads one entry of the file, in its short form or as a block.
func (r reader) agent(pair *ast.MappingValueNode) (Agent, error) {
	name, err := r.key(pair)
	if err != nil {
		return Agent{}, err
	}
	agent := Agent{Name: name, Client: DefaultClient, Limits: DefaultLimits(), Line: r.at(pair.Key).line}
	if id, err := c3po.ParseAgentID(name); err != nil || id.Host() != "" || id.Reserved() {
		return Agent{}, r.at(pair.Key).refuse("%.80q cannot be the name of an agent", name).
			Suggest("A name has 1-64 of A-Z a-z 0-9 _ . -, starts with a letter or digit, and is none that c3po keeps for itself; the host is set with `host:`.")
	}
	var triggers ast.Node
	keys := agentKeys(&agent, &triggers)
	switch pair.Value.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		err = r.fill(pair.Value, "agent "+name, keys)
	default: // the short form, or something that is neither
		err = r.set(pair.Value, key{name: name, set: keys[0].set})
	}
	if err == nil && agent.Workspace == "" {
		err = r.at(pair.Key).refuse("agent %s has no workspace", name).Suggest("Give it the folder it works in: `workspace: ~/Code/project`.")
	}
	if err == nil && agent.Client == ShellClient && agent.Prompt == "" {
		err = r.at(pair.Key).refuse("agent %s is a shell without a script", name).Suggest("Give it one as `prompt: |`.")
	}
	if err == nil && agent.Client != DefaultClient && agent.Client != ShellClient && agent.Image == "" {
		err = r.at(pair.Key).refuse("agent %s runs %s, which the built-in image does not have", name, agent.Client).
			Suggest("Name an image that has it with `image:`.")
	}
	if err == nil && agent.Via == ViaACP && !slices.Contains(r.ACP, agent.Client) {
		err = r.at(pair.Key).refuse("agent %s runs %s, which does not speak the Agent Client Protocol", name, agent.Client).
			Suggest("Leave out `via:`. These speak it: %s.", strings.Join(r.ACP, ", "))
	}
	if err == nil && agent.Push != nil && agent.Push.Branch == "" {
		agent.Push.Branch = name
	}
	if err == nil && triggers != nil {
		agent.Triggers, err = r.triggers(triggers, &agent)
	}
	return agent, err
}
