package storetest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

type room struct {
	creator    c3po.AgentID
	visibility c3po.Visibility
	created    time.Time
	number     int64
	members    map[c3po.AgentID]int64 // by the number of the event
	invited    map[c3po.AgentID]int64 // by when
	posts      []store.Post
	emptied    int64 // the lived second since when it has no members and nothing was said
	last       seat  // of all that was ever said, kept or not
}

// seat is a place in a room: up to here an agent has come, or the room has.
type seat struct {
	seq     int64
	ordinal int
}

// skip is a post that an agent is not shown: its own, or one it has as mail. The
// name in a post does not say so: names change.
type skip struct {
	room    c3po.RoomName
	ordinal int
}

// servedPostKey is one reader of an agent in a room.
type servedPostKey struct {
	agent  c3po.AgentID
	room   c3po.RoomName
	reader string
}

// maxDropped is how many old posts one new one pushes out.
const maxDropped = 16

func (r *room) record(name c3po.RoomName, viewer c3po.AgentID) store.RoomRecord {
	_, member := r.members[viewer]
	_, invited := r.invited[viewer]
	return store.RoomRecord{
		Name: name, Creator: r.creator, Visibility: r.visibility, Created: r.created, Number: r.number,
		Members: len(r.members), Posts: len(r.posts), Emptied: r.emptied, Member: member, Invited: invited,
	}
}

// cursors are the places of an agent in its rooms; the broadcasts are one of
// them for whoever is registered.
func (sp *space) cursors(id c3po.AgentID) map[c3po.RoomName]seat {
	a := sp.agents[id]
	if a == nil {
		return nil
	}
	places := maps.Clone(a.rooms)
	places[c3po.Everybody] = a.cast
	return places
}

func (sp *space) roomsOf(id c3po.AgentID) []c3po.RoomName {
	if a := sp.agents[id]; a != nil {
		return slices.Sorted(maps.Keys(a.rooms))
	}
	return nil
}

// talk says whether RoomMail may have something.
func (sp *space) talk(id c3po.AgentID) bool {
	a := sp.agents[id]
	return a != nil && (len(a.rooms) > 0 || sp.everybody().last.ordinal > a.cast.ordinal)
}

// everybody is the room of broadcasts, which is always there.
func (sp *space) everybody() *room {
	if sp.rooms[c3po.Everybody] == nil {
		sp.rooms[c3po.Everybody] = &room{}
	}
	return sp.rooms[c3po.Everybody]
}

// theRoom is a room that can be joined.
func (sp *space) theRoom(name c3po.RoomName) *room {
	if name == c3po.Everybody {
		return nil
	}
	return sp.rooms[name]
}

// Join implements store.Store.
func (m *Model) Join(_ context.Context, name c3po.Space, step store.JoinStep) (store.Joined, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	if sp.superseded(step.Agent, step.Run) {
		return store.Joined{}, store.RefuseSuperseded(step.Agent)
	}
	a := sp.agents[step.Agent]
	if a == nil {
		return store.Joined{}, store.RefuseNoAgent(step.Agent)
	}
	r := sp.theRoom(step.Room)
	made := r == nil
	if !made {
		if _, member := r.members[step.Agent]; member {
			if step.Notify != "" && a.notifies(step.Room) != step.Notify {
				a.notify[step.Room] = step.Notify
				m.publish(name, c3po.Event{Agent: step.Agent})
			}
			return store.Joined{Room: r.record(step.Room, step.Agent), Already: true, Notify: a.notifies(step.Room)}, nil
		}
		_, invited := r.invited[step.Agent]
		if r.visibility == c3po.InviteOnly && r.creator != step.Agent && !invited {
			return store.Joined{}, store.RefuseNoRoom(step.Room)
		}
	} else if sp.roomCount() >= sp.limits.Rooms {
		return store.Joined{}, store.RefuseManyRooms(store.ManyInSpace, sp.limits.Rooms)
	}
	if len(a.rooms) >= sp.limits.AgentRooms {
		return store.Joined{}, store.RefuseManyRooms(store.ManyOfAgent, sp.limits.AgentRooms)
	}
	sp.event(c3po.EventJoined, step.Agent, "", now)
	if made {
		r = &room{
			creator: step.Agent, visibility: step.Visibility, created: now, number: sp.books.Seq,
			members: map[c3po.AgentID]int64{}, invited: map[c3po.AgentID]int64{},
		}
		sp.rooms[step.Room] = r
	}
	r.members[step.Agent], r.emptied = sp.books.Seq, 0
	delete(r.invited, step.Agent)
	a.rooms[step.Room] = r.last
	if step.Notify != "" {
		a.notify[step.Room] = step.Notify
	}
	return store.Joined{Room: r.record(step.Room, step.Agent), Made: made, Notify: a.notifies(step.Room)}, nil
}

// notifies is what of a room wakes the agent.
func (a *agent) notifies(name c3po.RoomName) c3po.Notify {
	return cmp.Or(a.notify[name], c3po.NotifyMentions)
}

func (sp *space) roomCount() int {
	count := 0
	for name := range sp.rooms {
		if name != c3po.Everybody {
			count++
		}
	}
	return count
}

