package redisstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// postFact is what room_post.lua writes beside the body.
type postFact struct {
	From       c3po.AgentID    `json:"f"`
	Kind       c3po.Kind       `json:"k"`
	Accepted   int64           `json:"a"`
	Durability c3po.Durability `json:"d"`
	Bytes      int             `json:"z"`
	Mailed     []c3po.AgentID  `json:"m,omitempty"`
	Audience   string          `json:"w,omitempty"`
	Expires    int64           `json:"x,omitempty"`
}

// post puts an entry of a room's log together. Its id is "sequence-ordinal".
func post(room c3po.RoomName, entryID, rawFact, rawBody string) (store.Post, error) {
	var f postFact
	if err := json.Unmarshal([]byte(rawFact), &f); err != nil {
		return store.Post{}, fmt.Errorf("decode the facts of %s in %s: %w", entryID, room, err)
	}
	p := store.Post{Mailed: f.Mailed}
	if f.Audience != "" {
		if err := json.Unmarshal([]byte(f.Audience), &p.Audience); err != nil {
			return store.Post{}, fmt.Errorf("decode the audience of %s in %s: %w", entryID, room, err)
		}
	}
	seq := seqOf(entryID)
	p.Entry = store.Entry{
		State: c3po.StatePosted,
		Message: c3po.Message{
			ID: c3po.NewMessageID(f.From, room.Address(), store.MessageHex(seq)), FromAgent: f.From, ToAgent: room.Address(), Room: room,
			Kind: f.Kind, Timestamp: instant(f.Accepted), Thread: string(room.Address()), Priority: c3po.Normal, Seq: seq,
		},
		Facts: store.Facts{Accepted: instant(f.Accepted), Durability: f.Durability, Bytes: f.Bytes, Expires: f.Expires},
	}
	b, sound := decodeBody(rawBody)
	if !sound {
		p.Corrupt = true
		return p, nil
	}
	b.fill(&p.Message)
	return p, nil
}

// Post implements store.Store.
func (s *Store) Post(ctx context.Context, space c3po.Space, step store.PostStep) (store.Posted, error) {
	if err := s.enter(ctx, space); err != nil {
		return store.Posted{}, err
	}
	text, err := encodeBody(step.Draft)
	if err != nil {
		return store.Posted{}, err
	}
	k, l, room := keysOf(space), s.limits, step.Room
	messages, inboxBytes, share := l.Inbox(step.From)
	fingerprint := step.Fingerprint()
	field, window := s.idempotency(step.Draft, fingerprint)
	var mentioned []with
	for _, id := range step.Mentions {
		mentioned = append(mentioned, with{"of": k.of(id), "id": id})
	}
	answer, err := s.run(ctx, "room_post", k, with{
		"sender": k.agent(step.From), "room_log": k.room(room), "members": k.members(room), "rate": k.rate(step.From),
		"joined": k.joined(step.From), "skips": k.skips(step.From), "mentioned": mentioned,
		"from": step.From, "room": room, "kind": step.Kind, "run": step.Run, "outside": step.Outside, "text": text,
		"bytes": step.Bytes(), "mail_bytes": step.MailBytes(), "durability": step.Durability, "limit": step.RateLimit,
		"field": field, "fingerprint": fingerprint, "window": millis(window), "max_posts": l.RoomPosts, "max_bytes": l.RoomBytes,
		"box_messages": messages, "box_bytes": inboxBytes, "share": share,
		"cast": room == c3po.Everybody, "audience": step.Audience.Text(), "address": room.Address(), "barred": step.Barred != nil,
	})
	if err != nil {
		return store.Posted{}, err
	}
	posted, err := readPosted(answer, step, text)
	return posted, store.NothingStored(step.Key, err)
}

