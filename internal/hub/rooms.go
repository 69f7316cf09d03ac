package hub

import (
	"context"
	"fmt"
	"slices"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// joinShows is how much of a room's history its new member is given.
	joinShows = 50
	// roomsShown bounds how many rooms one page of agents names.
	roomsShown = 200
)

// RoomJoin makes the caller a member, and the room if there is none. It answers
// with the end of the history; what comes later is mail.
func (a *Actor) RoomJoin(ctx context.Context, in c3po.RoomJoinInput) (c3po.RoomJoined, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.RoomJoined{}, err
	}
	if a.id == c3po.Human {
		return c3po.RoomJoined{}, c3po.Errorf(c3po.InvalidRequest, "a person joins no rooms").
			Suggest("You see all of them: room_list, room_history and room_post work without joining.")
	}
	if err := checkRoom(in.Room); err != nil {
		return c3po.RoomJoined{}, err
	}
	visibility := in.Visibility
	if visibility == "" {
		visibility = c3po.Public
	}
	if err := checkVisibility(visibility); err != nil {
		return c3po.RoomJoined{}, err
	}
	if in.Notify != "" && !in.Notify.Known() {
		return c3po.RoomJoined{}, refuse("notify is %q; it must be all, mentions or none", in.Notify)
	}
	joined, err := a.hub.store.Join(ctx, a.caller.Space, store.JoinStep{
		Room: in.Room, Agent: a.id, Run: a.caller.Run, Visibility: visibility, Notify: in.Notify,
	})
	if err != nil {
		return c3po.RoomJoined{}, a.dropIfSuperseded(err)
	}
	if !joined.Already {
		a.hub.marks.Touch(a.caller.Space, 0)
		a.tell(ctx, c3po.EventJoined, a.id, "")
	}
	out := c3po.RoomJoined{Room: room(joined.Room), Made: joined.Made, Already: joined.Already, Messages: []c3po.Message{}}
	out.Notify = joined.Notify
	history, err := a.history(ctx, in.Room, 0, joinShows)
	if err != nil {
		out.Notice = sentences(a.doneBut(ctx, "you are in the room, but what was said there cannot be read now", err), "room_history shows it")
		return out, nil
	}
	out.Messages, out.Next = history.Messages, history.Next
	return out, nil
}

// checkRoom refuses what cannot be joined, left or changed.
func checkRoom(name c3po.RoomName) error {
	if name == "" {
		return refuse("room is missing")
	}
	if name.Reserved() {
		return refuse("'%s' is not a room to join or leave", name)
	}
	return nil
}

func checkVisibility(v c3po.Visibility) error {
	if v != c3po.Public && v != c3po.InviteOnly {
		return refuse("visibility is %q; it must be public or invite_only", v)
	}
	return nil
}

func room(r store.RoomRecord) c3po.Room {
	return c3po.Room{
		Room: r.Name, Visibility: r.Visibility, Creator: r.Creator, Members: r.Members, Posts: r.Posts, Joined: r.Member, Created: r.Created,
	}
}

// RoomLeave ends the caller's membership. The room stays, whoever is left in it.
func (a *Actor) RoomLeave(ctx context.Context, in c3po.RoomInput) (c3po.RoomLeft, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.RoomLeft{}, err
	}
	if err := checkRoom(in.Room); err != nil {
		return c3po.RoomLeft{}, err
	}
	outcome, err := a.hub.store.Leave(ctx, a.caller.Space, in.Room, a.id, a.caller.Run)
	if err != nil {
		return c3po.RoomLeft{}, a.dropIfSuperseded(err)
	}
	if outcome != store.LeaveNone {
		a.hub.marks.Touch(a.caller.Space, 0)
		a.tell(ctx, c3po.EventLeft, a.id, "")
	}
	return c3po.RoomLeft{Room: in.Room, Left: outcome != store.LeaveNone, Empty: outcome == store.LeaveEmpty}, nil
}

