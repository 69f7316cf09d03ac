package storetest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

type agent struct {
	id           c3po.AgentID
	registeredAt time.Time
	regSeq       int64
	run          string
	sighted      string // the last run that was
	session      string
	epoch        int64
	ousted       map[string]bool // runs that held the id before
	seen         time.Time
	former       []c3po.AgentID    // names before, the latest first
	renamesSince time.Time         // when the window of store.MaxRenames began
	renames      int               // in it
	cut          bool              // it is gone because its connection was
	lastKnown    int64             // in lived seconds: when it was last known to be there
	goneAt       time.Time         // when it unregistered; zero if it is back
	diedAt       time.Time         // when its run was seen to have ended; zero if it has not
	node         string            // that holds a connection of it
	state        c3po.SessionState // of its session, as its connection says
	stateAt      time.Time
	profile      store.Profile
	availability c3po.Availability
	task         string
	editing      *editor // by which it holds leases of files; nil if it holds none
	paused       string
	quota        *c3po.OutOfQuota
	asks         []c3po.MessageID // open questions to a person
	rooms        map[c3po.RoomName]seat
	notify       map[c3po.RoomName]c3po.Notify
	cast         seat // its place among the broadcasts
	skips        map[skip]bool
}

func (sp *space) attached(a *agent, now time.Time) bool {
	return a.node != "" && now.Before(sp.leases[a.node])
}

// online: attached; or, of an agent no node claims, seen within the window. One
// whose node has died is offline until it is seen again.
func (sp *space) online(a *agent, now time.Time) bool {
	switch {
	case !a.goneAt.IsZero():
		return false
	case a.node != "":
		return sp.attached(a, now)
	default:
		return now.Sub(a.seen) < store.OnlineFor(sp.limits, a.profile.Heartbeat)
	}
}

// see notes that the agent is there, which a dead node has no say in.
func (sp *space) see(a *agent, now time.Time) {
	a.seen, a.lastKnown = now, sp.books.Lived
	if !sp.attached(a, now) {
		a.node = ""
	}
}

// comeBack ends that it is gone. What was attached meanwhile is the host of its closed
// session, in its place.
func (a *agent) comeBack() {
	if !a.goneAt.IsZero() {
		a.node, a.goneAt = "", time.Time{}
	}
}

// record is what is told of an id; of one that is not registered, its name.
func (sp *space) record(id c3po.AgentID, now time.Time) store.Record {
	a := sp.agents[id]
	if a == nil {
		return store.Record{ID: id}
	}
	r := store.Record{
		ID: a.id, RegisteredAt: a.registeredAt, RegSeq: a.regSeq, Run: a.run, Sighted: a.run != "" && a.sighted == a.run, Session: a.session, Epoch: a.epoch,
		Seen: a.seen, Died: a.diedAt, Left: !a.goneAt.IsZero(), Attached: sp.attached(a, now), Online: sp.online(a, now), Profile: copyOfProfile(a.profile),
		Availability: a.availability, CurrentTask: a.task, Paused: sp.pausedWhy(id), Rooms: sp.roomsOf(id),
		Former: slices.Clone(a.former), Gone: !a.goneAt.IsZero() && !a.cut, OutOfQuota: a.outOfQuota(now),
	}
	if r.Attached {
		r.Node, r.State, r.StateAt = a.node, a.state, a.stateAt
	}
	return r
}

// pausedWhy is why an agent is paused, by itself or with the whole space.
func (sp *space) pausedWhy(id c3po.AgentID) string {
	if a := sp.agents[id]; a != nil && a.paused != "" {
		return a.paused
	}
	return sp.paused
}

// superseded says that another run than this one holds the id, or nobody does
// because the agent was renamed or retired. The anonymous run shares its id with
// everybody.
func (sp *space) superseded(id c3po.AgentID, run string) bool {
	if run == "" {
		return false
	}
	a := sp.agents[id]
	return a == nil || a.run != "" && a.run != run
}

