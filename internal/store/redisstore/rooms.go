package redisstore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// roomRow is what the scripts write of a room.
type roomRow struct {
	Creator    c3po.AgentID    `json:"c"`
	Visibility c3po.Visibility `json:"v"`
	Created    int64           `json:"a"`
	Number     int64           `json:"s"`
	Members    int             `json:"m"`
	Last       int64           `json:"q"`
	Kept       int             `json:"n"`
	Emptied    int64           `json:"e"`
}

func (r roomRow) record(name c3po.RoomName) store.RoomRecord {
	return store.RoomRecord{
		Name: name, Creator: r.Creator, Visibility: r.Visibility, Created: instant(r.Created), Number: r.Number,
		Members: r.Members, Posts: r.Kept, Emptied: r.Emptied,
	}
}

func readRow(name c3po.RoomName, raw string) (roomRow, error) {
	var row roomRow
	if err := json.Unmarshal([]byte(raw), &row); err != nil {
		return row, fmt.Errorf("decode the room %s: %w", name, err)
	}
	return row, nil
}

// Join implements store.Store.
func (s *Store) Join(ctx context.Context, space c3po.Space, step store.JoinStep) (store.Joined, error) {
	k, room := keysOf(space), step.Room
	answer, err := s.run(ctx, "room_join", k, with{
		"agent": k.agent(step.Agent), "members": k.members(room), "invited": k.invited(room), "joined": k.joined(step.Agent),
		"room": room, "id": step.Agent, "run": step.Run, "visibility": step.Visibility,
		"max_rooms": s.limits.Rooms, "max_rooms_of_agent": s.limits.AgentRooms, "notify": step.Notify,
	})
	if err != nil {
		return store.Joined{}, err
	}
	switch word(answer[0]) {
	case "many_in_space":
		return store.Joined{}, store.RefuseManyRooms(store.ManyInSpace, s.limits.Rooms)
	case "many_of_agent":
		return store.Joined{}, store.RefuseManyRooms(store.ManyOfAgent, s.limits.AgentRooms)
	case "ok":
	default:
		return store.Joined{}, roomOutcome(answer, room, step.Agent)
	}
	row, err := readRow(room, word(answer[3]))
	if err != nil {
		return store.Joined{}, err
	}
	joined := store.Joined{Room: row.record(room), Made: integer(answer[1]) == 1, Already: integer(answer[2]) == 1, Notify: c3po.Notify(word(answer[4]))}
	joined.Room.Member = true
	return joined, nil
}

// roomOutcome is what scripts about rooms refuse with, nil for the rest.
func roomOutcome(answer []rueidis.RedisMessage, room c3po.RoomName, id c3po.AgentID) error {
	switch word(answer[0]) {
	case "superseded":
		return store.RefuseSuperseded(id)
	case "unknown":
		return store.RefuseNoAgent(id)
	case "no_room":
		return store.RefuseNoRoom(room)
	case "not_member":
		return store.RefuseNotInRoom(room)
	case "not_creator":
		return store.RefuseNotCreator(room, c3po.AgentID(word(answer[1])))
	}
	return nil
}

// Leave implements store.Store.
func (s *Store) Leave(ctx context.Context, space c3po.Space, room c3po.RoomName, id c3po.AgentID, run string) (store.LeaveOutcome, error) {
	k := keysOf(space)
	answer, err := s.run(ctx, "room_leave", k, with{
		"agent": k.agent(id), "members": k.members(room), "joined": k.joined(id), "skips": k.skips(id), "reads": k.reads(id), "room": room, "id": id, "run": run,
	})
	if err != nil {
		return "", err
	}
	if err := roomOutcome(answer, room, id); err != nil {
		return "", err
	}
	return store.LeaveOutcome(word(answer[0])), nil
}

