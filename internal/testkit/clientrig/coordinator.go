package clientrig

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A Coordinator has a Redis of its own, and agents that are nobody's session: the test
// speaks in their names.
type Coordinator struct {
	*faultrig.Coordinator
	Redis *redistest.Server
	t     *testing.T
}

// Start starts a coordinator. flags are further ones of `c3po serve`. Where no clients
// are installed the test is skipped.
func Start(t *testing.T, flags ...string) *Coordinator {
	t.Helper()
	where(t)
	redis := redistest.New(t)
	return &Coordinator{faultrig.Start(t, redis.URL(), flags...), redis, t}
}

// StartWith is Start with settings.
func StartWith(t *testing.T, settings string) *Coordinator {
	t.Helper()
	where(t)
	redis := redistest.New(t)
	return &Coordinator{faultrig.StartWith(t, redis.URL(), settings), redis, t}
}

// For is the same coordinator in a part of the test.
func (c *Coordinator) For(t *testing.T) *Coordinator {
	part := *c
	part.t = t
	return &part
}

// As is a client of the coordinator that is nobody's session.
func (c *Coordinator) As(id c3po.AgentID) *client.Client {
	return client.New(client.Config{URL: c.URL(), AgentID: id, ClientName: "test"})
}

// Exists makes agents known that do nothing.
func (c *Coordinator) Exists(ids ...c3po.AgentID) {
	c.t.Helper()
	for _, id := range ids {
		if _, err := c.As(id).Ping(c.t.Context(), c3po.None{}); err != nil {
			c.t.Fatal(err)
		}
	}
}

// Agent is what senders are told of an agent; of one that cannot be asked for, nothing.
func (c *Coordinator) Agent(id c3po.AgentID) c3po.Agent {
	agent, _ := c.As("").GetAgentStatus(c.t.Context(), c3po.AgentInput{AgentID: string(id)})
	return agent
}

// Online waits until agents are.
func (c *Coordinator) Online(ids ...c3po.AgentID) {
	c.t.Helper()
	for _, id := range ids {
		Eventually(c.t, 30*time.Second, string(id)+" is online", func() bool { return c.Agent(id).Status == c3po.Online })
	}
}

// Offline waits until an agent is.
func (c *Coordinator) Offline(id c3po.AgentID) {
	c.t.Helper()
	Eventually(c.t, 50*time.Second, string(id)+" is offline", func() bool { return c.Agent(id).Status == c3po.Offline })
}

// Reached wants senders to be told that of an agent, soon.
func (c *Coordinator) Reached(id c3po.AgentID, what string, want c3po.Reachability) {
	c.t.Helper()
	var last c3po.Reachability
	if !faultrig.Within(20*time.Second, func() bool {
		last = c.Agent(id).Reachability
		return last == want
	}) {
		c.t.Errorf("%s: senders are told %q, want %q", what, last, want)
	}
}

// Only wants these agents to be there, and no others.
func (c *Coordinator) Only(ids ...c3po.AgentID) {
	c.t.Helper()
	list, err := c.As("").ListAgents(c.t.Context(), c3po.ListAgentsInput{})
	if err != nil {
		c.t.Fatal(err)
	}
	found := map[c3po.AgentID]c3po.Status{}
	for _, agent := range list.Agents {
		found[agent.ID] = agent.Status
	}
	for _, id := range ids {
		if found[id] == "" {
			c.t.Errorf("%s is not there: %v", id, found)
		}
	}
	if len(found) != len(ids) {
		c.t.Errorf("there are %v, want %v", found, ids)
	}
}

// Urgent and NoReply change what Send sends.
func Urgent(in *c3po.SendInput) { in.Priority = c3po.Urgent }

// NoReply asks nothing back.
func NoReply(in *c3po.SendInput) {
	no := false
	in.ExpectsReply = &no
}

// Send sends a question. A script may call it: it does not end the test.
func (c *Coordinator) Send(from, to c3po.AgentID, text string, change ...func(*c3po.SendInput)) c3po.Receipt {
	c.t.Helper()
	in := c3po.SendInput{Target: string(to), Message: text}
	for _, f := range change {
		f(&in)
	}
	receipt, err := c.As(from).SendMessage(c.t.Context(), in)
	if err != nil {
		c.t.Errorf("%s sends to %s: %v", from, to, err)
	}
	return receipt
}

// Answered wants that answer to what an agent has sent, within so many seconds.
func (c *Coordinator) Answered(from c3po.AgentID, receipt c3po.Receipt, want string, seconds int) c3po.WaitResult {
	c.t.Helper()
	got, err := c.As(from).WaitForMessage(c.t.Context(), c3po.WaitInput{MessageID: receipt.ID, Timeout: seconds})
	if err != nil || got.Response != want {
		c.t.Fatalf("the answer is %q, want %q: %v %+v", got.Response, want, err, got.Outcome)
	}
	return got
}

// Unacked is the mail of an agent that nobody has dealt with.
func (c *Coordinator) Unacked(id c3po.AgentID) []c3po.Message {
	c.t.Helper()
	pending, err := c.As(id).Pending(c.t.Context(), c3po.PendingInput{})
	if err != nil {
		c.t.Fatal(err)
	}
	return pending.Messages
}

// Eventually polls until something holds, or fails.
func Eventually(t *testing.T, most time.Duration, what string, holds func() bool) {
	t.Helper()
	if !faultrig.Within(most, holds) {
		t.Fatalf("not within %v: %s", most, what)
	}
}
