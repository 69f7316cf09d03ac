package dialect

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// Register is the argument of /agents/register and of the tool
// register_agent.
type Register struct {
	AgentID   string          `json:"agentId,omitempty" jsonschema:"Your handle; the id you act as if left out"`
	Type      string          `json:"type,omitempty" jsonschema:"Kind of client, for example codex"`
	Metadata  json.RawMessage `json:"metadata,omitempty" jsonschema:"A JSON object of at most 4 KiB; cwd and capabilities in it are shown to others"`
	Heartbeat int             `json:"heartbeatIntervalMs,omitempty" jsonschema:"Milliseconds between heartbeats, if the agent sends any"`
}

// Registered says until when the agent is online if nothing more is heard
// of it.
type Registered struct {
	AgentID   c3po.AgentID `json:"agentId"`
	Status    string       `json:"status" enum:"registered"`
	ExpiresAt time.Time    `json:"expiresAt"` // until then it is online if nothing more is heard of it
}

// AgentsInput selects and pages.
type AgentsInput struct {
	Type   string      `json:"type,omitempty" jsonschema:"Only agents of this kind of client"`
	Status c3po.Status `json:"status,omitempty" jsonschema:"Only agents that are online or offline"`
	Cursor string      `json:"cursor,omitempty" jsonschema:"Where to go on: the next of an earlier answer"`
	Limit  int         `json:"limit,omitempty" jsonschema:"How many at the most"`
}

// An Agent is an agent as the bridge lists it.
type Agent struct {
	AgentID       c3po.AgentID    `json:"agentId"`
	Type          string          `json:"type"`
	Status        c3po.Status     `json:"status"`
	LastHeartbeat time.Time       `json:"lastHeartbeat"`
	Metadata      json.RawMessage `json:"metadata"`
}

// An AgentList is one page of agents in the order they registered.
type AgentList struct {
	Agents []Agent `json:"agents"`
	Next   string  `json:"next,omitempty"`
}

// Rows is the part that is answered as a bare array.
func (l *AgentList) Rows() any { return &l.Agents }

// Cursor is where the next page starts.
func (l *AgentList) Cursor() *string { return &l.Next }

// A CoWorker is an agent in one line.
type CoWorker struct {
	AgentID c3po.AgentID `json:"agentId"`
	Type    string       `json:"type"`
	Cwd     string       `json:"cwd"`
}

// A CoWorkerList is one page of co-workers.
type CoWorkerList struct {
	CoWorkers []CoWorker `json:"co_workers"`
	Next      string     `json:"next,omitempty"`
}

// Rows is the part that is answered as a bare array.
func (l *CoWorkerList) Rows() any { return &l.CoWorkers }

// Cursor is where the next page starts.
func (l *CoWorkerList) Cursor() *string { return &l.Next }

// register registers only the caller: one agent cannot register another.
func register(svc c3po.Service, ctx context.Context, in Register) (Registered, error) {
	if in.AgentID != "" {
		self, err := svc.WhoAmI(ctx, c3po.None{})
		if err != nil {
			return Registered{}, err
		}
		if c3po.AgentID(in.AgentID) != self.ID && in.AgentID != self.ID.Name() {
			return Registered{}, c3po.Errorf(c3po.Forbidden, "you are '%s', not '%s'", self.ID, c3po.Clip(in.AgentID)).
				Suggest("Leave agentId out. Another agent registers itself, with `bridge-register --agent %s`.", c3po.Clip(in.AgentID))
		}
	}
	return Broker{svc}.Register(ctx, in, c3po.DefaultLimits().OnlineWindow)
}

func listAgents(svc c3po.Service, ctx context.Context, in AgentsInput) (AgentList, error) {
	return Broker{svc}.Agents(ctx, in)
}