// EndRoom implements store.Store.
func (s *Store) EndRoom(ctx context.Context, space c3po.Space, step store.EndRoomStep) (store.EndRoomOutcome, error) {
	k, room := keysOf(space), step.Room
	answer, err := s.run(ctx, "room_end", k, with{
		"agent": k.agent(step.By), "members": k.members(room), "invited": k.invited(room), "room_log": k.room(room),
		"room": room, "id": step.By, "run": step.Run, "outside": step.Outside, "silent": seconds(step.Silent),
	})
	if err != nil {
		return "", err
	}
	if err := roomOutcome(answer, room, step.By); err != nil {
		return "", err
	}
	return store.EndRoomOutcome(word(answer[0])), nil
}

// endEmptyRooms ends rooms that were empty and silent for long.
func (s *Store) endEmptyRooms(ctx context.Context, space c3po.Space, lived int64) error {
	for cursor := uint64(0); s.limits.RoomLife > 0; {
		page, err := s.scanHash(ctx, keysOf(space).rooms(), cursor)
		if err != nil {
			return err
		}
		for i := 0; i+1 < len(page.Elements); i += 2 {
			name := c3po.RoomName(page.Elements[i])
			row, err := readRow(name, page.Elements[i+1])
			if err != nil {
				return err
			}
			if name == c3po.Everybody || !store.RoomOver(s.limits, lived, row.record(name)) {
				continue
			}
			// The step has the last word: an agent may have joined in the meantime.
			if _, err := s.EndRoom(ctx, space, store.EndRoomStep{Room: name, Outside: true, Silent: s.limits.RoomLife}); err != nil {
				return err
			}
		}
		if cursor = page.Cursor; cursor == 0 {
			return nil
		}
	}
	return nil
}

// Invite implements store.Store.
func (s *Store) Invite(ctx context.Context, space c3po.Space, room c3po.RoomName, by c3po.AgentID, run string, outside bool, guest c3po.AgentID) (store.Invitation, error) {
	k := keysOf(space)
	answer, err := s.run(ctx, "room_invite", k, with{
		"agent": k.agent(by), "members": k.members(room), "invited": k.invited(room), "guest": k.agent(guest),
		"room": room, "id": by, "run": run, "outside": outside, "guest_id": guest,
	})
	if err != nil {
		return store.Invitation{}, err
	}
	if word(answer[0]) == "unknown" {
		return store.Invitation{}, store.RefuseNoAgent(guest)
	}
	if err := roomOutcome(answer, room, by); err != nil {
		return store.Invitation{}, err
	}
	made := store.Invitation{Outcome: store.InviteOutcome(word(answer[0]))}
	if len(answer) > 1 {
		made.At = atoi(word(answer[1]))
	}
	return made, nil
}

// SetVisibility implements store.Store.
func (s *Store) SetVisibility(ctx context.Context, space c3po.Space, room c3po.RoomName, by c3po.AgentID, run string, outside bool, v c3po.Visibility) error {
	k := keysOf(space)
	answer, err := s.run(ctx, "room_set", k,
		with{"agent": k.agent(by), "members": k.members(room), "room": room, "id": by, "run": run, "outside": outside, "visibility": v})
	if err != nil {
		return err
	}
	return roomOutcome(answer, room, by)
}

// Rooms implements store.Store.
func (s *Store) Rooms(ctx context.Context, space c3po.Space, viewer c3po.AgentID, names []c3po.RoomName) ([]store.RoomRecord, error) {
	if len(names) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	k := keysOf(space)
	fields := make([]string, len(names))
	for i, name := range names {
		fields[i] = string(name)
	}
	commands := rueidis.Commands{s.commands.B().Hmget().Key(k.rooms()).Field(fields...).Build()}
	for _, name := range names {
		commands = append(commands,
			s.commands.B().Zscore().Key(k.members(name)).Member(string(viewer)).Build(),
			s.commands.B().Zscore().Key(k.invited(name)).Member(string(viewer)).Build())
	}
	answers := s.commands.DoMulti(ctx, commands...)
	rows, err := answers[0].ToArray()
	if err != nil {
		return nil, s.failure(ctx, "read rooms", err)
	}
	var out []store.RoomRecord
	for i, name := range names {
		if rows[i].IsNil() || name == c3po.Everybody {
			continue
		}
		row, err := readRow(name, word(rows[i]))
		if err != nil {
			return nil, err
		}
		record := row.record(name)
		for n, is := range []*bool{&record.Member, &record.Invited} {
			switch err := answers[1+2*i+n].Error(); {
			case err == nil:
				*is = true
			case !rueidis.IsRedisNil(err):
				return nil, s.failure(ctx, "read rooms", err)
			}
		}
		out = append(out, record)
	}
	return out, nil
}

