package hub

import (
	"context"
	"fmt"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// maxHeartbeatSeconds bounds what an agent may declare, in seconds: a row that is silent
	// is not online for days.
	maxHeartbeatSeconds = 3600
)

// A directory is the agents of the space as the caller finds and sees them.
type directory struct {
	*identity
	rooms roomView
}

// maxScanned bounds how many agents one page of a filtered list looks at.
const maxScanned = 5000

// RegisterAgent stores what the caller says of itself. It is also the way back
// for a run that was superseded.
func (a *Actor) RegisterAgent(ctx context.Context, in c3po.RegisterInput) (c3po.Self, error) {
	if err := a.requireName(ctx); err != nil {
		return c3po.Self{}, err
	}
	profile, err := a.profile(in)
	if err != nil {
		return c3po.Self{}, err
	}
	registration, err := a.register(ctx, true, profile)
	if err != nil {
		return c3po.Self{}, err
	}
	return a.describe(registration.Record, registration.Unread), nil
}

func (me *identity) profile(in c3po.RegisterInput) (store.Profile, error) {
	metadata, err := checkMetadata(in.Metadata, me.hub.limits.MetadataBytes)
	if err != nil {
		return store.Profile{}, err
	}
	if len(in.Capabilities) > maxCapabilities {
		return store.Profile{}, refuse("%d capabilities are too many, at most %d are kept", len(in.Capabilities), maxCapabilities)
	}
	if in.PID < 0 || in.PIDStart < 0 || in.HeartbeatInterval != nil && *in.HeartbeatInterval < 0 {
		return store.Profile{}, refuse("pid, pid_start and heartbeat_interval cannot be negative")
	}
	beat := 0
	if in.HeartbeatInterval != nil {
		if beat = *in.HeartbeatInterval; beat == 0 {
			beat = store.NoHeartbeat
		}
	}
	if beat > maxHeartbeatSeconds {
		return store.Profile{}, refuse("heartbeat_interval is at most %d seconds", maxHeartbeatSeconds)
	}
	labels := []label{
		{"name", in.Name, 200}, {"type", in.Type, 100}, {"cwd", in.Cwd, 4096}, {"host", in.Host, 255},
	}
	for _, capability := range in.Capabilities {
		if strings.TrimSpace(capability) == "" {
			return store.Profile{}, refuse("a capability is empty").Suggest("Leave it out; an empty list means no capabilities.")
		}
		labels = append(labels, label{"capability", capability, 100})
	}
	if err := checkLabels(labels...); err != nil {
		return store.Profile{}, err
	}
	if in.PID > 0 && in.Host == "" && me.caller.ID.Host() == "" && me.caller.Local {
		in.Host = me.hub.host // a coordinator that starts later has to know whose process it is
	}
	return store.Profile{
		Name: in.Name, Capabilities: in.Capabilities, Type: in.Type, Cwd: in.Cwd, Host: in.Host,
		PID: in.PID, PIDStart: in.PIDStart, Metadata: metadata, Heartbeat: beat, Client: me.caller.Client,
	}, nil
}

// WhoAmI shows the caller to itself.
func (a *Actor) WhoAmI(ctx context.Context, _ c3po.None) (c3po.Self, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.Self{}, err
	}
	record, err := a.record(ctx, a.id)
	if err != nil {
		return c3po.Self{}, err
	}
	// What is remembered here may be out of date, and reading a record checks
	// nothing.
	if a.caller.Run != "" && record.Run != "" && record.Run != a.caller.Run {
		return c3po.Self{}, a.dropIfSuperseded(store.RefuseSuperseded(a.id))
	}
	unread, err := a.hub.store.InboxSize(ctx, a.space, a.id)
	if err != nil {
		return c3po.Self{}, err
	}
	self := a.describe(record, unread)
	self.LeftBehind, err = a.leftBehind(ctx, record)
	return self, err
}