// readPosted reads the answer of room_post.lua.
func readPosted(answer []rueidis.RedisMessage, step store.PostStep, text string) (store.Posted, error) {
	room := step.Room
	switch word(answer[0]) {
	case "conflict":
		return store.Posted{}, store.RefuseKeyConflict(step.Key)
	case "halted":
		return store.Posted{}, store.RefuseHalted(word(answer[1]))
	case "barred":
		return store.Posted{}, step.Barred
	case "rate":
		return store.Posted{}, store.RefuseRate(int(integer(answer[1])), step.RateLimit)
	case "ok", "repeat":
	default:
		return store.Posted{}, roomOutcome(answer, room, step.From)
	}
	out := store.Posted{Repeat: word(answer[0]) == "repeat", Now: instant(integer(answer[3])), Members: int(integer(answer[4]))}
	entryID, fact := word(answer[1]), word(answer[5])
	if out.Repeat {
		text = word(answer[6])
	} else {
		out.Sent, out.SenderPaused = int(integer(answer[6])), word(answer[7])
	}
	p, err := post(room, entryID, fact, text)
	if err != nil {
		// It is no longer kept, or damaged; its key still says when it was said.
		from := c3po.AgentID(word(answer[7]))
		out.Post.Message = c3po.Message{
			ID: c3po.NewMessageID(from, room.Address(), store.MessageHex(seqOf(entryID))), FromAgent: from, ToAgent: room.Address(),
			Room: room, Timestamp: instant(integer(answer[2])), Seq: seqOf(entryID), BodyGone: true,
		}
		return out, nil
	}
	if out.Repeat && another(p.Message, step.Draft) {
		return store.Posted{}, store.RefuseKeyConflict(step.Key)
	}
	out.Post = p
	return out, nil
}

// AckPosts implements store.Store.
func (s *Store) AckPosts(ctx context.Context, space c3po.Space, owner c3po.AgentID, run string, ids []c3po.MessageID) ([]store.AckOutcome, error) {
	k := keysOf(space)
	var posts []with
	for _, id := range ids {
		from, _, _ := id.Split()
		posts = append(posts, with{"log": k.room(id.Room()), "room": id.Room(), "from": from, "low": low32(id)})
	}
	answer, err := s.run(ctx, "post_ack", k, with{
		"agent": k.agent(owner), "joined": k.joined(owner), "skips": k.skips(owner), "reads": k.reads(owner), "run": run, "everybody": c3po.Everybody, "posts": posts,
	})
	if err != nil {
		return nil, err
	}
	if word(answer[0]) == "superseded" {
		return nil, store.RefuseSuperseded(owner)
	}
	outcomes := make([]store.AckOutcome, len(ids))
	for i := range ids {
		outcomes[i] = store.AckOutcome(word(answer[i+1]))
	}
	return outcomes, nil
}

// low32 is what an id says of its sequence number.
func low32(id c3po.MessageID) int64 { return store.PostNumber(id, 1<<32-1) }

// History implements store.Store.
func (s *Store) History(ctx context.Context, space c3po.Space, room c3po.RoomName, before int64, limit, bytes int) ([]store.Post, bool, error) {
	end := "+"
	if before > 0 {
		end = itoa(before - 1)
	}
	// One more than asked for tells whether there are older ones.
	entries, err := s.logEntries(ctx, s.commands.B().Xrevrange().Key(keysOf(space).room(room)).End(end).Start("-").Count(int64(limit+1)).Build())
	if err != nil {
		return nil, false, err
	}
	var posts []store.Post
	total := 0
	for _, e := range entries {
		p, err := post(room, e.ID, e.FieldValues["f"], e.FieldValues["b"])
		if err != nil {
			return nil, false, err
		}
		if len(posts) == limit || len(posts) > 0 && total+p.Facts.Bytes > bytes {
			break
		}
		posts, total = append(posts, p), total+p.Facts.Bytes
	}
	slices.Reverse(posts)
	return posts, len(posts) < len(entries), nil
}

func (s *Store) logEntries(ctx context.Context, command rueidis.Completed) ([]rueidis.XRangeEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	entries, err := s.commands.Do(ctx, command).AsXRange()
	if err != nil && !rueidis.IsRedisNil(err) {
		return nil, s.failure(ctx, "read a room", err)
	}
	return entries, nil
}

// OnePost implements store.Store.
func (s *Store) OnePost(ctx context.Context, space c3po.Space, id c3po.MessageID) (*store.Post, error) {
	room, key := id.Room(), keysOf(space).room(id.Room())
	last, err := s.logEntries(ctx, s.commands.B().Xrevrange().Key(key).End("+").Start("-").Count(1).Build())
	if err != nil || len(last) == 0 {
		return nil, err
	}
	seq := itoa(store.PostNumber(id, seqOf(last[0].ID)))
	if strings.HasPrefix(seq, "-") {
		return nil, nil
	}
	entries, err := s.logEntries(ctx, s.commands.B().Xrange().Key(key).Start(seq).End(seq).Count(1).Build())
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	p, err := post(room, entries[0].ID, entries[0].FieldValues["f"], entries[0].FieldValues["b"])
	if err != nil || p.Message.ID != id {
		return nil, err
	}
	return &p, nil
}
