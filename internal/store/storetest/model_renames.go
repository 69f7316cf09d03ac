package storetest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// answers says whether a former name still stands for its agent.
func (sp *space) answers(was alias) bool { return sp.books.Lived-was.at < seconds(sp.limits.NameLife) }

// reserved says that a name stands for an agent that is called something else
// now, so that nobody else can have it.
func (sp *space) reserved(id c3po.AgentID) bool {
	was, ok := sp.renamed[id]
	return ok && sp.agents[id] == nil && sp.agents[was.to] != nil && sp.answers(was)
}

// follow gives the id that a caller wants, if it asks for a former name of its own.
func (sp *space) follow(step store.RegisterStep, now time.Time) c3po.AgentID {
	was, ok := sp.renamed[step.Want]
	if !ok || sp.agents[step.Want] != nil || sp.agents[was.to] == nil {
		return step.Want
	}
	if store.Follows(sp.record(was.to, now), step.Run, sp.answers(was)) {
		return was.to
	}
	return step.Want
}

// Rename implements store.Store.
func (m *Model) Rename(_ context.Context, name c3po.Space, old, new c3po.AgentID, run string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	a := sp.agents[old]
	if a == nil {
		if sp.renamed[old].to == new && sp.agents[new] != nil && !sp.superseded(new, run) {
			return nil // it was renamed by the same step before
		}
		return store.RefuseNoAgent(old)
	}
	sp.relist(old, sp.renamed[old].to)
	sp.relist(new, sp.renamed[new].to)
	if len(a.former) == store.MaxFormerNames {
		sp.relist(a.former[store.MaxFormerNames-1], old)
	}
	if sp.superseded(old, run) {
		return store.RefuseSuperseded(old)
	}
	was, answers := sp.renamed[new]
	mail := sp.find(func(msg *message) bool { return msg.view.ToAgent == new }, bySeq)
	if sp.agents[new] != nil || len(mail) > 0 || answers && was.to != old && sp.answers(was) {
		return store.RefuseNameTaken(new)
	}
	if a.renamesSince.After(now) || now.Sub(a.renamesSince) >= store.RenameWindow {
		a.renamesSince, a.renames = now, 0
	}
	if a.renames >= store.MaxRenames {
		return store.RefuseRenames(old, a.renamesSince.Add(store.RenameWindow).Sub(now))
	}
	a.renames++
	sp.event(c3po.EventRenamed, old, "", now)
	sp.event(c3po.EventRenamed, new, "", now)
	delete(sp.agents, old)
	a.id, a.former = new, append([]c3po.AgentID{old}, a.former...)
	a.former = a.former[:min(len(a.former), store.MaxFormerNames)]
	sp.agents[new] = a
	if sp.sessions[a.session] == old {
		sp.sessions[a.session] = new
	}
	for _, msg := range sp.find(func(msg *message) bool { return msg.view.ToAgent == old }, bySeq) {
		was := msg.view.ID
		delete(sp.messages, was)
		from, _, hex := was.Split()
		msg.view.ID, msg.view.ToAgent = c3po.NewMessageID(from, new, hex), new
		sp.messages[msg.view.ID] = msg
		for i := range msg.facts.Notices {
			msg.facts.Notices[i].ID = msg.view.ID
		}
	}
	for was, due := range maps.Clone(sp.deadlines) {
		if from, to, hex := was.Split(); to == old {
			delete(sp.deadlines, was)
			sp.deadlines[c3po.NewMessageID(from, new, hex)] = due
		}
	}
	for _, queue := range c3po.QueuesOf(a.profile.Capabilities) {
		for _, task := range sp.pending(queue) {
			if claim := task.facts.Claim; claim != nil && claim.By == old {
				task.facts.Claim = &c3po.Claim{By: new, At: claim.At, Released: claim.Released}
			}
		}
	}
	for _, r := range sp.rooms {
		move(r.members, old, new)
		move(r.invited, old, new)
		if r.creator == old {
			r.creator = new
		}
	}
	maps.DeleteFunc(sp.servedPosts, func(key servedPostKey, _ store.PostServedNote) bool { return key.agent == new })
	for key, note := range maps.Clone(sp.servedPosts) {
		if key.agent == old {
			delete(sp.servedPosts, key)
			key.agent, note.Agent = new, new
			sp.servedPosts[key] = note
		}
	}
	move(sp.marks, old, new)
	move(sp.sends, old, new)
	for _, name := range a.former {
		if other := sp.renamed[name]; other.to == old {
			sp.renamed[name] = alias{new, other.at}
		}
	}
	sp.renamed[old] = alias{new, sp.books.Lived}
	delete(sp.renamed, new)
	sp.retired = slices.DeleteFunc(sp.retired, func(r retiree) bool { return r.id == new })
	return nil
}

func move[T any](of map[c3po.AgentID]T, old, new c3po.AgentID) {
	if value, ok := of[old]; ok {
		of[new] = value
		delete(of, old)
	}
}

// Renamed implements store.Store.
func (m *Model) Renamed(_ context.Context, name c3po.Space, id c3po.AgentID) (c3po.AgentID, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	was, ok := sp.renamed[id]
	return was.to, ok && sp.answers(was), nil
}

// lookup finds a message by its id, or by one from before its recipient was
// renamed.
func (sp *space) lookup(id c3po.MessageID) *message {
	if msg := sp.messages[id]; msg != nil {
		return msg
	}
	from, to, hex := id.Split()
	return sp.messages[c3po.NewMessageID(from, sp.renamed[to].to, hex)]
}

// relist lists the mail of an agent by the name it has now, which is listed by a
// name that will lead to another agent.
func (sp *space) relist(name, is c3po.AgentID) {
	for _, msg := range sp.messages {
		if _, to, _ := msg.listed.Split(); to == name && msg.view.ToAgent == is {
			msg.listed = msg.view.ID
		}
	}
}
