package redisstore

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// maxLooked is how many messages of an inbox one step looks at: the steps of
// others come in between, however full the inbox is.
const maxLooked = 256

// Inbox implements store.Store.
func (s *Store) Inbox(ctx context.Context, space c3po.Space, owner c3po.AgentID, q store.InboxQuery) (store.InboxPage, error) {
	k := keysOf(space)
	reader := cmp.Or(q.Member, owner)
	given := with{
		"agent": k.agent(reader), "inbox": k.inbox(owner), "body": k.body(owner), "fact": k.fact(owner), "run": q.Run, "member": q.Member, "quiet": q.Quiet,
		"after": q.After, "limit": q.Limit, "most": q.Bytes, "min": q.MinSeq, "lease": millis(s.limits.ClaimLease), "max_looked": s.looks,
		"count": 0, "total": 0, "last": 0,
	}
	var page store.InboxPage
	for first := true; ; first = false {
		answer, err := s.run(ctx, "inbox_read", k, given)
		if err != nil {
			return store.InboxPage{}, err
		}
		if word(answer[0]) == "superseded" {
			return store.InboxPage{}, store.RefuseSuperseded(reader)
		}
		if first {
			page = store.InboxPage{Count: int(integer(answer[2])), Seq: integer(answer[3]), Now: instant(integer(answer[4])),
				Rooms: integer(answer[5]) == 1, Paused: word(answer[6])}
		}
		for _, row := range answer[8:] {
			page.Entries = append(page.Entries, entryOf(owner, row))
		}
		page.Next = integer(answer[1])
		rest := list(answer[7])
		if len(rest) == 0 {
			return page, nil
		}
		for i, name := range []string{"after", "count", "total", "last"} {
			given[name] = integer(rest[i])
		}
	}
}

// Next implements store.Store.
func (s *Store) Next(ctx context.Context, space c3po.Space, owner c3po.AgentID, q store.NextQuery) (store.NextMessage, error) {
	k := keysOf(space)
	var hexes []string
	for _, id := range q.Given {
		_, _, hex := id.Split()
		hexes = append(hexes, hex)
	}
	var out store.NextMessage
	for after, open := int64(0), int64(0); ; {
		answer, err := s.run(ctx, "message_find", k, with{"given": hexes},
			plain{"agent", k.agent(owner)}, plain{"inbox", k.inbox(owner)}, plain{"body", k.body(owner)}, plain{"fact", k.fact(owner)}, plain{"mark", k.mark(owner)},
			plain{"run", q.Run}, plain{"reader", q.Reader}, plain{"min", itoa(q.MinSeq)}, plain{"incoming", flag(q.Incoming)},
			plain{"positioned", flag(q.Positioned)}, plain{"most", itoa(s.looks)},
			plain{"after", itoa(after)}, plain{"open", itoa(open)}, plain{"found", flag(out.Entry != nil)})
		if err != nil {
			return store.NextMessage{}, err
		}
		if word(answer[0]) == "superseded" {
			return store.NextMessage{}, store.RefuseSuperseded(owner)
		}
		out.Count, out.Seq, out.Now, out.Rooms = int(integer(answer[1])), integer(answer[2])-1, instant(integer(answer[3])), integer(answer[7]) == 1
		if after > 0 && out.Paused != word(answer[11]) {
			// What the steps before have passed over, or found, is for another answer.
			out, after, open = store.NextMessage{}, 0, 0
			continue
		}
		out.Paused = word(answer[11])
		out.Looked, out.Node = out.Looked+int(integer(answer[8])), word(answer[10])
		if hex := word(answer[4]); hex != "" {
			e := entry(owner, hex, word(answer[5]), word(answer[6]))
			out.Entry = &e
		}
		rest := integer(answer[9])
		if rest == 0 {
			return out, nil
		}
		after, open = rest, integer(answer[2])
	}
}

func (s *Store) strings(ctx context.Context, command rueidis.Completed) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	rows, err := s.commands.Do(ctx, command).AsStrSlice()
	if err != nil {
		return nil, s.failure(ctx, "read", err)
	}
	return rows, nil
}

func (s *Store) scores(ctx context.Context, command rueidis.Completed) ([]rueidis.ZScore, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	rows, err := s.commands.Do(ctx, command).AsZScores()
	if err != nil {
		return nil, s.failure(ctx, "read", err)
	}
	return rows, nil
}