func (me *identity) describe(record store.Record, unread int) c3po.Self {
	agent := view(record)
	agent.Rooms = append(agent.Rooms, record.Rooms...)
	self := c3po.Self{
		Agent: agent, Space: me.space, Epoch: record.Epoch,
		Notice: me.notice, Unread: unread, SessionID: me.caller.Session,
	}
	if record.ID != me.caller.ID {
		self.AskedID = me.caller.ID
	}
	return self
}

// ListAgents pages through the agents of the space in the order they registered.
func (a *Actor) ListAgents(ctx context.Context, in c3po.ListAgentsInput) (c3po.AgentList, error) {
	records, next, err := a.people.page(ctx, in)
	if err != nil {
		return c3po.AgentList{}, err
	}
	list := c3po.AgentList{Agents: []c3po.Agent{}, Next: next}
	for _, record := range records {
		list.Agents = append(list.Agents, view(record))
	}
	if err := a.people.showUnread(ctx, list.Agents); err != nil {
		return c3po.AgentList{}, err
	}
	return list, a.rooms.showRooms(ctx, records, list.Agents)
}

// showUnread says how much mail waits for each, to those who watch over all of
// them. Agents have no use for it, and their lists are the hot ones.
func (d directory) showUnread(ctx context.Context, shown []c3po.Agent) error {
	admin := d.caller.Role == c3po.RoleAdmin && d.caller.ID == ""
	if !admin && d.caller.Role != c3po.RoleHuman && d.caller.Role != c3po.RoleObserver {
		return nil
	}
	ids := make([]c3po.AgentID, len(shown))
	for i, agent := range shown {
		ids[i] = agent.ID
	}
	sizes, err := d.hub.store.InboxSizes(ctx, d.space, ids)
	if err != nil {
		return err
	}
	for i := range shown {
		shown[i].Unread = &sizes[i]
	}
	return nil
}

// CoWorkers is ListAgents in short.
func (a *Actor) CoWorkers(ctx context.Context, in c3po.ListAgentsInput) (c3po.CoWorkerList, error) {
	records, next, err := a.people.page(ctx, in)
	if err != nil {
		return c3po.CoWorkerList{}, err
	}
	list := c3po.CoWorkerList{CoWorkers: []c3po.CoWorker{}, Next: next}
	for _, record := range records {
		list.CoWorkers = append(list.CoWorkers, c3po.CoWorker{
			ID: record.ID, Type: record.Profile.Type, Cwd: record.Profile.Cwd, Status: status(record),
		})
	}
	return list, nil
}

func (d directory) page(ctx context.Context, in c3po.ListAgentsInput) ([]store.Record, string, error) {
	if err := d.enterIfNamed(ctx); err != nil {
		return nil, "", err
	}
	if in.Status != "" && in.Status != c3po.Online && in.Status != c3po.Offline {
		return nil, "", refuse("%q is not a status: online, offline or unknown", in.Status)
	}
	limit, err := d.hub.pageLimit(in.Limit)
	if err != nil {
		return nil, "", err
	}
	after, err := parseCursor(agentCursor, in.Cursor)
	if err != nil {
		return nil, "", err
	}
	var found []store.Record
	for scanned := 0; scanned < maxScanned; {
		// One more than asked for tells whether there is a next page.
		records, err := d.hub.store.AgentPage(ctx, d.space, after, limit+1)
		if err != nil {
			return nil, "", err
		}
		for _, record := range records {
			if len(found) == limit {
				return found, formatCursor(agentCursor, after), nil
			}
			after = record.RegSeq
			if (in.Status == "" || in.Status == status(record)) && (in.Type == "" || in.Type == record.Profile.Type) {
				found = append(found, record)
			}
		}
		if len(records) <= limit {
			return found, "", nil
		}
		scanned += len(records)
	}
	return found, formatCursor(agentCursor, after), nil
}