func listCoWorkers(svc c3po.Service, ctx context.Context, in AgentsInput) (CoWorkerList, error) {
	list, err := svc.ListAgents(ctx, c3po.ListAgentsInput{Cursor: in.Cursor, Limit: in.Limit, Status: in.Status, Type: in.Type})
	out := CoWorkerList{CoWorkers: []CoWorker{}, Next: list.Next}
	for _, agent := range list.Agents {
		out.CoWorkers = append(out.CoWorkers, CoWorker{AgentID: agent.ID, Type: agent.Type, Cwd: agent.Cwd})
	}
	return out, err
}

// RefuseNotRegistered is AGENT_NOT_FOUND in the bridge's words; the advice stays.
func RefuseNotRegistered(target string, err error) error {
	if !errors.Is(err, c3po.AgentNotFound) {
		return err
	}
	return c3po.Errorf(c3po.AgentNotFound, "agent not registered: '%s'", c3po.Clip(target)).
		Suggest("%s It registers with `bridge-register --agent %s`.", c3po.AsError(err).Suggestion, c3po.Clip(target))
}

// Register stores what the caller says of itself. An agent that registers again has
// reconnected; its earlier record is replaced.
func (b Broker) Register(ctx context.Context, in Register, onlineFor time.Duration) (Registered, error) {
	about, err := readMetadata(in.Metadata)
	if err != nil {
		return Registered{}, err
	}
	if in.Heartbeat < 0 {
		return Registered{}, c3po.Errorf(c3po.InvalidRequest, "heartbeatIntervalMs cannot be negative").Suggest("Leave it out, or give milliseconds.")
	}
	if about.Capabilities == nil {
		about.Capabilities = []string{} // those of the record before are replaced as well
	}
	if len(in.Metadata) == 0 {
		in.Metadata = json.RawMessage("{}")
	}
	beat := seconds(in.Heartbeat)
	self, err := b.Service.RegisterAgent(ctx, c3po.RegisterInput{
		Type: in.Type, Metadata: in.Metadata, Cwd: about.Cwd, Capabilities: about.Capabilities, HeartbeatInterval: &beat,
	})
	if err != nil {
		return Registered{}, err
	}
	return Registered{AgentID: self.ID, Status: "registered", ExpiresAt: self.Expires(onlineFor)}, nil
}

// described are the parts of an agent's metadata that we know by themselves.
type described struct {
	Cwd          string   `json:"cwd,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
}

func readMetadata(metadata json.RawMessage) (described, error) {
	var about described
	if len(metadata) == 0 {
		return about, nil
	}
	if err := json.Unmarshal(metadata, &about); err != nil {
		return about, c3po.Errorf(c3po.InvalidRequest, "metadata is not an object, or cwd in it is not a text, or capabilities are not a list of texts").
			Suggest(`For example {"cwd": "/home/user/project-a", "capabilities": ["review", "tests"]}.`)
	}
	return about, nil
}

// Agents lists who is there.
func (b Broker) Agents(ctx context.Context, in AgentsInput) (AgentList, error) {
	list, err := b.Service.ListAgents(ctx, c3po.ListAgentsInput{Cursor: in.Cursor, Limit: in.Limit, Status: in.Status, Type: in.Type})
	if err != nil {
		return AgentList{}, err
	}
	out := AgentList{Agents: []Agent{}, Next: list.Next}
	for _, agent := range list.Agents {
		about, err := aboutAgent(agent)
		if err != nil {
			return AgentList{}, err
		}
		out.Agents = append(out.Agents, Agent{
			AgentID: agent.ID, Type: agent.Type, Status: agent.Status, LastHeartbeat: agent.LastSeen, Metadata: about,
		})
	}
	return out, nil
}

// aboutAgent is the metadata of an agent, with what it said elsewhere than there.
func aboutAgent(agent c3po.Agent) (json.RawMessage, error) {
	about := map[string]json.RawMessage{}
	if len(agent.Metadata) > 0 {
		if err := json.Unmarshal(agent.Metadata, &about); err != nil {
			return nil, err
		}
	}
	elsewhere, err := json.Marshal(described{Cwd: agent.Cwd, Capabilities: agent.Capabilities})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(elsewhere, &about); err != nil {
		return nil, err
	}
	return json.Marshal(about)
}
