package hub

import (
	"context"
	"fmt"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// maxRenamings is how often an agent may be renamed while a call is on its way
// to it or from it.
const maxRenamings = 4

// Rename gives the caller another name. Later calls use the new name, whatever id they
// ask for, because the run is known.
func (a *Actor) Rename(ctx context.Context, in c3po.RenameInput) (c3po.Renaming, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.Renaming{}, err
	}
	id, err := c3po.ParseAgentID(in.NewID)
	if err != nil {
		return c3po.Renaming{}, err
	}
	if id.Host() == "" && a.id.Host() != "" {
		id = c3po.AgentID(a.id.Host() + "/" + id.Name())
	}
	switch {
	case id == a.id:
		return c3po.Renaming{OldID: a.id, ID: a.id, Message: fmt.Sprintf("You are '%s' already.", a.id)}, nil
	case id.Poses():
		return c3po.Renaming{}, refuse("'%s' is a reserved name: no agent may have it", id)
	case id.Host() != a.id.Host():
		return c3po.Renaming{}, refuse("'%s' is a name of another host", id)
	case !a.caller.MayBe(id):
		return c3po.Renaming{}, store.RefuseOtherName(id, a.caller.Agents)
	}
	old := a.id
	if err := a.hub.store.Rename(ctx, a.space, old, id, a.caller.Run); err != nil {
		return c3po.Renaming{}, a.dropIfSuperseded(err)
	}
	a.hub.bindings.dropAgent(a.space, old)
	a.hub.presence.Moved(a.space, old)
	a.hub.marks.Touch(a.space, 0)
	a.tell(ctx, c3po.EventRenamed, old, "")
	later := ""
	if err := a.enter(ctx); err != nil {
		later = " " + a.doneBut(ctx, "You go on under it with your next call", err) + "."
		a.actAs(binding{id: id, epoch: a.epoch})
	}
	a.outbox.tellRooms(ctx, old)
	return c3po.Renaming{
		OldID: old, ID: id,
		Message: fmt.Sprintf("'%s' is called '%s' now. For %s, mail to '%s' is delivered to '%s'.", old, id, hours(a.hub.limits.NameLife), old, id) + later,
	}, nil
}

// CalledNow is the agent that gets mail to a former name of it; empty if nobody does.
func (a *Actor) CalledNow(ctx context.Context, former c3po.AgentID) (c3po.AgentID, error) {
	now, answers, err := a.hub.store.Renamed(ctx, a.space, former)
	if !answers {
		now = ""
	}
	return now, err
}

// tellRooms says in the caller's rooms what it is called now. It never fails: the
// list of members says the same.
func (o outbox) tellRooms(ctx context.Context, old c3po.AgentID) {
	rooms, err := o.hub.store.RoomsOf(ctx, o.space, o.id)
	if err != nil {
		o.hub.log.WarnContext(ctx, "rooms are not told of a renaming", "space", o.space, "agent", o.id, "err", err)
		return
	}
	durability, err := o.hub.store.Durability(ctx)
	for _, room := range rooms {
		if err == nil {
			_, err = o.hub.store.Post(ctx, o.space, store.PostStep{
				Draft: store.Draft{
					From: c3po.System, To: room.Address(), Room: room, Kind: c3po.KindPost, Priority: c3po.Normal,
					Text: fmt.Sprintf("peer_renamed: '%s' is called '%s' now.", old, o.id),
				},
				Durability: durability, Outside: true,
			})
		}
		if err != nil {
			o.hub.log.WarnContext(ctx, "a room is not told of a renaming", "space", o.space, "room", room, "err", err)
		}
	}
}

// Rejoin says whether a refused call is worth repeating: the caller was renamed in the
// meantime, perhaps on another node, and the repeat enters under the new name.
func (a *Actor) Rejoin(ctx context.Context) bool {
	if a.id == "" || a.rejoined == maxRenamings {
		return false
	}
	to, _, err := a.hub.store.Renamed(ctx, a.space, a.id)
	if err != nil || to == "" {
		return false
	}
	a.hub.bindings.dropAgent(a.space, a.id)
	a.rejoined++
	return true
}