// RoomList shows the rooms the caller is in, or all it can see.
func (a *Actor) RoomList(ctx context.Context, in c3po.RoomListInput) (c3po.RoomList, error) {
	if err := a.enterIfNamed(ctx); err != nil {
		return c3po.RoomList{}, err
	}
	limit, err := a.hub.pageLimit(in.Limit)
	if err != nil {
		return c3po.RoomList{}, err
	}
	after, err := parseCursor(roomCursor, in.Cursor)
	if err != nil {
		return c3po.RoomList{}, err
	}
	var names []c3po.RoomName
	own := map[c3po.RoomName]store.RoomUnread{}
	if a.id != "" && a.id != c3po.Human {
		mail, err := a.hub.store.RoomMail(ctx, a.caller.Space, a.id, store.RoomQuery{Run: a.caller.Run})
		if err != nil {
			return c3po.RoomList{}, a.dropIfSuperseded(err)
		}
		for _, r := range mail.Rooms {
			names, own[r.Room] = append(names, r.Room), r
		}
	}
	if in.All || a.id == "" || a.id == c3po.Human {
		list, err := a.allRooms(ctx, after, limit)
		for i := range list.Rooms {
			r := &list.Rooms[i]
			r.Unread, r.Notify = own[r.Room].Unread, own[r.Room].Notify
		}
		return list, err
	}
	// Nobody is in so many that they need pages.
	records, err := a.hub.store.Rooms(ctx, a.caller.Space, a.id, names)
	if err != nil {
		return c3po.RoomList{}, err
	}
	list := c3po.RoomList{Rooms: []c3po.Room{}}
	for _, r := range records {
		shown := room(r)
		shown.Unread, shown.Notify = own[r.Name].Unread, own[r.Name].Notify
		list.Rooms = append(list.Rooms, shown)
	}
	return list, nil
}

func (a *Actor) allRooms(ctx context.Context, after int64, limit int) (c3po.RoomList, error) {
	list := c3po.RoomList{Rooms: []c3po.Room{}}
	for scanned := 0; scanned < maxScanned; {
		names, last, err := a.hub.store.RoomPage(ctx, a.caller.Space, after, limit)
		if err != nil {
			return c3po.RoomList{}, err
		}
		records, err := a.hub.store.Rooms(ctx, a.caller.Space, a.id, names)
		if err != nil {
			return c3po.RoomList{}, err
		}
		for _, r := range records {
			if len(list.Rooms) == limit {
				list.Next = formatCursor(roomCursor, after)
				return list, nil
			}
			after = r.Number
			if a.sees(r) {
				list.Rooms = append(list.Rooms, room(r))
			}
		}
		after = last
		if len(names) < limit {
			return list, nil
		}
		scanned += len(names)
	}
	list.Next = formatCursor(roomCursor, after)
	return list, nil
}

// sees says whether the room exists for the caller.
func (a *Actor) sees(r store.RoomRecord) bool {
	return r.Visibility == c3po.Public || r.Member || r.Invited || a.caller.Person() || r.Creator == a.id && a.id != ""
}

// reads says whether the caller may read what is said there.
func (a *Actor) reads(r store.RoomRecord) bool {
	return r.Visibility == c3po.Public || r.Member || a.caller.Person()
}

// roomFor finds a room the caller sees.
func (a *Actor) roomFor(ctx context.Context, name c3po.RoomName) (store.RoomRecord, error) {
	if err := checkRoom(name); err != nil {
		return store.RoomRecord{}, err
	}
	records, err := a.hub.store.Rooms(ctx, a.caller.Space, a.id, []c3po.RoomName{name})
	if err != nil {
		return store.RoomRecord{}, err
	}
	if len(records) == 0 || !a.sees(records[0]) {
		return store.RoomRecord{}, store.RefuseNoRoom(name)
	}
	return records[0], nil
}