// Register implements store.Store.
func (m *Model) Register(_ context.Context, name c3po.Space, step store.RegisterStep) (store.Registration, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	if today := sp.follow(step, now); today != step.Want {
		if step.Agents != "" && !step.Agents.Covers(today) {
			return store.Registration{}, store.RefuseOtherName(today, step.Agents)
		}
		step.Want = today
	}
	id, err := sp.chooseID(step, now)
	if err != nil {
		return store.Registration{}, err
	}
	a := sp.agents[id]
	created := a == nil
	if created {
		sp.books.Agents++
		sp.registrations++
		sp.retired = slices.DeleteFunc(sp.retired, func(other retiree) bool { return other.id == id })
		a = &agent{id: id, registeredAt: now, regSeq: sp.registrations, run: step.Run, epoch: 1, ousted: map[string]bool{}, rooms: map[c3po.RoomName]seat{}, notify: map[c3po.RoomName]c3po.Notify{}, skips: map[skip]bool{},
			cast: seat{sp.books.Seq + 1, sp.everybody().last.ordinal}}
		sp.agents[id] = a
	}
	changed := !created && step.Run != "" && step.Run != a.run
	if changed {
		a.takeOver(step.Run)
	}
	if step.Run != "" {
		sp.remember(a, step.Session)
		if step.Sighted {
			a.sighted = step.Run
		}
	}
	if created || step.Explicit {
		a.profile = merged(a.profile, copyOfProfile(step.Profile))
		for _, queue := range c3po.QueuesOf(a.profile.Capabilities) {
			sp.queues[queue] = true
		}
	}
	a.profile.Client = step.Profile.Client
	sp.see(a, now)
	a.comeBack()
	if step.Run != "" || step.Explicit && step.Profile.PID > 0 {
		a.diedAt = time.Time{}
	}
	if created || changed {
		sp.event(c3po.EventRegistered, id, "", now)
	}
	return store.Registration{Record: sp.record(id, now), Unread: len(sp.pending(id)), Owed: len(sp.owed(id)), Now: now}, nil
}

func (sp *space) chooseID(step store.RegisterStep, now time.Time) (c3po.AgentID, error) {
	if step.Run == "" {
		return step.Want, nil
	}
	candidates := step.Candidates(sp.reserved(step.Want))
	for _, id := range candidates {
		if a := sp.agents[id]; a != nil && a.run == step.Run {
			return id, nil
		}
	}
	if a := sp.agents[step.Want]; a != nil && !step.Explicit {
		late := step.Epoch > 0 && step.Epoch < a.epoch && a.run != "" && a.run != step.Run
		if a.ousted[step.Run] || late {
			return "", store.RefuseSuperseded(step.Want)
		}
	}
	if former, ok := sp.sessions[step.Session]; ok && slices.Contains(candidates, former) && !sp.online(sp.agents[former], now) {
		return former, nil
	}
	for _, id := range candidates {
		if a := sp.agents[id]; a == nil || a.run == "" || !sp.online(a, now) {
			return id, nil
		}
	}
	return "", store.RefuseAllTaken(step)
}

// takeOver gives an existing id to a new run. The connection of the run before
// is not the new one's.
func (a *agent) takeOver(run string) {
	if a.run != "" {
		a.ousted[a.run] = true
	}
	a.run, a.node = run, ""
	a.epoch++
	a.profile.PID, a.profile.PIDStart, a.profile.Heartbeat = 0, 0, 0
	a.quota = nil
	a.endWork()
}

// endWork forgets what the session said of its work, and ends its leases of files.
func (a *agent) endWork() { a.availability, a.task, a.editing = "", "", nil }

// remember makes session, or none, the one session of the agent.
func (sp *space) remember(a *agent, session string) {
	if a.session != "" && sp.sessions[a.session] == a.id {
		delete(sp.sessions, a.session)
	}
	a.session = session
	if session != "" {
		sp.sessions[session] = a.id
	}
}

// Unregister implements store.Store.
func (m *Model) Unregister(_ context.Context, name c3po.Space, id c3po.AgentID, run, standIn string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	a := sp.agents[id]
	if a == nil || !a.goneAt.IsZero() || sp.superseded(id, run) {
		return false, nil
	}
	a.goneAt, a.cut, a.node, a.lastKnown = m.now(), false, standIn, sp.books.Lived
	if standIn != "" {
		a.state, a.stateAt = c3po.SessionClosed, m.now()
		sp.leases[standIn] = m.now().Add(m.limits.NodeLease)
	}
	a.endWork()
	sp.event(c3po.EventUnregistered, id, "", m.now())
	return true, nil
}

