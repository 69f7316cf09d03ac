package redisstore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Export hands over all that a space holds and another coordinator can take: its
// agents, its rooms, then messages and posts in the order of their numbers, then
// who is in which room. Broadcasts stay, because they were for those who are
// here; so do runs, keys, budgets and events. It is told how many messages are
// damaged: they cannot be read, and stay too. Nobody should write meanwhile.
func (s *Store) Export(ctx context.Context, space c3po.Space, hand func(store.Moved) error) (damaged int, err error) {
	e := &exporter{store: s, space: space, k: keysOf(space), hand: hand, posts: map[c3po.RoomName][]c3po.MessageID{}, first: map[c3po.RoomName]int64{}}
	books, err := s.Counters(ctx, space)
	if err != nil {
		return 0, err
	}
	e.lived = books.Lived
	for _, part := range []func(context.Context) error{e.agents, e.rooms, e.mail, e.members} {
		if err := part(ctx); err != nil {
			return 0, err
		}
	}
	return e.damaged, nil
}

type exporter struct {
	store   *Store
	space   c3po.Space
	k       keys
	hand    func(store.Moved) error
	lived   int64
	damaged int
	names   []c3po.RoomName
	posts   map[c3po.RoomName][]c3po.MessageID // by ordinal, beginning with first
	first   map[c3po.RoomName]int64
}

func (e *exporter) agents(ctx context.Context) error {
	const page = 200
	for after := int64(0); ; {
		records, err := e.store.AgentPage(ctx, e.space, after, page)
		if err != nil || len(records) == 0 {
			return err
		}
		for _, r := range records {
			after = r.RegSeq
			own, err := e.store.strings(ctx, e.store.commands.B().Hmget().Key(e.k.agent(r.ID)).Field("paused", "asks").Build())
			if err != nil {
				return err
			}
			moved := &store.MovedAgent{
				ID: r.ID, Former: r.Former, RegisteredAt: r.RegisteredAt, SeenAt: r.Seen, Name: r.Profile.Name, Capabilities: r.Profile.Capabilities,
				Type: r.Profile.Type, Cwd: r.Profile.Cwd, Host: r.Profile.Host, Metadata: r.Profile.Metadata, Client: r.Profile.Client,
				Availability: r.Availability, Task: r.CurrentTask, Paused: own[0],
			}
			for ask := range strings.FieldsSeq(own[1]) {
				moved.Asks = append(moved.Asks, c3po.MessageID(string(r.ID)+"::"+ask))
			}
			if err := e.hand(store.Moved{Agent: moved}); err != nil {
				return err
			}
		}
	}
}

func (e *exporter) rooms(ctx context.Context) error {
	const page = 200
	for after := int64(0); ; {
		names, next, err := e.store.RoomPage(ctx, e.space, after, page)
		if err != nil || len(names) == 0 {
			return err
		}
		records, err := e.store.Rooms(ctx, e.space, "", names)
		if err != nil {
			return err
		}
		for _, r := range records {
			guests, err := e.store.strings(ctx, e.store.commands.B().Zrange().Key(e.k.invited(r.Name)).Min("0").Max("-1").Build())
			if err != nil {
				return err
			}
			room := &store.MovedRoom{Name: r.Name, Creator: r.Creator, Visibility: r.Visibility, Created: r.Created}
			for _, guest := range guests {
				room.Invited = append(room.Invited, c3po.AgentID(guest))
			}
			e.names = append(e.names, r.Name)
			if err := e.hand(store.Moved{Room: room}); err != nil {
				return err
			}
		}
		after = next
	}
}

// A place is where something stands in the order of a space.
type place struct {
	seq  int64
	box  c3po.AgentID // of a message
	hex  string
	room c3po.RoomName // of a post
	id   string        // of its entry
}