// RoomPage implements store.Store.
func (s *Store) RoomPage(ctx context.Context, space c3po.Space, after int64, limit int) ([]c3po.RoomName, int64, error) {
	rows, err := s.scores(ctx, s.commands.B().Zrangebyscore().Key(keysOf(space).roomOrder()).Min("("+itoa(after)).Max("+inf").
		Withscores().Limit(0, int64(limit)).Build())
	if err != nil {
		return nil, 0, err
	}
	var names []c3po.RoomName
	for _, row := range rows {
		names, after = append(names, c3po.RoomName(row.Member)), int64(row.Score)
	}
	return names, after, nil
}

// RoomsOf implements store.Store.
func (s *Store) RoomsOf(ctx context.Context, space c3po.Space, id c3po.AgentID) ([]c3po.RoomName, error) {
	names, err := s.strings(ctx, s.commands.B().Hkeys().Key(keysOf(space).joined(id)).Build())
	if err != nil {
		return nil, err
	}
	return roomNames(names), nil
}

func roomNames(names []string) []c3po.RoomName {
	var out []c3po.RoomName
	for _, name := range names {
		out = append(out, c3po.RoomName(name))
	}
	slices.Sort(out)
	return out
}

// RoomMembers implements store.Store.
func (s *Store) RoomMembers(ctx context.Context, space c3po.Space, room c3po.RoomName, after int64, limit int) ([]store.Member, error) {
	rows, err := s.scores(ctx, s.commands.B().Zrangebyscore().Key(keysOf(space).members(room)).Min("("+itoa(after)).Max("+inf").
		Withscores().Limit(0, int64(limit)).Build())
	if err != nil {
		return nil, err
	}
	var out []store.Member
	for _, row := range rows {
		out = append(out, store.Member{ID: c3po.AgentID(row.Member), Number: int64(row.Score)})
	}
	return out, nil
}

// RoomMail implements store.Store.
func (s *Store) RoomMail(ctx context.Context, space c3po.Space, owner c3po.AgentID, q store.RoomQuery) (store.RoomMail, error) {
	k := keysOf(space)
	answer, err := s.run(ctx, "room_check", k, with{
		"agent": k.agent(owner), "joined": k.joined(owner), "skips": k.skips(owner), "reads": k.reads(owner),
		"run": q.Run, "reader": q.Reader, "everybody": c3po.Everybody, "after": q.After,
	})
	if err != nil {
		return store.RoomMail{}, err
	}
	if word(answer[0]) == "superseded" {
		return store.RoomMail{}, store.RefuseSuperseded(owner)
	}
	mail := store.RoomMail{Seq: integer(answer[1]), Now: instant(integer(answer[3]))}
	after := integer(answer[4])
	read := roomRead{marks: map[c3po.RoomName]int64{}}
	for _, row := range answer[8:] {
		parts := list(row)
		room, cursor, last, unread := c3po.RoomName(word(parts[0])), integer(parts[1]), integer(parts[2]), int(integer(parts[3]))
		mail.Rooms = append(mail.Rooms, store.RoomUnread{Room: room, Unread: unread, Notify: c3po.Notify(word(parts[5]))})
		given, told := readRoomMark(word(parts[4]))
		read.marks[room] = given
		if q.SkipGiven && (!q.Positioned || told <= after) {
			cursor = max(cursor, given)
		}
		if from := max(cursor, after); from < last && q.Hears.Hears(c3po.Notify(word(parts[5]))) {
			read.rooms = append(read.rooms, with{"log": k.room(room), "name": room, "after": from})
		}
	}
	slices.SortFunc(mail.Rooms, func(a, b store.RoomUnread) int {
		return cmp.Or(cmp.Compare(flag(a.Room == c3po.Everybody), flag(b.Room == c3po.Everybody)), cmp.Compare(a.Room, b.Room))
	})
	if n := len(mail.Rooms); n > 0 && mail.Rooms[n-1].Room == c3po.Everybody && mail.Rooms[n-1].Unread == 0 {
		mail.Rooms = mail.Rooms[:n-1]
	}
	if q.Limit == 0 || len(read.rooms) == 0 {
		return mail, nil
	}
	read.query = with{
		"skips": k.skips(owner), "limit": q.Limit, "most": q.Bytes, "lived": integer(answer[2]), "kind": word(answer[5]), "capabilities": word(answer[6]),
		"host": cmp.Or(word(answer[7]), owner.Host()), "max_looked": min(s.looks, maxPosts), "rooms": read.rooms,
	}
	mail.Posts, mail.Next, err = s.readPosts(ctx, k, read, q.Given)
	return mail, err
}

