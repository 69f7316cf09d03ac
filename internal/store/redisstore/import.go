package redisstore

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Origins gives what became of things that were imported before: the id or the
// name each has here, empty for those that were not.
func (s *Store) Origins(ctx context.Context, space c3po.Space, origins []store.Origin) ([]string, error) {
	const atOnce = 500
	found := make([]string, 0, len(origins))
	for some := range slices.Chunk(origins, atOnce) {
		fields := make([]string, len(some))
		for i, origin := range some {
			fields[i] = string(origin)
		}
		values, err := s.strings(ctx, s.commands.B().Hmget().Key(keysOf(space).imported()).Field(fields...).Build())
		if err != nil {
			return nil, err
		}
		found = append(found, values...)
	}
	return found, nil
}

// Numbers are those of the messages that a mailbox holds, as they stand in ids.
func (s *Store) Numbers(ctx context.Context, space c3po.Space, box c3po.AgentID) ([]string, error) {
	return s.strings(ctx, s.commands.B().Hkeys().Key(keysOf(space).fact(box)).Build())
}

// ImportAgent makes an agent known that comes from another coordinator. One that
// is here already is left alone. For ids of mail its former names stand for it, if
// they are nobody's here.
func (s *Store) ImportAgent(ctx context.Context, space c3po.Space, origin store.Origin, a store.MovedAgent) (store.ImportOutcome, error) {
	if err := s.enter(ctx, space); err != nil {
		return "", err
	}
	k := keysOf(space)
	fields := profileFields(store.Profile{Name: a.Name, Capabilities: a.Capabilities, Type: a.Type, Cwd: a.Cwd, Host: a.Host, Metadata: a.Metadata})
	fields = append(fields, with{"field": "client", "value": a.Client})
	var asks []string
	for _, id := range a.Asks {
		_, to, hex := id.Split()
		asks = append(asks, string(to)+"::"+hex)
	}
	// A field that is there says something: of what was not said there is none.
	for name, value := range map[string]string{
		"availability": string(a.Availability), "task": a.Task, "paused": a.Paused, "asks": strings.Join(asks, " "),
	} {
		if value != "" {
			fields = append(fields, with{"field": name, "value": value})
		}
	}
	var former []with
	for _, name := range a.Former {
		former = append(former, with{"holder": k.agent(name), "name": name})
	}
	return s.importStep(ctx, "agent_import", k, with{
		"agent": k.agent(a.ID), "id": a.ID, "origin": origin, "registered": stamp(a.RegisteredAt), "last": stamp(a.SeenAt), "fields": fields, "former": former,
	})
}

// stamp is what instant reads.
func stamp(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}

// importStep runs a script whose first answer says what became of a thing.
func (s *Store) importStep(ctx context.Context, name scriptName, k keys, given with) (store.ImportOutcome, error) {
	answer, err := s.run(ctx, name, k, given)
	if err != nil {
		return "", err
	}
	return store.ImportOutcome(word(answer[0])), nil
}

// ImportRoom makes a room, as yet without members and posts.
func (s *Store) ImportRoom(ctx context.Context, space c3po.Space, origin store.Origin, r store.MovedRoom) (store.ImportOutcome, error) {
	if err := s.enter(ctx, space); err != nil {
		return "", err
	}
	k := keysOf(space)
	var guests []string
	for _, guest := range r.Invited {
		guests = append(guests, string(guest))
	}
	return s.importStep(ctx, "room_import", k, with{
		"invited": k.invited(r.Name), "room": r.Name, "origin": origin, "creator": r.Creator, "visibility": r.Visibility, "created_at": stamp(r.Created),
		"guests": guests,
	})
}

// ImportMessage stores a message under the number in its id, behind all that is
// here. ImportTaken if the mailbox has another one of this number.
func (s *Store) ImportMessage(ctx context.Context, space c3po.Space, origin store.Origin, m store.MovedMessage) (store.ImportOutcome, error) {
	if err := s.enter(ctx, space); err != nil {
		return "", err
	}
	_, to, hex := m.ID.Split()
	facts, err := json.Marshal(factOf(m))
	if err != nil {
		return "", err
	}
	body := ""
	if !m.BodyGone {
		if body, err = encodeBody(m.Body.Draft()); err != nil {
			return "", err
		}
	}
	mailbox := to.Queue()
	if to == c3po.Human {
		mailbox = string(c3po.Human)
	}
	k := keysOf(space)
	return s.importStep(ctx, "message_import", k, with{
		"agent": k.agent(to), "mail": k.of(to), "owner": to, "hex": hex, "origin": origin, "facts": string(facts), "text": body, "life": m.Life,
		"open": m.DeadlineOpen && !m.Deadline.IsZero(), "later": seconds(retiredLook), "mailbox": mailbox,
	})
}

