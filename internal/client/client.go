// Package client speaks to a coordinator. A Client is a c3po.Service with an
// identity of its own: whoever holds one calls the same methods as a handler
// inside the coordinator does, and gets the same answers and errors.
//
// It hides what a network does to a call: a write is repeated under one key
// until its outcome is known, a wait outlives restarts. What it cannot hide it
// says: COORD_DOWN when nothing was sent, UNKNOWN_OUTCOME when something was.
package client

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/c3po-dev/c3po"
)

// DefaultURL is where a coordinator listens unless it was told otherwise.
const DefaultURL = "http://localhost:8420"

// Config says where the coordinator is and who calls. All fields are optional.
type Config struct {
	URL        string // DefaultURL if empty
	AgentID    c3po.AgentID
	Space      c3po.Space
	Session    string // the session id of the program the client works for
	Run        string // what holds the agent id; the one anonymous run if empty
	ClientName string // the program it works for, for example "claude-code"
	Version    string // of c3po
	HTTP       *http.Client
	// Patience is how long a call is repeated after its first failure; 5 s if 0.
	// Waits are repeated for as long as they were to last.
	Patience time.Duration
}

// A Client calls one coordinator as one agent. It is safe for concurrent use.
type Client struct {
	base     string
	http     *http.Client
	patience time.Duration
	header   http.Header // of every request
	asked    c3po.AgentID

	mu      sync.Mutex
	id      c3po.AgentID
	epoch   int64
	reached bool // the coordinator has answered at least once
}

var _ c3po.Service = (*Client)(nil)

// New makes a Client. It does not connect.
func New(cfg Config) *Client {
	c := &Client{
		base:     strings.TrimRight(cmp.Or(cfg.URL, DefaultURL), "/"),
		http:     cfg.HTTP,
		patience: cmp.Or(cfg.Patience, 5*time.Second),
		header:   http.Header{},
		asked:    cfg.AgentID,
		id:       cfg.AgentID,
	}
	if c.http == nil {
		c.http = &http.Client{Transport: transport()}
	}
	for name, value := range map[string]string{
		"X-Agent-ID":    string(cfg.AgentID),
		"X-Session-ID":  cfg.Session,
		"X-C3PO-Space":  string(cfg.Space),
		"X-C3PO-Run":    cfg.Run,
		"X-C3PO-Client": strings.TrimSpace("c3po/" + cmp.Or(cfg.Version, "dev") + " " + cfg.ClientName),
	} {
		if value != "" {
			c.header.Set(name, value)
		}
	}
	return c
}

// transport is the default one, with pings: a laptop that slept must notice
// that its connection is gone, not wait on it.
func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second}
	return t
}

// URL is where the coordinator is.
func (c *Client) URL() string { return c.base }

// ID is the id the coordinator let the client act as, which differs from the
// one it asked for if that was taken. Before the first answer it is the latter.
func (c *Client) ID() c3po.AgentID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id
}

// Epoch counts the runs that have held the id; 0 if the coordinator has not said.
func (c *Client) Epoch() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.epoch
}

// learn keeps what every answer says about the caller.
func (c *Client) learn(answer http.Header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reached = true
	if id, err := c3po.ParseAgentID(answer.Get("X-C3PO-Agent-ID")); err == nil {
		c.id = id
	}
	if epoch, err := strconv.ParseInt(answer.Get("X-C3PO-Epoch"), 10, 64); err == nil {
		c.epoch = epoch
	}
}

// introduce says who calls. The epoch goes with the id it was given for: of a
// client that asked for "api" and is "api-2" it would be the wrong one.
func (c *Client) introduce(request http.Header) {
	maps.Copy(request, c.header)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch > 0 && c.id == c.asked {
		request.Set("X-C3PO-Epoch", strconv.FormatInt(c.epoch, 10))
	}
}

func (c *Client) everReached() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reached
}

// Health asks whether the coordinator can do its work. It needs no identity.
func (c *Client) Health(ctx context.Context) (c3po.Health, error) {
	var health c3po.Health
	err := c.once(ctx, request{method: http.MethodGet, path: "/api/health", limit: callTimeout}, &health)
	return health, final(err, true)
}