// Counters implements store.Store.
func (s *Store) Counters(ctx context.Context, space c3po.Space) (store.Counters, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	fields, err := s.commands.Do(ctx, s.commands.B().Hgetall().Key(keysOf(space).meta()).Build()).AsStrMap()
	if err != nil {
		return store.Counters{}, s.failure(ctx, "read counters", err)
	}
	return store.Counters{
		Sent: atoi(fields["sent"]), Pending: atoi(fields["pending"]), Acked: atoi(fields["acked"]), Cancelled: atoi(fields["cancelled"]),
		Dead: atoi(fields["dead"]), Agents: atoi(fields["agents"]), EndedBytes: atoi(fields["ended_bytes"]),
		PendingBytes: atoi(fields["pending_bytes"]),
		Lived:        atoi(fields["lived"]), Seq: atoi(fields["seq"]), Paused: fields["paused"],
	}, nil
}

// InboxSize implements store.Store.
func (s *Store) InboxSize(ctx context.Context, space c3po.Space, id c3po.AgentID) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	n, err := s.commands.Do(ctx, s.commands.B().Zcard().Key(keysOf(space).inbox(id)).Build()).AsInt64()
	if err != nil {
		return 0, s.failure(ctx, "count inbox", err)
	}
	return int(n), nil
}

// InboxSizes implements store.Store.
func (s *Store) InboxSizes(ctx context.Context, space c3po.Space, ids []c3po.AgentID) ([]int, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	counts := make([]rueidis.Completed, len(ids))
	for i, id := range ids {
		counts[i] = s.commands.B().Zcard().Key(keysOf(space).inbox(id)).Build()
	}
	sizes := make([]int, len(ids))
	for i, answer := range s.commands.DoMulti(ctx, counts...) {
		n, err := answer.AsInt64()
		if err != nil {
			return nil, s.failure(ctx, "count inboxes", err)
		}
		sizes[i] = int(n)
	}
	return sizes, nil
}

// InboxBytes implements store.Store. Facts are read in batches, so that a large inbox
// does not block Redis.
func (s *Store) InboxBytes(ctx context.Context, space c3po.Space, id c3po.AgentID) (int64, error) {
	k, total := keysOf(space), int64(0)
	hexes, err := s.strings(ctx, s.commands.B().Zrange().Key(k.inbox(id)).Min("0").Max("-1").Build())
	if err != nil {
		return 0, err
	}
	for some := range slices.Chunk(hexes, factsAtOnce) {
		facts, err := s.strings(ctx, s.commands.B().Hmget().Key(k.fact(id)).Field(some...).Build())
		if err != nil {
			return 0, err
		}
		for _, raw := range facts {
			// It was forgotten meanwhile; or it is damaged, which the sum will show.
			var f fact
			if json.Unmarshal([]byte(raw), &f) == nil {
				total += int64(f.Bytes)
			}
		}
	}
	return total, nil
}

// factsAtOnce is how many facts one command reads.
const factsAtOnce = 500

// Spaces implements store.Store.
func (s *Store) Spaces(ctx context.Context) ([]c3po.Space, error) {
	names, err := s.strings(ctx, s.commands.B().Smembers().Key(spacesKey).Build())
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	out := make([]c3po.Space, len(names))
	for i, name := range names {
		out[i] = c3po.Space(name)
	}
	return out, nil
}

// DeadLetters implements store.Store.
func (s *Store) DeadLetters(ctx context.Context, space c3po.Space, after int64, limit int) ([]store.DeadLetter, error) {
	rows, err := s.scores(ctx, s.commands.B().Zrangebyscore().Key(keysOf(space).dead()).Min("("+itoa(after)).Max("+inf").Withscores().Limit(0, int64(limit)).Build())
	if err != nil {
		return nil, err
	}
	var ids []c3po.MessageID
	numbers := map[string]int64{} // by what of the id a renaming does not change
	for _, row := range rows {
		id := c3po.MessageID(row.Member)
		from, _, hex := id.Split()
		ids, numbers[string(from)+hex] = append(ids, id), int64(row.Score)
	}
	found, err := s.entries(ctx, space, ids)
	if err != nil {
		return nil, err
	}
	var out []store.DeadLetter
	for _, e := range found {
		from, _, hex := e.Message.ID.Split()
		out = append(out, store.DeadLetter{Entry: e, Seq: numbers[string(from)+hex], At: e.Facts.Ended})
	}
	return out, nil
}

func seqOf(entryID string) int64 {
	text, _, _ := strings.Cut(entryID, "-")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