// mail hands over messages and posts, in the order of their numbers.
func (e *exporter) mail(ctx context.Context) error {
	var all []place
	boxes, err := e.boxes(ctx)
	if err != nil {
		return err
	}
	for _, box := range boxes {
		facts, err := e.hash(ctx, e.k.fact(box))
		if err != nil {
			return err
		}
		for hex, raw := range facts {
			var f fact
			if err := json.Unmarshal([]byte(raw), &f); err != nil {
				return fmt.Errorf("decode the facts of %s of %s: %w", hex, box, err)
			}
			all = append(all, place{seq: f.Seq, box: box, hex: hex})
		}
	}
	for _, room := range e.names {
		entries, err := e.log(ctx, room, "-", "+")
		if err != nil {
			return err
		}
		for _, entry := range entries {
			all = append(all, place{seq: seqOf(entry.ID), room: room, id: entry.ID})
		}
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Compare(a.seq, b.seq) })
	for _, at := range all {
		if at.room != "" {
			err = e.post(ctx, at)
		} else {
			err = e.message(ctx, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// boxes are all mailboxes that hold something: also those of people, roles, and
// agents that are no longer registered.
func (e *exporter) boxes(ctx context.Context) ([]c3po.AgentID, error) {
	var boxes []c3po.AgentID
	prefix := e.k.fact("")
	err := e.store.eachKey(ctx, func(page []string) error {
		for _, key := range page {
			if box, found := strings.CutPrefix(key, prefix); found {
				boxes = append(boxes, c3po.AgentID(box))
			}
		}
		return nil
	})
	slices.Sort(boxes)
	return slices.Compact(boxes), err // a scan may give a key twice
}

func (e *exporter) hash(ctx context.Context, key string) (map[string]string, error) {
	fields, err := e.store.commands.Do(ctx, e.store.commands.B().Hgetall().Key(key).Build()).AsStrMap()
	if err != nil {
		return nil, e.store.failure(ctx, "export", err)
	}
	return fields, nil
}

func (e *exporter) log(ctx context.Context, room c3po.RoomName, from, to string) ([]rueidis.XRangeEntry, error) {
	entries, err := e.store.commands.Do(ctx, e.store.commands.B().Xrange().Key(e.k.room(room)).Start(from).End(to).Build()).AsXRange()
	if err != nil {
		return nil, e.store.failure(ctx, "export", err)
	}
	return entries, nil
}

func (e *exporter) message(ctx context.Context, at place) error {
	answer, err := e.store.readEntries(ctx, e.k, at.box, []string{at.hex})
	if err != nil {
		return err
	}
	row := list(answer[0])
	raw := word(row[1])
	if raw == "" {
		return nil // it was forgotten meanwhile
	}
	var f fact
	if err := json.Unmarshal([]byte(raw), &f); err != nil {
		return fmt.Errorf("decode the facts of %s of %s: %w", at.hex, at.box, err)
	}
	was := assemble(at.box, at.hex, f, word(row[2]))
	if was.Corrupt {
		e.damaged++
		return nil
	}
	m := was.Message
	moved := &store.MovedMessage{
		ID: m.ID, Kind: m.Kind, Thread: m.Thread, Priority: f.Priority, ExpectsReply: m.ExpectsReply, Quiet: m.Quiet, Accepted: m.Timestamp,
		Durability: f.Durability, Bytes: f.Bytes - f.KeyBytes, State: was.State, Reason: f.Reason, Ended: was.Facts.Ended, Cancelled: was.Facts.Cancelled, Silent: was.Facts.Silent,
		Deadline: was.Facts.Deadline, AskedBy: f.AskedBy, Chain: f.Chain, InReplyTo: f.Answers, Ticket: f.Ticket, HandedFrom: f.HandedFrom,
		Answers: was.Facts.Answers, Claim: was.Facts.Claim, BodyGone: was.BodyGone, Body: movedBody(m),
	}
	// One second is left at the least: 0 would mean for ever.
	switch {
	case was.State != c3po.StatePending:
		moved.Life = max(1, f.Kept-e.lived)
	case f.Expires > 0:
		moved.Life = max(1, f.Expires-e.lived)
	}
	if f.Deadline > 0 {
		open, err := e.open(ctx, m.ID)
		if err != nil {
			return err
		}
		moved.DeadlineOpen = open
	}
	for _, r := range was.Facts.Served {
		moved.Served = append(moved.Served, movedServed(r))
	}
	if was.Facts.Received != nil {
		got := movedServed(*was.Facts.Received)
		moved.Received = &got
	}
	return e.hand(store.Moved{Message: moved})
}

// open says whether it is still to be told that a deadline passed.
func (e *exporter) open(ctx context.Context, id c3po.MessageID) (bool, error) {
	err := e.store.commands.Do(ctx, e.store.commands.B().Zscore().Key(e.k.deadlines()).Member(string(id)).Build()).Error()
	if rueidis.IsRedisNil(err) {
		return false, nil
	}
	if err != nil {
		return false, e.store.failure(ctx, "export", err)
	}
	return true, nil
}

// movedServed says that it was before the move: elsewhere it is given again.
func movedServed(f store.ServedFact) store.MovedServed {
	return store.MovedServed{Reader: f.Reader, Route: f.Route, First: f.First, Last: f.Last, Times: f.Times, Before: true}
}

func movedBody(m c3po.Message) store.MovedBody {
	return store.MovedBody{
		Text: m.Text(), Context: m.Context, Status: m.Status, ContentType: m.ContentType, Metadata: m.Metadata, HandedTo: m.HandedTo,
		Choices: m.Choices, Room: m.Room, Attachments: m.Attachments,
	}
}

func (e *exporter) post(ctx context.Context, at place) error {
	entries, err := e.log(ctx, at.room, at.id, at.id)
	if err != nil || len(entries) == 0 {
		return err
	}
	fields := entries[0].FieldValues
	var f postFact
	if err := json.Unmarshal([]byte(fields["f"]), &f); err != nil {
		return fmt.Errorf("decode the facts of %s in %s: %w", at.id, at.room, err)
	}
	p, err := post(at.room, at.id, fields["f"], fields["b"])
	if err != nil {
		return err
	}
	if len(e.posts[at.room]) == 0 {
		e.first[at.room] = ordinalOf(at.id)
	}
	e.posts[at.room] = append(e.posts[at.room], p.Message.ID)
	if p.Corrupt {
		e.damaged++
		return nil
	}
	body := movedBody(p.Message)
	return e.hand(store.Moved{Post: &store.MovedPost{
		ID: p.Message.ID, Kind: f.Kind, Accepted: time.UnixMilli(f.Accepted).UTC(), Durability: f.Durability, Bytes: f.Bytes, Mailed: f.Mailed, Body: body,
	}})
}

func ordinalOf(entryID string) int64 {
	_, ordinal, _ := strings.Cut(entryID, "-")
	return atoi(ordinal)
}

// postAt is the post with this ordinal, or the last one before it that is kept.
func (e *exporter) postAt(room c3po.RoomName, ordinal int64) c3po.MessageID {
	posts, i := e.posts[room], ordinal-e.first[room]
	if i < 0 || len(posts) == 0 {
		return ""
	}
	return posts[min(i, int64(len(posts)-1))]
}

func (e *exporter) members(ctx context.Context) error {
	for _, room := range e.names {
		const everybody = 1 << 30
		members, err := e.store.RoomMembers(ctx, e.space, room, 0, everybody)
		if err != nil {
			return err
		}
		for _, m := range members {
			if err := e.member(ctx, room, m.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *exporter) member(ctx context.Context, room c3po.RoomName, id c3po.AgentID) error {
	places, err := e.store.strings(ctx, e.store.commands.B().Hmget().Key(e.k.joined(id)).Field(string(room)).Build())
	if err != nil {
		return err
	}
	_, at, _ := strings.Cut(places[0], " ")
	read := atoi(at)
	wakes, err := e.store.strings(ctx, e.store.commands.B().Hmget().Key(e.k.agent(id)).Field("notify").Build())
	if err != nil {
		return err
	}
	moved := &store.MovedMember{Room: room, Agent: id, Read: e.postAt(room, read)}
	for _, one := range strings.Fields(wakes[0]) {
		if name, is, _ := strings.Cut(one, "="); name == string(room) {
			moved.Notify = c3po.Notify(is)
		}
	}
	skips, err := e.store.strings(ctx, e.store.commands.B().Zrangebylex().Key(e.k.skips(id)).Min("["+string(room)+"\x00").Max("("+string(room)+"\x01").Build())
	if err != nil {
		return err
	}
	for _, skip := range skips {
		_, ordinal, _ := strings.Cut(skip, "\x00")
		if n := atoi(strings.TrimLeft(ordinal, "0")); n > read && n >= e.first[room] {
			moved.Skips = append(moved.Skips, e.postAt(room, n))
		}
	}
	return e.hand(store.Moved{Member: moved})
}
