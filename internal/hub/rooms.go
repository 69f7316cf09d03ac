package hub

import (
	"context"
	"fmt"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// joinShows is how much of a room's history its new member is given.
	joinShows = 50
	// roomsShown bounds how many rooms one page of agents names.
	roomsShown = 200
)

// A roomView is the rooms of the space as the caller sees them.
type roomView struct{ *identity }

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
	joined, err := a.hub.store.Join(ctx, a.space, store.JoinStep{
		Room: in.Room, Agent: a.id, Run: a.caller.Run, Visibility: visibility, Notify: in.Notify,
	})
	if err != nil {
		return c3po.RoomJoined{}, a.dropIfSuperseded(err)
	}
	if !joined.Already {
		a.hub.marks.Touch(a.space, 0)
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
	a.inbox.shows(history.Messages...)
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

// RoomLeave ends the caller's membership. The room stays, even if it is empty.
func (a *Actor) RoomLeave(ctx context.Context, in c3po.RoomInput) (c3po.RoomLeft, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.RoomLeft{}, err
	}
	if err := checkRoom(in.Room); err != nil {
		return c3po.RoomLeft{}, err
	}
	outcome, err := a.hub.store.Leave(ctx, a.space, in.Room, a.id, a.caller.Run)
	if err != nil {
		return c3po.RoomLeft{}, a.dropIfSuperseded(err)
	}
	if outcome != store.LeaveNone {
		a.hub.marks.Touch(a.space, 0)
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
		mail, err := a.hub.store.RoomMail(ctx, a.space, a.id, store.RoomQuery{Run: a.caller.Run})
		if err != nil {
			return c3po.RoomList{}, a.dropIfSuperseded(err)
		}
		for _, r := range mail.Rooms {
			names, own[r.Room] = append(names, r.Room), r
		}
	}
	if in.All || a.id == "" || a.id == c3po.Human {
		list, err := a.rooms.all(ctx, after, limit)
		for i := range list.Rooms {
			r := &list.Rooms[i]
			r.Unread, r.Notify = own[r.Room].Unread, own[r.Room].Notify
		}
		return list, err
	}
	// No agent is in so many rooms that it needs pages.
	records, err := a.hub.store.Rooms(ctx, a.space, a.id, names)
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

func (v roomView) all(ctx context.Context, after int64, limit int) (c3po.RoomList, error) {
	list := c3po.RoomList{Rooms: []c3po.Room{}}
	for scanned := 0; scanned < maxScanned; {
		names, last, err := v.hub.store.RoomPage(ctx, v.space, after, limit)
		if err != nil {
			return c3po.RoomList{}, err
		}
		records, err := v.hub.store.Rooms(ctx, v.space, v.id, names)
		if err != nil {
			return c3po.RoomList{}, err
		}
		for _, r := range records {
			if len(list.Rooms) == limit {
				list.Next = formatCursor(roomCursor, after)
				return list, nil
			}
			after = r.Number
			if v.sees(r) {
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
func (v roomView) sees(r store.RoomRecord) bool {
	return r.Visibility == c3po.Public || r.Member || r.Invited || v.caller.Person() || r.Creator == v.id && v.id != ""
}

// reads says whether the caller may read what is said there.
func (v roomView) reads(r store.RoomRecord) bool {
	return r.Visibility == c3po.Public || r.Member || v.caller.Person()
}

// find finds a room the caller sees.
func (v roomView) find(ctx context.Context, name c3po.RoomName) (store.RoomRecord, error) {
	if err := checkRoom(name); err != nil {
		return store.RoomRecord{}, err
	}
	records, err := v.hub.store.Rooms(ctx, v.space, v.id, []c3po.RoomName{name})
	if err != nil {
		return store.RoomRecord{}, err
	}
	if len(records) == 0 || !v.sees(records[0]) {
		return store.RoomRecord{}, store.RefuseNoRoom(name)
	}
	return records[0], nil
}

// showRooms adds the rooms of agents to what the caller sees of them, leaving out rooms
// that are hidden from the caller.
func (v roomView) showRooms(ctx context.Context, records []store.Record, shown []c3po.Agent) error {
	var names []c3po.RoomName
	for _, r := range records {
		for _, name := range r.Rooms {
			if len(names) < roomsShown && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	rooms, err := v.hub.store.Rooms(ctx, v.space, v.id, names)
	if err != nil {
		return err
	}
	seen := map[c3po.RoomName]bool{}
	for _, r := range rooms {
		seen[r.Name] = v.sees(r)
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
	guest, err := a.people.find(ctx, asked)
	if err != nil {
		return c3po.RoomInvited{}, err
	}
	if guest == "" {
		return c3po.RoomInvited{}, a.people.noAgent(ctx, asked)
	}
	made, err := a.hub.store.Invite(ctx, a.space, in.Room, a.id, a.caller.Run, a.caller.Person(), guest)
	if err != nil {
		return c3po.RoomInvited{}, a.dropIfSuperseded(err)
	}
	out := c3po.RoomInvited{Room: in.Room, Agent: guest, Member: made.Outcome == store.InviteMember, Already: made.Outcome == store.InviteAlready}
	if !out.Member {
		out.Notice = a.outbox.tellGuest(ctx, in.Room, guest, made.At)
	}
	return out, nil
}

// tellGuest writes to the guest, once of each invitation. The invitation stands
// without it, so that it could not be told is only said.
func (o outbox) tellGuest(ctx context.Context, name c3po.RoomName, guest c3po.AgentID, at int64) string {
	durability, err := o.hub.store.Durability(ctx)
	if err == nil {
		step := store.SendStep{
			Draft: store.Draft{
				From: o.id, To: guest, Kind: c3po.KindMessage, Priority: c3po.Normal, Room: name,
				Text: fmt.Sprintf("You are invited to the room '%s'. room_join(room=\"%s\") lets you in.", name, name),
				Key:  fmt.Sprintf("invite %s %s %d", name, guest, at),
			},
			Run: o.caller.Run, Durability: durability, RateLimit: o.hub.limits.SendsPerMinute,
		}
		var stored store.Stored
		stored, err = o.payingForMessage(step.Draft, func(refusal error) (store.Stored, error) {
			step.Barred = refusal
			return o.hub.store.Send(ctx, o.space, step)
		})
		if err == nil {
			o.recordAccepted(ctx, c3po.EventAccepted, stored, durability)
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
	record, err := a.rooms.find(ctx, in.Room)
	if err != nil {
		return c3po.Room{}, err
	}
	if err := a.hub.store.SetVisibility(ctx, a.space, in.Room, a.id, a.caller.Run, a.caller.Person(), in.Visibility); err != nil {
		return c3po.Room{}, a.dropIfSuperseded(err)
	}
	record.Visibility = in.Visibility
	return room(record), nil
}
