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
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
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
	Closed     bool   // it calls for a session that has ended, which stays so
	ClientName string // the program it works for, for example "claude-code"
	Version    string // of c3po
	Token      string // what the caller proves itself with
	Socket     string // unix socket of a coordinator of this machine, instead of the address in URL
	// Prove refuses who listens on that socket before anything is sent; nobody if nil.
	Prove func(net.Conn) error
	// Ancestors are the runs that the processes before this one would have, if
	// they were agents: what is a person's to do is refused to agents.
	Ancestors []string
	TLS       *tls.Config  // how the coordinator proves itself; as the system says if nil
	HTTP      *http.Client // one that fits the rest if nil
	// WaitDefault is how long a wait lasts that does not say; 60 s if 0.
	WaitDefault time.Duration
	// MaxWait ends every wait after that time, with a result that says so: some
	// programs cut a call after a minute. None if 0.
	MaxWait time.Duration
	// Confirm asks the person to confirm the act of a proof with a passkey, on that page of
	// the dashboard. If it is nil such an act is refused.
	Confirm func(ctx context.Context, act c3po.ProofRequest, page, proof string)
	// Patience is how long a call is repeated after its first failure; 5 s if 0.
	// Waits are repeated for as long as they were to last.
	Patience time.Duration
}

// A Client calls one coordinator as one agent. It is safe for concurrent use.
type Client struct {
	url      string // where the coordinator is, for people
	base     string // of every request
	http     *http.Client
	patience time.Duration
	wait     time.Duration // that does not say how long
	maxWait  time.Duration // or 0
	header   http.Header   // of every request
	asked    c3po.AgentID
	confirm  func(ctx context.Context, act c3po.ProofRequest, page, proof string)

	mu      sync.Mutex
	id      c3po.AgentID
	epoch   int64
	reached bool // the coordinator has answered at least once
	lost    bool // the last attempt brought no answer
	session string
}

var _ c3po.Service = (*Client)(nil)

// New makes a Client. It does not connect.
func New(cfg Config) *Client {
	c := &Client{
		url:      strings.TrimRight(cmp.Or(cfg.URL, DefaultURL), "/"),
		http:     cfg.HTTP,
		patience: cmp.Or(cfg.Patience, 5*time.Second),
		wait:     cmp.Or(cfg.WaitDefault, c3po.DefaultLimits().WaitDefault),
		maxWait:  cfg.MaxWait,
		header:   http.Header{},
		asked:    cfg.AgentID,
		confirm:  cfg.Confirm,
		id:       cfg.AgentID,
		session:  cfg.Session,
	}
	c.base = c.url
	if cfg.Socket != "" {
		// Whatever is spoken at its address: on the socket nobody is in between.
		c.base = "http://localhost"
	}
	if c.http == nil {
		c.http = &http.Client{Transport: transport(cfg.Socket, cfg.Prove, cfg.TLS)}
	}
	for name, value := range map[string]string{
		"X-Agent-ID":   string(cfg.AgentID),
		"X-C3PO-Space": string(cfg.Space),
		"X-C3PO-Run":   cfg.Run,
		// Commas cannot be part of one.
		"X-C3PO-Ancestors":  strings.Join(cfg.Ancestors, ","),
		c3po.ProtocolHeader: c3po.OwnProtocols().String(),
		"X-C3PO-Client":     strings.TrimSpace("c3po/" + cmp.Or(cfg.Version, "dev") + " " + cfg.ClientName),
	} {
		if value != "" {
			c.header.Set(name, value)
		}
	}
	if cfg.Closed {
		c.header.Set("X-C3PO-Closed", "1")
	}
	if cfg.Token != "" {
		c.header.Set("Authorization", "Bearer "+cfg.Token)
	}
	return c
}

// ForClosed is a client that calls for the same agent after its session has ended.
func (c *Client) ForClosed() *Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	closed := &Client{
		url: c.url, base: c.base, http: c.http, patience: c.patience, wait: c.wait, maxWait: c.maxWait, header: c.header.Clone(),
		asked: c.asked, confirm: c.confirm, id: c.id, epoch: c.epoch, reached: c.reached, session: c.session,
	}
	closed.header.Set("X-C3PO-Closed", "1")
	return closed
}

// transport is the default one, with pings: a laptop that slept must notice
// that its connection is gone, not wait on it. With a socket, all addresses are
// behind that.
func transport(socket string, prove func(net.Conn) error, trust *tls.Config) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = trust.Clone() // the transport writes to it
	if socket != "" {
		t.Proxy = nil
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
			if err != nil || prove == nil {
				return conn, err
			}
			if err := prove(conn); err != nil {
				return nil, errors.Join(err, conn.Close())
			}
			return conn, nil
		}
	}
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second}
	return t
}

// URL is where the coordinator is.
func (c *Client) URL() string { return c.url }

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
	c.reached, c.lost = true, false
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
	if c.session != "" {
		request.Set("X-Session-ID", c.session)
	}
	if c.epoch > 0 && c.id == c.asked {
		request.Set("X-C3PO-Epoch", strconv.FormatInt(c.epoch, 10))
	}
}

// SetSession says that the program the client works for has begun another
// session. The agent stays the same: what holds its id is the run.
func (c *Client) SetSession(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session = id
}

// Lost says that the last attempt to reach the coordinator brought no answer of
// one.
func (c *Client) Lost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

func (c *Client) setLost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = true
}

func (c *Client) everReached() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reached
}

// Health asks whether the coordinator can do its work. It needs no identity.
func (c *Client) Health(ctx context.Context) (c3po.Health, error) {
	var health c3po.Health
	err := c.attempt(ctx, request{method: http.MethodGet, path: "/api/health", limit: callTimeout}, &health)
	return health, final(err, true)
}