// Die implements store.Store.
func (m *Model) Die(_ context.Context, name c3po.Space, id c3po.AgentID, run string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	a := sp.agents[id]
	if a == nil || run == "" || a.run != run || !a.diedAt.IsZero() {
		return false, nil
	}
	a.diedAt = m.now()
	sp.lose(a, m.now())
	sp.event(c3po.EventDied, id, "", m.now())
	return true, nil
}

// lose takes an agent offline whose process has ended. Of a session that had ended before,
// its host is attached, and stays so.
func (sp *space) lose(a *agent, now time.Time) {
	if a.goneAt.IsZero() {
		a.node = ""
	}
	a.goneAt, a.cut, a.lastKnown = now, false, sp.books.Lived
	a.endWork()
}

// DieDeclared implements store.Store.
func (m *Model) DieDeclared(_ context.Context, name c3po.Space, id c3po.AgentID, process store.Declared) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	a := sp.agents[id]
	if a == nil || process.PID == 0 || a.profile.PID != process.PID || a.profile.PIDStart != process.Start || !a.diedAt.IsZero() {
		return false, nil
	}
	a.diedAt = m.now()
	if process.Seen || !a.goneAt.IsZero() || !sp.attached(a, m.now()) {
		sp.lose(a, m.now())
	}
	sp.event(c3po.EventDied, id, "", m.now())
	return true, nil
}

// SetStatus implements store.Store.
func (m *Model) SetStatus(_ context.Context, name c3po.Space, id c3po.AgentID, run string, availability c3po.Availability, task string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	a := sp.agents[id]
	if a == nil {
		return store.RefuseNoAgent(id)
	}
	if sp.superseded(id, run) {
		return store.RefuseSuperseded(id)
	}
	a.availability, a.task = availability, task
	return nil
}

// ownPause is why an agent is paused by itself.
func (sp *space) ownPause(id c3po.AgentID) string {
	if a := sp.agents[id]; a != nil {
		return a.paused
	}
	return ""
}

// halted reports whether the pause of the space keeps a sender from sending.
func (sp *space) halted(from c3po.AgentID) bool {
	return sp.paused != "" && from != c3po.Human && from != c3po.System
}

// SetPaused implements store.Store.
func (m *Model) SetPaused(_ context.Context, name c3po.Space, id c3po.AgentID, why string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	if id == "" {
		if sp.paused != why {
			defer m.publish(name, c3po.Event{Agent: store.EverybodyAsked})
		}
		sp.pause("", &sp.paused, why, m.now())
		return nil
	}
	a := sp.agents[id]
	if a == nil {
		return store.RefuseNoAgent(id)
	}
	if why == "" && a.paused != "" {
		a.asks = nil
	}
	sp.pause(id, &a.paused, why, m.now())
	return nil
}

func (sp *space) pause(id c3po.AgentID, reason *string, why string, now time.Time) {
	if *reason == why {
		return
	}
	*reason = why
	kind := c3po.EventPaused
	if why == "" {
		kind = c3po.EventResumed
	}
	sp.event(kind, id, "", now)
}

func copyOfProfile(p store.Profile) store.Profile {
	p.Capabilities, p.Metadata = slices.Clone(p.Capabilities), slices.Clone(p.Metadata)
	return p
}

// merged is a profile after what was said of it: the rest stays.
func merged(p, said store.Profile) store.Profile {
	p.Name, p.Type = cmp.Or(said.Name, p.Name), cmp.Or(said.Type, p.Type)
	p.Cwd, p.Host = cmp.Or(said.Cwd, p.Cwd), cmp.Or(said.Host, p.Host)
	p.Heartbeat = max(0, cmp.Or(said.Heartbeat, p.Heartbeat))
	if said.PID != 0 {
		p.PID, p.PIDStart = said.PID, said.PIDStart
	}
	switch {
	case len(said.Capabilities) > 0:
		p.Capabilities = said.Capabilities
	case said.Capabilities != nil:
		p.Capabilities = nil
	}
	if said.Metadata != nil {
		p.Metadata = said.Metadata
	}
	return p
}
