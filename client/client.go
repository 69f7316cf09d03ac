package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"iter"
	"net"
	"os"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	wire "github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/host/reach"
)

// Config says who the program is and, if the host does not, where the coordinator is.
type Config struct {
	// Agent is the id the program acts under: what others send to. If another
	// program that is there has it, the agent gets a numbered one: Client.ID tells.
	Agent string
	// Capabilities are what it can help with. Each names a queue that it then serves: mail
	// to role:NAME goes to one of the agents that have it.
	Capabilities []string
	// Description is what others read beside the id; the id if empty.
	Description string
	// URL is where the coordinator is; $C3PO_COORDINATOR_URL, else the one of this user or
	// host, if empty.
	URL string
	// Token proves the program to the coordinator; $C3PO_TOKEN, else that of this host, if empty.
	Token string
	// Space is what the program sees; $C3PO_SPACE, else the default space, if empty.
	Space string
	// TLS is how the coordinator proves itself; as this host has stored, else as the system
	// says, if nil.
	TLS *tls.Config
	// Patience is how long a call is repeated while the coordinator is away; 5 seconds if 0.
	Patience time.Duration
}

// A Client is one agent of a coordinator. It is safe for concurrent use.
type Client struct {
	wire *wire.Client
}

// Open makes the program known as an agent. That the coordinator is away is an error.
func Open(ctx context.Context, cfg Config) (*Client, error) {
	id, err := c3po.ParseAgentID(cfg.Agent)
	if err != nil {
		return nil, err
	}
	space := c3po.Space("")
	if name := cmp.Or(cfg.Space, os.Getenv("C3PO_SPACE")); name != "" {
		if space, err = c3po.ParseSpace(name); err != nil {
			return nil, err
		}
	}
	folders := paths.Folders{}
	to, err := reach.Agents(folders, cmp.Or(cfg.URL, os.Getenv("C3PO_COORDINATOR_URL")), cmp.Or(cfg.Token, os.Getenv("C3PO_TOKEN")))
	if err != nil {
		return nil, err
	}
	if to.Socket != "" {
		to.Prove = func(conn net.Conn) error { return reach.CheckListener(folders, conn, to.Socket) }
	}
	if cfg.TLS != nil {
		to.TLS = cfg.TLS
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("this host has no name: %w", err)
	}
	// With its process the coordinator of the same host knows at once when it has ended.
	process := c3po.ProcessRun{Host: host, PID: os.Getpid(), Start: engine.Started(os.Getpid())}
	to.AgentID, to.Space, to.Run, to.ClientName, to.Patience = id, space, process.String(), "go", cfg.Patience
	c := &Client{wire: wire.New(to)}
	_, err = c.wire.RegisterAgent(ctx, c3po.RegisterInput{
		Name: cfg.Description, Capabilities: cfg.Capabilities, Type: "go",
		Host: process.Host, PID: process.PID, PIDStart: process.Start,
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Close takes the agent off the list of those who are there. Its mail stays.
func (c *Client) Close(ctx context.Context) error {
	_, err := c.wire.Unregister(ctx, c3po.None{})
	return err
}

// ID is the id the agent acts under.
func (c *Client) ID() c3po.AgentID { return c.wire.ID() }

// Service is everything else an agent can ask for, under the names that all surfaces use.
func (c *Client) Service() c3po.Service { return c.wire }

// Tell sends what needs no answer. Once it returns the message is stored; the receipt
// says how safely, and whether its recipient is there.
func (c *Client) Tell(ctx context.Context, to, text string) (c3po.Receipt, error) {
	no := false
	return c.wire.SendMessage(ctx, c3po.SendInput{Target: to, Message: text, ExpectsReply: &no})
}

// An Unanswered error says why a question that was stored has no answer yet. The question
// stands: Await waits on for its answer.
type Unanswered struct {
	Question c3po.MessageID
	Because  c3po.WaitOutcome
}

func (e *Unanswered) Error() string { return e.Because.Message }

// Ask sends a question and waits for its answer for as long as ctx lasts. It ends early,
// with an *Unanswered, when waiting on is of no use now: the agent that has the question
// died or is paused, for example.
func (c *Client) Ask(ctx context.Context, to, text string) (c3po.Message, error) {
	asked, err := c.wire.SendMessage(ctx, c3po.SendInput{Target: to, Message: text})
	if err != nil {
		return c3po.Message{}, err
	}
	return c.Await(ctx, asked.ID)
}

// Await waits for the answer to a question that this agent asked, as Ask does.
func (c *Client) Await(ctx context.Context, question c3po.MessageID) (c3po.Message, error) {
	most := int(c3po.DefaultLimits().MaxWait / time.Second)
	for {
		got, err := c.wire.WaitForMessage(ctx, c3po.WaitInput{MessageID: question, Timeout: most})
		switch {
		case err != nil && ctx.Err() != nil:
			return c3po.Message{}, &Unanswered{question, c3po.WaitOutcome{
				Status: c3po.WaitTimeout, MessageID: question, Message: "the program waited no longer: " + context.Cause(ctx).Error(),
			}}
		case err != nil:
			return c3po.Message{}, err
		case got.Outcome == nil:
			return got.Message, nil
		case got.Outcome.Status != c3po.WaitTimeout && got.Outcome.Status != c3po.WaitRetry:
			return c3po.Message{}, &Unanswered{question, *got.Outcome}
		}
	}
}

// Join makes the agent a member of a room, and the room if there is none.
func (c *Client) Join(ctx context.Context, room c3po.RoomName, notify c3po.Notify) (c3po.RoomJoined, error) {
	return c.wire.RoomJoin(ctx, c3po.RoomJoinInput{Room: room, Notify: notify})
}

// Post says something in a room. @id in the text also sends it to that member as mail.
func (c *Client) Post(ctx context.Context, room c3po.RoomName, text string) (c3po.PostReceipt, error) {
	return c.wire.RoomPost(ctx, c3po.RoomPostInput{Room: room, Message: text})
}

// Events is what happens in the agent's space, from now on or after the place of an event that
// it was given, until ctx ends. It outlives restarts of the coordinator; if something was
// missed it says so with a Start that is not recovered.
func (c *Client) Events(ctx context.Context, after *c3po.EventCursor) iter.Seq2[c3po.StreamEvent, error] {
	return c.wire.Events(ctx, after)
}