// Leave implements store.Store.
func (m *Model) Leave(_ context.Context, name c3po.Space, where c3po.RoomName, id c3po.AgentID, run string) (store.LeaveOutcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	if sp.superseded(id, run) {
		return "", store.RefuseSuperseded(id)
	}
	r := sp.theRoom(where)
	if r == nil {
		return store.LeaveNone, nil
	}
	if _, member := r.members[id]; !member {
		return store.LeaveNone, nil
	}
	sp.event(c3po.EventLeft, id, "", m.now())
	delete(r.members, id)
	delete(sp.agents[id].rooms, where)
	delete(sp.agents[id].notify, where)
	maps.DeleteFunc(sp.agents[id].skips, func(s skip, _ bool) bool { return s.room == where })
	maps.DeleteFunc(sp.servedPosts, func(key servedPostKey, _ store.PostServedNote) bool { return key.agent == id && key.room == where })
	if len(r.members) > 0 {
		return store.LeaveDone, nil
	}
	r.emptied = sp.books.Lived
	return store.LeaveEmpty, nil
}

// EndRoom implements store.Store.
func (m *Model) EndRoom(_ context.Context, name c3po.Space, step store.EndRoomStep) (store.EndRoomOutcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	if sp.superseded(step.By, step.Run) {
		return "", store.RefuseSuperseded(step.By)
	}
	r := sp.theRoom(step.Room)
	if r == nil {
		return "", store.RefuseNoRoom(step.Room)
	}
	if !step.Outside && r.creator != step.By {
		return "", r.othersThan(step.Room, step.By)
	}
	return sp.endRoom(step.Room, r, step.Silent, m.now()), nil
}

func (sp *space) endRoom(name c3po.RoomName, r *room, silent time.Duration, now time.Time) store.EndRoomOutcome {
	switch {
	case len(r.members) > 0:
		return store.EndMembers
	case silent > 0 && sp.books.Lived-r.emptied < seconds(silent):
		return store.EndKept
	}
	sp.event(c3po.EventRoomEnded, "", "", now)
	delete(sp.rooms, name)
	return store.EndDone
}

// othersThan is what somebody is told who did not make the room.
func (r *room) othersThan(name c3po.RoomName, id c3po.AgentID) error {
	if _, member := r.members[id]; !member && r.visibility == c3po.InviteOnly {
		return store.RefuseNoRoom(name)
	}
	return store.RefuseNotCreator(name, r.creator)
}

// Invite implements store.Store.
func (m *Model) Invite(_ context.Context, name c3po.Space, where c3po.RoomName, by c3po.AgentID, run string, outside bool, guest c3po.AgentID) (store.Invitation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	if sp.superseded(by, run) {
		return store.Invitation{}, store.RefuseSuperseded(by)
	}
	r := sp.theRoom(where)
	if r == nil {
		return store.Invitation{}, store.RefuseNoRoom(where)
	}
	if _, member := r.members[by]; !member && !outside {
		return store.Invitation{}, r.closedTo(where)
	}
	if sp.agents[guest] == nil {
		return store.Invitation{}, store.RefuseNoAgent(guest)
	}
	if _, member := r.members[guest]; member {
		return store.Invitation{Outcome: store.InviteMember}, nil
	}
	if at, invited := r.invited[guest]; invited {
		return store.Invitation{Outcome: store.InviteAlready, At: at}, nil
	}
	r.invited[guest] = sp.books.Seq
	return store.Invitation{Outcome: store.InviteDone, At: sp.books.Seq}, nil
}

// closedTo is what somebody is told who is not in the room.
func (r *room) closedTo(name c3po.RoomName) error {
	if r.visibility == c3po.InviteOnly {
		return store.RefuseNoRoom(name)
	}
	return store.RefuseNotInRoom(name)
}

// SetVisibility implements store.Store.
func (m *Model) SetVisibility(_ context.Context, name c3po.Space, where c3po.RoomName, by c3po.AgentID, run string, outside bool, v c3po.Visibility) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	if sp.superseded(by, run) {
		return store.RefuseSuperseded(by)
	}
	r := sp.theRoom(where)
	if r == nil {
		return store.RefuseNoRoom(where)
	}
	if !outside && r.creator != by {
		return r.othersThan(where, by)
	}
	r.visibility = v
	return nil
}

// Rooms implements store.Store.
func (m *Model) Rooms(_ context.Context, name c3po.Space, viewer c3po.AgentID, names []c3po.RoomName) ([]store.RoomRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []store.RoomRecord
	for _, one := range names {
		if r := m.space(name).theRoom(one); r != nil {
			found = append(found, r.record(one, viewer))
		}
	}
	return found, nil
}

// RoomPage implements store.Store.
func (m *Model) RoomPage(_ context.Context, name c3po.Space, after int64, limit int) ([]c3po.RoomName, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rooms := m.space(name).rooms
	var names []c3po.RoomName
	for one, r := range rooms {
		if one != c3po.Everybody && r.number > after {
			names = append(names, one)
		}
	}
	slices.SortFunc(names, func(a, b c3po.RoomName) int { return int(rooms[a].number - rooms[b].number) })
	names = names[:min(len(names), limit)]
	if len(names) > 0 {
		after = rooms[names[len(names)-1]].number
	}
	return names, after, nil
}

// RoomsOf implements store.Store.
func (m *Model) RoomsOf(_ context.Context, name c3po.Space, id c3po.AgentID) ([]c3po.RoomName, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.space(name).roomsOf(id), nil
}

// RoomMembers implements store.Store.
func (m *Model) RoomMembers(_ context.Context, name c3po.Space, where c3po.RoomName, after int64, limit int) ([]store.Member, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.space(name).theRoom(where)
	if r == nil {
		return nil, nil
	}
	var found []store.Member
	for id, number := range r.members {
		if number > after {
			found = append(found, store.Member{ID: id, Number: number})
		}
	}
	slices.SortFunc(found, func(a, b store.Member) int { return int(a.Number - b.Number) })
	return found[:min(len(found), limit)], nil
}
