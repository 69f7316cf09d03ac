package hub

import (
	"context"

	"github.com/c3po-dev/c3po/c3po"
)

// An Actor is the hub as one caller may use it, for one request: its exported methods
// are the operations, and its parts do the work. It is used by one goroutine; only ID
// and Epoch may be asked by another.
type Actor struct {
	identity
	people directory
	rooms  roomView
	outbox outbox
	inbox  inbox
	// decided is what a person said to an approval by this request, or which lease they
	// ended, for the audit.
	decided string
}

func newActor(h *Hub, caller c3po.Caller) *Actor {
	a := &Actor{identity: identity{spaceHub: spaceHub{hub: h, space: caller.Space}, caller: caller}}
	me := &a.identity
	a.rooms = roomView{me}
	a.people = directory{me, a.rooms}
	a.outbox = newOutbox(me)
	a.inbox = inbox{identity: me}
	return a
}

var (
	_ c3po.Service    = (*Actor)(nil)
	_ c3po.Acting     = (*Actor)(nil)
	_ c3po.RoleHolder = (*Actor)(nil)
	_ c3po.Witness    = (*Actor)(nil)
	_ c3po.Guard      = (*Actor)(nil)
)

// Prove asks for a person's proof of what only they may do.
func (a *Actor) Prove(ctx context.Context, o c3po.Operation, arguments []byte) (context.Context, error) {
	if !o.Recorded(a.caller.Role, a.caller.ID) {
		return ctx, nil
	}
	if err := o.CheckNames(arguments); err != nil {
		return ctx, err
	}
	return a.hub.proved(ctx, a.caller, c3po.Act{Operation: o.Name, As: a.caller.ID, Arguments: arguments}, a.describeAct)
}

// Done hands what was done for a person on to the audit.
func (a *Actor) Done(ctx context.Context, o c3po.Operation, arguments []byte) {
	if o.Recorded(a.caller.Role, a.ID()) {
		a.hub.acted(ctx, a.caller, a.ID(), o, arguments, a.decided)
	}
}

// Role is the caller's.
func (a *Actor) Role() c3po.Role { return a.caller.Role }

// ID is the id the caller acted as; empty if the call needed none.
func (a *Actor) ID() c3po.AgentID {
	if acting := a.acting.Load(); acting != nil {
		return acting.id
	}
	return ""
}

// Epoch is the epoch of that id.
func (a *Actor) Epoch() int64 {
	if acting := a.acting.Load(); acting != nil {
		return acting.epoch
	}
	return 0
}

// Ping answers with the store's clock, which proves that the whole way works.
func (a *Actor) Ping(ctx context.Context, _ c3po.None) (c3po.Pong, error) {
	if err := a.enterIfNamed(ctx); err != nil {
		return c3po.Pong{}, err
	}
	now, err := a.hub.store.Now(ctx)
	if err != nil {
		return c3po.Pong{}, err
	}
	return c3po.Pong{Pong: true, Timestamp: now}, nil
}

// ServerInfo says what is running.
func (a *Actor) ServerInfo(ctx context.Context, _ c3po.None) (c3po.ServerInfo, error) {
	durability, err := a.hub.store.Durability(ctx)
	if err != nil {
		return c3po.ServerInfo{}, err
	}
	engine, err := a.hub.store.Engine(ctx)
	if err != nil {
		return c3po.ServerInfo{}, err
	}
	books, err := a.hub.store.Counters(ctx, a.space)
	if err != nil {
		return c3po.ServerInfo{}, err
	}
	info := a.hub.info
	info.Space, info.Paused, info.Durability, info.Engine = a.space, books.Paused, durability, engine
	info.Access = c3po.Access{Role: a.caller.Role, Agents: a.caller.Agents, KID: a.caller.KID, Expires: a.caller.Expires}
	info.FileBytes, info.Files = int64(a.hub.limits.FileBytes), a.hub.limits.MessageFiles
	info.Waiters, _ = a.hub.wakes.Counts()
	return info, nil
}