// roomRead is what the second step of RoomMail reads.
type roomRead struct {
	rooms []with
	query with
	marks map[c3po.RoomName]int64
}

// maxPosts is how many posts one step looks at: each is compared with the next of
// every other room.
const maxPosts = 128

func (s *Store) readPosts(ctx context.Context, k keys, read roomRead, given []c3po.MessageID) ([]store.Post, int64, error) {
	var skip []string
	for _, id := range given {
		if room := id.Room(); room != "" {
			skip = append(skip, string(room)+"\x00"+itoa(low32(id)))
		}
	}
	read.query["given"] = skip
	var posts []store.Post
	for total := 0; ; {
		read.query["so_far"], read.query["total"] = len(posts), total
		answer, err := s.run(ctx, "post_read", k, read.query)
		if err != nil {
			return nil, 0, err
		}
		for _, row := range answer[2:] {
			parts := list(row)
			room := c3po.RoomName(word(parts[0]))
			p, err := post(room, word(parts[1]), word(parts[2]), word(parts[3]))
			if err != nil {
				return nil, 0, err
			}
			p.GivenBefore = p.Message.Seq <= read.marks[room]
			posts, total = append(posts, p), total+p.Facts.Bytes
		}
		rest := list(answer[1])
		if len(rest) == 0 {
			return posts, integer(answer[0]), nil
		}
		for i, after := range rest {
			read.rooms[i]["after"] = integer(after)
		}
	}
}

func readRoomMark(raw string) (seq, told int64) {
	var mark struct {
		Seq    int64 `json:"q"`
		Cursor int64 `json:"c"`
	}
	// Written by reader_note.lua; a reader without a mark has heard nothing.
	if raw == "" || json.Unmarshal([]byte(raw), &mark) != nil {
		return 0, 0
	}
	return mark.Seq, mark.Cursor
}

// writeServedPosts notes how far readers have come in rooms. Of several posts of one
// room the script keeps the last.
func (s *Store) writeServedPosts(ctx context.Context, space c3po.Space, notes []store.PostServedNote) error {
	k := keysOf(space)
	var rows []with
	for _, n := range notes {
		room := n.ID.Room()
		rows = append(rows, with{
			"reads": k.reads(n.Agent), "joined": k.joined(n.Agent), "field": string(room) + "\x00" + n.Reader,
			"seq": n.Seq, "cursor": n.Cursor, "at": n.At.UnixMilli(), "everybody": room == c3po.Everybody,
		})
	}
	_, err := s.run(ctx, "reader_note", k, with{"most": store.MaxRoomReaders, "notes": rows})
	return err
}