// goOn lets a wait go on under the name its agent has now, and says whether that
// is another one. A look at the old name tells nothing: its mail has moved, and
// what comes from now on wakes the new one. Refusal is what the look was refused
// with, if it was; it stands unless the new name is the reason. Nothing is written:
// the next call of the caller enters by the new name.
func (me *identity) goOn(ctx context.Context, refusal error) (moved bool, err error) {
	if me.id.Reserved() {
		return false, refusal
	}
	for range maxRenamings {
		to, answers, err := me.hub.store.Renamed(ctx, me.space, me.id)
		if err != nil {
			return false, err
		}
		if to == "" {
			return false, refusal
		}
		records, err := me.hub.store.Agents(ctx, me.space, []c3po.AgentID{me.id, to})
		switch {
		case err != nil:
			return false, err
		case len(records) == 0:
			continue // it was renamed again between the two reads, or is retired
		case records[0].ID == me.id || me.caller.Run == "" && !answers:
			return false, refusal // another agent has the old name now
		}
		now := records[0]
		switch {
		case me.caller.Run != "" && now.Run != "" && now.Run != me.caller.Run:
			return false, me.dropIfSuperseded(store.RefuseSuperseded(me.id))
		case !me.caller.MayBe(to):
			return false, store.RefuseOtherName(to, me.caller.Agents)
		}
		me.hub.bindings.dropAgent(me.space, me.id)
		me.actAs(binding{id: to, epoch: now.Epoch, notice: me.notice, queues: c3po.QueuesOf(now.Profile.Capabilities)})
		return true, nil
	}
	return false, refusal
}

// goOnIfEmpty is goOn for a caller without a run that was renamed at another coordinator.
// The store refuses a run with an old name; a caller without one would just see an empty
// inbox.
func (me *identity) goOnIfEmpty(ctx context.Context, page store.InboxPage) (moved bool, err error) {
	if page.Count > 0 || me.caller.Run != "" {
		return false, nil
	}
	return me.goOn(ctx, nil)
}

// current is the id a message has today, if its recipient was renamed.
func (h *Hub) current(ctx context.Context, space c3po.Space, id c3po.MessageID) (c3po.MessageID, error) {
	from, to, hex := id.Split()
	now, _, err := h.store.Renamed(ctx, space, to)
	if err != nil || now == "" {
		return id, err
	}
	return c3po.NewMessageID(from, now, hex), nil
}

// ownAll is own for several.
func (me *identity) ownAll(ctx context.Context, ids []c3po.MessageID) ([]c3po.MessageID, error) {
	out := make([]c3po.MessageID, len(ids))
	for i, id := range ids {
		var err error
		if out[i], err = me.idInOwnInbox(ctx, id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// idInOwnInbox gives the id that a message has in the caller's inbox; one of somebody
// else's, or that is unknown, stays as it is.
func (me *identity) idInOwnInbox(ctx context.Context, id c3po.MessageID) (c3po.MessageID, error) {
	if _, to, _ := id.Split(); to == me.id || to.Queue() != "" {
		return id, nil
	}
	now, err := me.hub.current(ctx, me.space, id)
	if err != nil {
		return id, err
	}
	if _, to, _ := now.Split(); to != me.id {
		return id, nil
	}
	// If it came from another coordinator its sender is called otherwise too.
	e, err := me.hub.store.Message(ctx, me.space, id)
	if err != nil || e == nil {
		return now, err
	}
	return e.Message.ID, nil
}

// names are what the caller is called, and was called before.
func (me *identity) names(ctx context.Context) ([]c3po.AgentID, error) {
	if me.id == "" {
		return nil, nil
	}
	records, err := me.hub.store.Agents(ctx, me.space, []c3po.AgentID{me.id})
	if err != nil || len(records) == 0 {
		return []c3po.AgentID{me.id}, err
	}
	return append([]c3po.AgentID{me.id}, records[0].Former...), nil
}

// formerAlone are the caller's former names that no other agent has now.
func (me *identity) formerAlone(ctx context.Context) ([]c3po.AgentID, error) {
	names, err := me.names(ctx)
	if err != nil || len(names) < 2 {
		return nil, err
	}
	taken, err := me.hub.store.Agents(ctx, me.space, names[1:])
	return slices.DeleteFunc(names[1:], func(name c3po.AgentID) bool {
		return slices.ContainsFunc(taken, func(r store.Record) bool { return r.ID == name })
	}), err
}

// isMe says whether a name is the caller's, or was.
func (me *identity) isMe(ctx context.Context, id c3po.AgentID) (bool, error) {
	if id == me.id {
		return true, nil
	}
	names, err := me.names(ctx)
	return slices.Contains(names, id), err
}
