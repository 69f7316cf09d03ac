package a2a

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// A card says what an agent is and how it is called, in both versions: those of 0.3 read
// url and protocolVersion, those of 1.0 the interfaces. Only how security is written has
// two forms that exclude each other.
type card struct {
	Name                 string           `json:"name"`
	Description          string           `json:"description"`
	URL                  string           `json:"url,omitempty"`
	PreferredTransport   string           `json:"preferredTransport,omitempty"`
	ProtocolVersion      string           `json:"protocolVersion,omitempty"`
	Interfaces           []cardInterface  `json:"supportedInterfaces"`
	Version              string           `json:"version"`
	Capabilities         cardCapabilities `json:"capabilities"`
	SecuritySchemes      map[string]any   `json:"securitySchemes"`
	Security             []map[string]any `json:"security,omitempty"`
	SecurityRequirements []map[string]any `json:"securityRequirements,omitempty"`
	InputModes           []string         `json:"defaultInputModes"`
	OutputModes          []string         `json:"defaultOutputModes"`
	Skills               []cardSkill      `json:"skills"`
}

type cardInterface struct {
	URL             string `json:"url"`
	ProtocolBinding string `json:"protocolBinding"`
	ProtocolVersion string `json:"protocolVersion"`
}

type cardCapabilities struct {
	Streaming         bool  `json:"streaming"`
	PushNotifications bool  `json:"pushNotifications"`
	ExtendedAgentCard *bool `json:"extendedAgentCard,omitempty"`
}

type cardSkill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
}

// serveCard shows the card of an agent or queue to those who may list agents. The card of
// the host names none of them, and is for everybody.
func (s *server) serveCard(w http.ResponseWriter, r *http.Request, at place) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		write(w, http.StatusMethodNotAllowed, c3po.Errorf(c3po.InvalidRequest, "this path is not for %s", r.Method).Suggest("Use GET."))
		return
	}
	v, wrong := versionOf(r)
	if wrong != nil {
		v = v10
	}
	shown := hostCard()
	if at.target != "" {
		caller, admitted, release, err := s.admit(r)
		defer release()
		e := exchange{server: s, w: w, r: admitted, v: v}
		if err == nil {
			e.actor = s.hub.As(caller)
			shown, err = e.cardOf(at.target)
		}
		if err != nil {
			refusal := *c3po.AsError(err)
			refusal.Message, refusal.Suggestion = inWords(&refusal)
			write(w, refusal.Code.Status(), &refusal)
			return
		}
	}
	s.complete(&shown, v, r, at)
	tag := shown.tag()
	header := w.Header()
	header.Set("ETag", tag)
	header.Set("Vary", versionHeader+", Authorization")
	header.Set("Cache-Control", "private, max-age=60")
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	write(w, http.StatusOK, shown)
}

func (c card) tag() string {
	data, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(data)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

const (
	keeps = "A task is stored durably. While the agent is offline it stays submitted, and it goes on when the agent starts."
	asks  = "Answers questions and takes on work, sent as text or JSON."
)

func hostCard() card {
	return card{
		Name:        "c3po",
		Description: "Coding agents that can be asked. Each agent and queue has its card at " + Prefix + "NAME" + WellKnown + ", for callers with a token.",
		Skills:      []cardSkill{{ID: "ask", Name: "Ask an agent", Description: asks + " Give the agent's name as the tenant.", Tags: []string{"mail"}}},
	}
}

// cardOf describes an agent or a queue.
func (e *exchange) cardOf(target string) (card, error) {
	to, err := parseTarget(target)
	if err != nil {
		return card{}, err
	}
	if queue := to.Queue(); queue != "" {
		return e.queueCard(to, queue)
	}
	agent, err := operate[c3po.Agent](e, "get_agent_status", c3po.AgentInput{AgentID: target})
	if errors.Is(err, c3po.AgentNotFound) {
		// As long as mail to a former name arrives, so does a request for its card.
		if now, failed := e.actor.CalledNow(e.r.Context(), to); failed == nil && now != "" {
			agent, err = operate[c3po.Agent](e, "get_agent_status", c3po.AgentInput{AgentID: string(now)})
		}
	}
	if err != nil {
		return card{}, err
	}
	kind := ""
	switch {
	case agent.Type != "" && strings.ContainsRune("aeioAEIO", rune(agent.Type[0])):
		kind = ", an " + agent.Type + " agent"
	case agent.Type != "":
		kind = ", a " + agent.Type + " agent"
	}
	shown := card{
		Name:        string(agent.ID),
		Description: fmt.Sprintf("%s%s in c3po. %s", agent.ID, kind, keeps),
		Skills:      []cardSkill{{ID: "ask", Name: "Ask", Description: asks, Tags: []string{"mail"}}},
	}
	for _, capability := range agent.Capabilities {
		shown.Skills = append(shown.Skills, cardSkill{ID: capability, Name: capability, Description: "The agent says it can help with this.", Tags: []string{capability}})
	}
	return shown, nil
}

func (e *exchange) queueCard(to c3po.AgentID, queue string) (card, error) {
	// Asking for an agent that is not there says whether the caller may ask at all.
	if _, err := operate[c3po.AgentList](e, "list_agents", c3po.ListAgentsInput{Limit: 1}); err != nil {
		return card{}, err
	}
	members, err := e.actor.QueueMembers(e.r.Context(), to)
	if err != nil {
		return card{}, err
	}
	if len(members) == 0 {
		return card{}, c3po.Errorf(c3po.AgentNotFound, "no agent has the role '%s'", queue)
	}
	return card{
		Name:        "role:" + queue,
		Description: "The queue " + queue + " in c3po: one of its agents takes each task. " + strings.NewReplacer("the agent is offline", "none of them is online", "the agent starts", "one starts").Replace(keeps),
		Skills:      []cardSkill{{ID: queue, Name: queue, Description: asks, Tags: []string{queue}}},
	}, nil
}

// complete adds what all cards have in common.
func (s *server) complete(c *card, v version, r *http.Request, at place) {
	scheme := "http"
	if s.secure || r.TLS != nil {
		scheme = "https"
	}
	address := scheme + "://" + r.Host + strings.TrimSuffix(Prefix, "/")
	if at.target != "" {
		address += "/" + url.PathEscape(at.target)
	}
	c.Version = s.version
	c.Interfaces = []cardInterface{{address, "JSONRPC", string(v10)}, {address, "JSONRPC", string(v03)}}
	c.InputModes, c.OutputModes = []string{"text/plain", jsonType}, []string{"text/plain", jsonType}
	c.Capabilities = cardCapabilities{Streaming: true}
	const bearer, how = "bearer", "A token of c3po, made with: c3po token create"
	if v == v03 {
		c.URL, c.PreferredTransport, c.ProtocolVersion = address, "JSONRPC", "0.3.0"
		c.SecuritySchemes = map[string]any{bearer: map[string]string{"type": "http", "scheme": bearer, "description": how}}
		c.Security = []map[string]any{{bearer: []string{}}}
		return
	}
	no := false
	c.Capabilities.ExtendedAgentCard = &no
	c.SecuritySchemes = map[string]any{bearer: map[string]any{"httpAuthSecurityScheme": map[string]string{"scheme": "Bearer", "description": how}}}
	c.SecurityRequirements = []map[string]any{{"schemes": map[string]any{bearer: map[string]any{"list": []string{}}}}}
}
