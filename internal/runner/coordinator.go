package runner

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

// A Coordinator is how the runner reaches the coordinator, and how its
// containers do.
type Coordinator struct {
	Client client.Config // without an id and a token
	CA     string        // PEM of its authority, for containers; none if empty
	Token  string        // of the role runner; empty where a coordinator asks for none
	Host   string        // the name of this host in ids
}

// as is a client that acts for one agent of ours.
func (c Coordinator) as(id c3po.AgentID, token, run string) *client.Client {
	cfg := c.Client
	cfg.AgentID, cfg.Token, cfg.Run, cfg.ClientName = id, token, run, "runner"
	return client.New(cfg)
}

// An identity is whom a container acts as, and what it proves that with.
type identity struct {
	URL   string       `json:"url"`
	Space c3po.Space   `json:"space,omitempty"`
	ID    c3po.AgentID `json:"id"`
	Token string       `json:"token,omitempty"`
}

// run is what holds the id. It is the same for all containers of an agent, of
// which there is only one at a time, so that the next need not wait until the
// lease of the last is over.
func (i identity) run() string { return "container:" + string(i.ID) }

// ids are those an agent may have, the best first.
func (c Coordinator) ids(agent agentfile.Agent) ([]c3po.AgentID, error) {
	hosts := []string{c3po.ContainerHost, c.Host}
	if agent.Host != "" {
		hosts = []string{agent.Host}
	}
	var ids []c3po.AgentID
	for _, host := range hosts {
		text := agent.Name
		if host != "" {
			text = host + "/" + agent.Name
		}
		id, err := c3po.ParseAgentID(text)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// identify gives an agent its id and its own token: the one of last time if that
// still works, else a new one. A token lives long and a runner cannot end one, so
// there is one for each agent and not for each run.
func (r *Runner) identify(ctx context.Context, agent agentfile.Agent, folder string) (identity, error) {
	coordinator := r.cfg.Coordinator
	ids, err := coordinator.ids(agent)
	if err != nil {
		return identity{}, err
	}
	name := filepath.Join(folder, "identity.json")
	kept, err := readIdentity(name)
	if err != nil {
		return identity{}, err
	}
	now := identity{URL: coordinator.Client.URL, Space: coordinator.Client.Space}
	if kept != nil && kept.URL == now.URL && kept.Space == now.Space && among(ids, kept.ID) && (kept.Token == "") == (coordinator.Token == "") {
		_, err := coordinator.as("", kept.Token, "").Ping(ctx, c3po.None{})
		if err == nil || !errors.Is(err, c3po.Unauthorized) {
			return *kept, err
		}
	}
	if coordinator.Token == "" {
		now.ID = ids[0]
		if _, err := coordinator.as("", "", "").Ping(ctx, c3po.None{}); err != nil {
			return identity{}, noToken(err)
		}
	} else if err := coordinator.mint(ctx, ids, agent.Name, &now); err != nil {
		return identity{}, err
	}
	data, err := json.Marshal(now)
	if err == nil {
		err = paths.WriteFile(name, data)
	}
	return now, err
}

func noToken(err error) error {
	if !errors.Is(err, c3po.Unauthorized) {
		return err
	}
	return c3po.Because(err, c3po.Unauthorized, "this host may not start agents: it has no token of the role runner").
		Suggest("On the coordinator's machine run `c3po invite --runner`, and here `c3po join` with what it prints.")
}

// mint makes a token for the first of the ids that the runner's token is for.
func (c Coordinator) mint(ctx context.Context, ids []c3po.AgentID, label string, to *identity) error {
	var refused error
	for _, id := range ids {
		made, err := c.as("", c.Token, "").CreateToken(ctx, c3po.TokenInput{Role: c3po.RoleAgent, Agents: string(id), Label: "container agent " + label})
		if err == nil {
			to.ID, to.Token = id, made.Secret
			return nil
		}
		if !errors.Is(err, c3po.Forbidden) {
			return noToken(err)
		}
		refused = err
	}
	return refused
}

func among(ids []c3po.AgentID, id c3po.AgentID) bool {
	for _, known := range ids {
		if known == id {
			return true
		}
	}
	return false
}

func readIdentity(name string) (*identity, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	kept := &identity{}
	if err == nil && json.Unmarshal(data, kept) != nil {
		return nil, nil // as good as none: a new one is made
	}
	return kept, err
}

// inside is the address by which a container reaches the coordinator, and
// whether that is on the loopback of this host. On Linux the address stays what
// it is, for a relay or the host's own network leads there.
func inside(address, hostName, system string) (reached string, near bool) {
	u, err := url.Parse(address)
	if err != nil || !loopback(u.Hostname()) {
		return address, false
	}
	if system == "linux" {
		return address, true
	}
	u.Host = strings.TrimSuffix(net.JoinHostPort(hostName, u.Port()), ":")
	return u.String(), true
}

// usesRelay says that a container reaches the coordinator by a relay.
func (r *Runner) usesRelay(agent agentfile.Agent) bool {
	_, near := inside(r.cfg.Coordinator.Client.URL, "", runtime.GOOS)
	return near && runtime.GOOS == "linux" && agent.Network != agentfile.NetworkHost
}

// networkOf is what the runtime calls the network of an agent.
func networkOf(agent agentfile.Agent) string {
	if agent.Network == agentfile.NetworkOwn {
		return "" // as the runtime has it
	}
	return agent.Network
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