// GetAgentStatus shows one agent; a bare name is understood as by SendMessage.
func (a *Actor) GetAgentStatus(ctx context.Context, in c3po.AgentInput) (c3po.Agent, error) {
	if err := a.enterIfNamed(ctx); err != nil {
		return c3po.Agent{}, err
	}
	id, err := a.people.resolve(ctx, in.AgentID, c3po.ParseAgentID)
	if err != nil {
		return c3po.Agent{}, err
	}
	records, err := a.hub.store.Agents(ctx, a.space, []c3po.AgentID{id})
	if err != nil {
		return c3po.Agent{}, err
	}
	if len(records) > 0 {
		return a.people.agentView(ctx, records[0])
	}
	elsewhere, answers, err := a.hub.store.Renamed(ctx, a.space, id)
	if err == nil && !answers {
		elsewhere, err = a.people.elsewhere(ctx, id)
	}
	if err != nil {
		return c3po.Agent{}, err
	}
	if elsewhere == "" {
		return c3po.Agent{}, a.people.noAgent(ctx, id)
	}
	record, err := a.record(ctx, elsewhere)
	if err != nil {
		return c3po.Agent{}, err
	}
	return a.people.agentView(ctx, record)
}

// SetStatus stores what the caller says of itself.
func (a *Actor) SetStatus(ctx context.Context, in c3po.StatusInput) (c3po.StatusResult, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.StatusResult{}, err
	}
	switch in.Status {
	case c3po.Available, c3po.Busy, c3po.Away:
	default:
		return c3po.StatusResult{}, refuse("%q is not a status: available, busy or away", in.Status)
	}
	if err := checkLabels(label{"current_task", in.CurrentTask, 200}); err != nil {
		return c3po.StatusResult{}, err
	}
	if err := a.hub.store.SetStatus(ctx, a.space, a.id, a.caller.Run, in.Status, in.CurrentTask); err != nil {
		return c3po.StatusResult{}, a.dropIfSuperseded(err)
	}
	return c3po.StatusResult{Success: true, ID: a.id, Availability: in.Status, CurrentTask: in.CurrentTask}, nil
}

// forgetProbe takes an agent that was there to try something out from the list at
// once. If that fails it goes as every silent agent does.
func (me *identity) forgetProbe(ctx context.Context) {
	outcome, err := me.hub.retire(ctx, me.space, me.id, 0, true)
	if err != nil {
		me.hub.log.InfoContext(ctx, "a probe is not forgotten yet", "agent", me.id, "err", err)
		return
	}
	if outcome == store.RetireDone {
		me.tell(ctx, c3po.EventRetired, me.id, "")
	}
}

// Unregister ends the caller's session and never starts one. One that is closed, as its
// caller says, is started by mail from then on.
func (a *Actor) Unregister(ctx context.Context, _ c3po.None) (c3po.Unregistered, error) {
	if err := a.requireName(ctx); err != nil {
		return c3po.Unregistered{}, err
	}
	ended := false
	held, err := a.findOwnAgent(ctx)
	if err == nil && held != nil {
		a.bindTo(*held)
		standIn := ""
		if a.caller.Closed {
			standIn = a.hub.presence.Node()
		}
		ended, err = a.hub.store.Unregister(ctx, a.space, a.id, a.caller.Run, standIn)
	}
	if err != nil {
		return c3po.Unregistered{}, a.dropIfSuperseded(err)
	}
	a.hub.bindings.drop(a.key())
	a.hub.presence.Moved(a.space, a.id)
	if !ended {
		return c3po.Unregistered{Status: "ok", Message: fmt.Sprintf("Agent '%s' was not registered", a.caller.ID)}, nil
	}
	if a.caller.Closed {
		a.hub.presence.StandIn(a.space, a.id)
	}
	a.hub.marks.Touch(a.space, 0)
	a.tell(ctx, c3po.EventUnregistered, a.id, "")
	if held.Profile.Type == c3po.TypeProbe {
		a.forgetProbe(ctx)
	}
	return c3po.Unregistered{Status: "ok", Message: fmt.Sprintf("Agent '%s' unregistered", a.id)}, nil
}

// agentView is one agent as the caller sees it.
func (d directory) agentView(ctx context.Context, r store.Record) (c3po.Agent, error) {
	agents := []c3po.Agent{view(r)}
	if err := d.rooms.showRooms(ctx, []store.Record{r}, agents); err != nil {
		return c3po.Agent{}, err
	}
	err := d.showUnread(ctx, agents)
	return agents[0], err
}
