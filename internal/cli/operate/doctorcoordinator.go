package operate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/auth/pki"
	"github.com/c3po-dev/c3po/internal/cli/agentside"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/doctor"
	"github.com/c3po-dev/c3po/internal/host/engine"
)

const (
	// pings are how many calls at the most the fastest is taken of: one that is fast
	// is enough, and a busy host is not a slow way.
	pings    = 10
	fastPing = 20 * time.Millisecond
	// roundTripTimeout is how long a message to oneself may take.
	roundTripTimeout = 20 * time.Second
	// maxCorruptLetters is how many damaged letters are counted.
	maxCorruptLetters = 100
)

func examineCoordinator(ctx context.Context, a *console.Console, name c3po.AgentID) doctor.Coordinator {
	var c doctor.Coordinator
	cfg, err := a.ClientConfig("")
	c.URL = client.New(cfg).URL()
	c.TLS = examineTLS(a, cfg, c.URL)
	if err != nil {
		c.Err = err
		return c
	}
	svc := client.New(cfg)
	agents, person, err := a.Elsewhere()
	if c.Other = err == nil && a.URL == "" && agents+person != ""; c.Other && agents == "" {
		// Nobody but its user has a token here.
		if svc, c.Err = a.Personal(console.HumanToken); c.Err != nil {
			return c
		}
	}
	if _, c.Err = svc.Health(ctx); c.Err != nil {
		if state, err := a.Folders.StateFile("redis"); err == nil && a.URL == "" && !c.Other && errors.Is(c.Err, c3po.CoordDown) {
			c.NoRedis = engine.Available(state)
		}
		return c
	}
	info, err := svc.ServerInfo(ctx, c3po.None{})
	if err != nil {
		c.Why = err
		return c
	}
	c.Info = &info
	for range pings {
		began := time.Now()
		pong, err := svc.Ping(ctx, c3po.None{})
		took := time.Since(began)
		if err == nil && (c.Round == 0 || took < c.Round) {
			c.Round, c.Skew = took, pong.Timestamp.Sub(began.Add(took/2))
		}
		if c.Round > 0 && c.Round < fastPing {
			break
		}
	}
	if person, err := a.Person(console.HumanToken); err == nil { // an agent's doctor does without
		if audit, err := person.Fsck(ctx, c3po.None{}); err == nil {
			c.Audit = &audit
		}
		if passkeys, err := person.Passkeys(ctx); err == nil {
			c.PasskeysEnd = passkeys.ResetAt
		}
	}
	if agent, err := svc.GetAgentStatus(ctx, c3po.AgentInput{AgentID: string(name)}); err == nil && agent.Status == c3po.Online && agent.ID.Name() == name.Name() {
		c.Holder = &agent
	}
	c.Corrupt, c.Person = askPerson(ctx, a)
	r, err := agentside.RunOf(a, os.Getpid())
	probe := c3po.AgentIDFromFolder("doctor-" + r.Host)
	if _, may := doctor.Covers(info.Access.Agents, probe); err == nil && may && info.Access.Role == c3po.RoleAgent {
		c.Trip = roundTrip(ctx, a, r, probe)
	}
	return c
}

// examineTLS is how the coordinator at an address proves itself.
func examineTLS(a *console.Console, cfg client.Config, address string) doctor.TLS {
	at, err := url.Parse(address)
	if err != nil {
		return doctor.TLS{}
	}
	t := doctor.TLS{Secure: at.Scheme == "https" && cfg.Socket == "", Near: cfg.Socket != "" || auth.Loopback(at.Hostname())}
	mine, err := a.Folders.Credentials()
	if err == nil && mine != nil && mine.CA != "" && cfg.TLS != nil {
		t.Expires, err = pki.Expires([]byte(mine.CA))
		t.Pinned = err == nil
	}
	return t
}

// askPerson looks with the eyes of the person, if that is who runs this: how many
// letters were found damaged, and whether its credentials work.
func askPerson(ctx context.Context, a *console.Console) (corrupt int, trouble error) {
	mine, err := a.Folders.Person()
	if err != nil || mine == nil || a.AgentHere() != "" || a.BelowAgent() {
		return 0, nil // that the file cannot be read is said elsewhere
	}
	reach, err := a.Reach()
	if err != nil || !mine.For(reach.URL) {
		return 0, nil
	}
	svc, err := a.Personal(console.HumanToken)
	if err != nil {
		return 0, err
	}
	letters, err := svc.DeadLetters(ctx, c3po.LettersInput{Reason: c3po.ReasonCorrupt, Limit: maxCorruptLetters})
	return len(letters.Letters), err
}

// roundTrip sends a message to an agent that is there for nothing else.
func roundTrip(ctx context.Context, a *console.Console, r agentside.ClientRun, id c3po.AgentID) *doctor.Trip {
	ctx, cancel := context.WithTimeout(ctx, roundTripTimeout)
	defer cancel()
	cfg, err := a.ClientConfig(id)
	if err != nil {
		return &doctor.Trip{Err: err}
	}
	// Not the run of a process: this one also looks with the person's eyes, which
	// no process of an agent may.
	cfg.Run, cfg.ClientName = fmt.Sprintf("doctor-%d-%d", r.PID, r.Started), "doctor"
	self := client.New(cfg)
	began := time.Now()
	registered, err := self.RegisterAgent(ctx, c3po.RegisterInput{Type: c3po.TypeProbe, Host: r.Host, PID: r.PID, PIDStart: r.Started})
	if err != nil {
		return &doctor.Trip{Err: err}
	}
	defer func() { _, _ = self.Unregister(context.WithoutCancel(ctx), c3po.None{}) }() // else it is forgotten when it stays silent
	expects := false
	sent, err := self.SendMessage(ctx, c3po.SendInput{Target: string(registered.ID), Message: "Does mail arrive? " + rand.Text(), ExpectsReply: &expects})
	if errors.Is(err, c3po.RateLimited) || errors.Is(err, c3po.BudgetSpent) {
		return nil // it is tried often, and answers
	}
	if err != nil {
		return &doctor.Trip{Err: err}
	}
	mail, err := self.GetMessages(ctx, c3po.GetMessagesInput{})
	if err == nil && !slices.ContainsFunc(mail.Messages, func(m c3po.Message) bool { return m.ID == sent.ID }) {
		err = c3po.Errorf(c3po.Internal, "the inbox does not show it").Suggest("c3po trace %s shows what became of it.", sent.ID)
	}
	if err != nil {
		return &doctor.Trip{Err: err}
	}
	acked, err := self.AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{sent.ID}})
	if err == nil && !slices.Contains(acked.Acked, sent.ID) {
		err = c3po.Errorf(c3po.Internal, "it was not acked").Suggest("c3po trace %s shows what became of it.", sent.ID)
	}
	return &doctor.Trip{Took: time.Since(began), Err: err}
}