// factOf spells the facts of a message as the scripts do. Its number is given by
// the step that stores it.
func factOf(m store.MovedMessage) fact {
	from, to, _ := m.ID.Split()
	f := fact{
		From: from, Thread: m.Thread, Kind: m.Kind, Accepted: stamp(m.Accepted), Durability: m.Durability, Bytes: m.Bytes, Answers: m.InReplyTo,
		Reason: m.Reason, Ended: stamp(m.Ended), Cancelled: stamp(m.Cancelled), Silent: stamp(m.Silent), Deadline: stamp(m.Deadline), Ticket: m.Ticket,
		HandedFrom: m.HandedFrom, AskedBy: m.AskedBy, Chain: m.Chain,
	}
	if m.Priority == c3po.Urgent {
		f.Priority = c3po.Urgent
	}
	if m.State != c3po.StatePending {
		f.State = m.State
	}
	if m.ExpectsReply {
		f.Expects = 1
	}
	if m.Quiet {
		f.Quiet = 1
	}
	for _, a := range m.Answers {
		by, _, hex := a.ID.Split()
		r := replyFact{Hex: hex, At: stamp(a.At), MovedTo: a.MovedTo}
		if by != to {
			r.From = by
		}
		f.Replies = append(f.Replies, r)
	}
	if m.Claim != nil {
		f.Claim = &claimFact{By: m.Claim.By, At: stamp(m.Claim.At)}
	}
	for _, r := range m.Served {
		f.Served = append(f.Served, servedFact(r))
	}
	if m.Received != nil {
		got := servedFact(*m.Received)
		f.Received = &got
	}
	f.Seal = f.seal()
	return f
}

func servedFact(m store.MovedServed) served {
	s := served{Reader: m.Reader, Route: m.Route, First: stamp(m.First), Last: stamp(m.Last), Times: m.Times}
	if m.Before {
		s.Before = 1
	}
	return s
}

// ImportPost adds to the log of a room. INVALID_REQUEST if the room has ended.
func (s *Store) ImportPost(ctx context.Context, space c3po.Space, origin store.Origin, p store.MovedPost) (store.ImportOutcome, error) {
	from, address, _ := p.ID.Split()
	facts, err := json.Marshal(postFact{From: from, Kind: p.Kind, Accepted: stamp(p.Accepted), Durability: p.Durability, Bytes: p.Bytes, Mailed: p.Mailed})
	if err != nil {
		return "", err
	}
	body, err := encodeBody(p.Body.Draft())
	if err != nil {
		return "", err
	}
	k, room := keysOf(space), address.Room()
	return s.inRoom(room)(s.importStep(ctx, "post_import", k,
		with{"room_log": k.room(room), "room": room, "origin": origin, "address": address, "facts": string(facts), "body": body}))
}

// inRoom turns the outcomes that need a room or an agent into errors.
func (s *Store) inRoom(room c3po.RoomName) func(store.ImportOutcome, error) (store.ImportOutcome, error) {
	return func(outcome store.ImportOutcome, err error) (store.ImportOutcome, error) {
		if err == nil && outcome == "no_room" {
			return "", store.RefuseNoRoom(room)
		}
		return outcome, err
	}
}

// ImportMember gives an agent its place in a room: behind the post that came from
// read, and without those that came from skips. AGENT_NOT_FOUND, and
// INVALID_REQUEST if the room has ended.
func (s *Store) ImportMember(ctx context.Context, space c3po.Space, origin store.Origin, room c3po.RoomName, id c3po.AgentID, read store.Origin, notify c3po.Notify, skips []store.Origin) (store.ImportOutcome, error) {
	k := keysOf(space)
	if !notify.Known() {
		notify = "" // of a later version, perhaps
	}
	var hidden []string
	for _, skip := range skips {
		hidden = append(hidden, string(skip))
	}
	outcome, err := s.inRoom(room)(s.importStep(ctx, "member_import", k, with{
		"agent": k.agent(id), "members": k.members(room), "joined": k.joined(id), "skips": k.skips(id),
		"room": room, "id": id, "origin": origin, "read": read, "notify": notify, "hidden": hidden,
	}))
	if err == nil && outcome == "unknown" {
		return "", store.RefuseNoAgent(id)
	}
	return outcome, err
}