// showRooms puts the rooms of agents into what the caller sees of them: those
// it could see by itself.
func (a *Actor) showRooms(ctx context.Context, records []store.Record, shown []c3po.Agent) error {
	var names []c3po.RoomName
	for _, r := range records {
		for _, name := range r.Rooms {
			if len(names) < roomsShown && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	rooms, err := a.hub.store.Rooms(ctx, a.caller.Space, a.id, names)
	if err != nil {
		return err
	}
	seen := map[c3po.RoomName]bool{}
	for _, r := range rooms {
		seen[r.Name] = a.sees(r)
	}
	for i, r := range records {
		for _, name := range r.Rooms {
			if seen[name] {
				shown[i].Rooms = append(shown[i].Rooms, name)
			}
		}
	}
	return nil
}

// agentView is one agent as the caller sees it.
func (a *Actor) agentView(ctx context.Context, r store.Record) (c3po.Agent, error) {
	agents := []c3po.Agent{view(r)}
	if err := a.showRooms(ctx, []store.Record{r}, agents); err != nil {
		return c3po.Agent{}, err
	}
	err := a.showUnread(ctx, agents)
	return agents[0], err
}

// RoomInvite lets an agent in, and tells it.
func (a *Actor) RoomInvite(ctx context.Context, in c3po.RoomInviteInput) (c3po.RoomInvited, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.RoomInvited{}, err
	}
	if err := checkRoom(in.Room); err != nil {
		return c3po.RoomInvited{}, err
	}
	asked, err := c3po.ParseAgentID(in.Agent)
	if err != nil {
		return c3po.RoomInvited{}, err
	}
	guest, err := a.findAgent(ctx, asked)
	if err != nil {
		return c3po.RoomInvited{}, err
	}
	if guest == "" {
		return c3po.RoomInvited{}, a.noAgent(ctx, asked)
	}
	made, err := a.hub.store.Invite(ctx, a.caller.Space, in.Room, a.id, a.caller.Run, a.caller.Person(), guest)
	if err != nil {
		return c3po.RoomInvited{}, a.dropIfSuperseded(err)
	}
	out := c3po.RoomInvited{Room: in.Room, Agent: guest, Member: made.Outcome == store.InviteMember, Already: made.Outcome == store.InviteAlready}
	if !out.Member {
		out.Notice = a.tellGuest(ctx, in.Room, guest, made.At)
	}
	return out, nil
}

// findAgent is the agent an id or a bare name means; empty if there is none.
func (a *Actor) findAgent(ctx context.Context, id c3po.AgentID) (c3po.AgentID, error) {
	records, err := a.hub.store.Agents(ctx, a.caller.Space, []c3po.AgentID{id})
	if err != nil || len(records) > 0 {
		return id, err
	}
	return a.elsewhere(ctx, id)
}

// tellGuest writes to the guest, once of each invitation. The invitation stands
// without it, so that it could not be told is only said.
func (a *Actor) tellGuest(ctx context.Context, name c3po.RoomName, guest c3po.AgentID, at int64) string {
	durability, err := a.hub.store.Durability(ctx)
	if err == nil {
		step := store.SendStep{
			Draft: store.Draft{
				From: a.id, To: guest, Kind: c3po.KindMessage, Priority: c3po.Normal, Room: name,
				Text: fmt.Sprintf("You are invited to the room '%s'. room_join(room=\"%s\") lets you in.", name, name),
				Key:  fmt.Sprintf("invite %s %s %d", name, guest, at),
			},
			Run: a.caller.Run, Durability: durability, RateLimit: a.hub.limits.SendsPerMinute,
		}
		var stored store.Stored
		stored, err = a.payingForMessage(step.Draft, func(unpaid bool) (store.Stored, error) {
			step.Unpaid = unpaid
			return a.hub.store.Send(ctx, a.caller.Space, step)
		})
		if err == nil {
			a.recordAccepted(ctx, c3po.EventAccepted, stored, durability)
			return ""
		}
	}
	return fmt.Sprintf("'%s' may come in, but could not be told: %s", guest, c3po.AsError(err).Message)
}

// RoomSet changes who sees a room.
func (a *Actor) RoomSet(ctx context.Context, in c3po.RoomSetInput) (c3po.Room, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.Room{}, err
	}
	if err := checkRoom(in.Room); err != nil {
		return c3po.Room{}, err
	}
	if err := checkVisibility(in.Visibility); err != nil {
		return c3po.Room{}, err
	}
	record, err := a.roomFor(ctx, in.Room)
	if err != nil {
		return c3po.Room{}, err
	}
	if err := a.hub.store.SetVisibility(ctx, a.caller.Space, in.Room, a.id, a.caller.Run, a.caller.Person(), in.Visibility); err != nil {
		return c3po.Room{}, a.dropIfSuperseded(err)
	}
	record.Visibility = in.Visibility
	return room(record), nil
}
