package redisstore

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Message implements store.Store.
func (s *Store) Message(ctx context.Context, space c3po.Space, id c3po.MessageID) (*store.Entry, error) {
	found, err := s.entries(ctx, space, []c3po.MessageID{id})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// entries reads messages by id, in the order of ids, leaving out unknown ones.
// What is not found where the id says may be where its recipient, or its sender,
// is called something else today.
func (s *Store) entries(ctx context.Context, space c3po.Space, ids []c3po.MessageID) ([]store.Entry, error) {
	found, err := s.entriesAt(ctx, space, ids)
	if err != nil {
		return nil, err
	}
	var missing, again []c3po.MessageID
	for _, id := range ids {
		if _, ok := found[id]; !ok {
			missing = append(missing, id)
		}
	}
	moved, err := s.movedTo(ctx, space, missing)
	if err != nil {
		return nil, err
	}
	for _, others := range moved {
		again = append(again, others...)
	}
	if len(again) > 0 {
		more, err := s.entriesAt(ctx, space, again)
		if err != nil {
			return nil, err
		}
		maps.Copy(found, more)
	}
	var out []store.Entry
	for _, id := range ids {
		for _, is := range append(moved[id], id) {
			if e, ok := found[is]; ok {
				out = append(out, e)
				break
			}
		}
	}
	return out, nil
}

// movedTo are the ids that messages may have that are not where their ids say. A
// renaming changes their recipient; an import their sender as well.
func (s *Store) movedTo(ctx context.Context, space c3po.Space, ids []c3po.MessageID) (map[c3po.MessageID][]c3po.MessageID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var names []string
	for _, id := range ids {
		from, to, _ := id.Split()
		names = append(names, string(from), string(to))
	}
	today, err := s.namesToday(ctx, space, names)
	if err != nil {
		return nil, err
	}
	moved := map[c3po.MessageID][]c3po.MessageID{}
	for _, id := range ids {
		from, to, hex := id.Split()
		if is := today[to]; is != "" {
			moved[id] = append(moved[id], c3po.NewMessageID(from, is, hex))
		}
		if is := today[from]; is != "" {
			moved[id] = append(moved[id], c3po.NewMessageID(is, cmp.Or(today[to], to), hex))
		}
	}
	return moved, nil
}

// readListed reads the messages of a list that has them by the ids they came with. One
// that is not found is looked for once more: its agent may have been retired, come
// back, and been renamed without knowing of its older names.
func (s *Store) readListed(ctx context.Context, space c3po.Space, ids []c3po.MessageID) ([]store.Entry, error) {
	found, err := s.entries(ctx, space, ids)
	if err != nil || len(found) == len(ids) {
		return found, err
	}
	moved, err := s.movedTo(ctx, space, ids)
	if err != nil {
		return nil, err
	}
	found = nil
	for _, id := range ids {
		one, err := s.entries(ctx, space, []c3po.MessageID{id})
		if on := moved[id]; err == nil && len(one) == 0 && len(on) > 0 {
			one, err = s.entries(ctx, space, on[:1])
		}
		if err != nil {
			return nil, err
		}
		found = append(found, one...)
	}
	return found, nil
}

// entriesAt reads messages where their ids say. Ids of one recipient are read
// in one step.
func (s *Store) entriesAt(ctx context.Context, space c3po.Space, ids []c3po.MessageID) (map[c3po.MessageID]store.Entry, error) {
	byOwner := map[c3po.AgentID][]string{}
	for _, id := range ids {
		_, owner, hex := id.Split()
		byOwner[owner] = append(byOwner[owner], hex)
	}
	found := map[c3po.MessageID]store.Entry{}
	k := keysOf(space)
	for owner, hexes := range byOwner {
		for some := range slices.Chunk(hexes, maxLooked) {
			answer, err := s.readEntries(ctx, k, owner, some)
			if err != nil {
				return nil, err
			}
			marks := list(answer[len(answer)-1])
			for _, row := range answer[:len(answer)-1] {
				if word(list(row)[1]) == "" {
					continue
				}
				e := entryOf(owner, row)
				e.Facts.Notified = notifiedSessions(owner, e.Message.Seq, marks)
				found[e.Message.ID] = e
			}
		}
	}
	return found, nil
}

func (s *Store) readEntries(ctx context.Context, k keys, owner c3po.AgentID, hexes []string) ([]rueidis.RedisMessage, error) {
	return s.run(ctx, "message_read", k,
		with{"body": k.body(owner), "fact": k.fact(owner), "mark": k.mark(owner), "max_marks": store.MaxMarkedReaders, "hexes": hexes})
}

// Answers implements store.Store.
func (s *Store) Answers(ctx context.Context, space c3po.Space, id c3po.MessageID) ([]store.Entry, error) {
	question, err := s.Message(ctx, space, id)
	if err != nil {
		return nil, err
	}
	if question == nil {
		return nil, store.RefuseNoMessage(id)
	}
	var ids []c3po.MessageID
	for _, a := range question.Facts.Answers {
		ids = append(ids, a.ID)
	}
	return s.entries(ctx, space, ids)
}

// Thread implements store.Store.
func (s *Store) Thread(ctx context.Context, space c3po.Space, thread string, after int64, limit int) ([]store.Entry, error) {
	prefix := itoa(len(thread)) + ":" + thread
	from, to := "["+prefix+"\x00"+padSequence(after+1), "("+prefix+"\x01"
	rows, err := s.strings(ctx, s.commands.B().Zrangebylex().Key(keysOf(space).threads()).Min(from).Max(to).Limit(0, int64(limit)).Build())
	if err != nil {
		return nil, err
	}
	return s.readListed(ctx, space, idsOfIndex(rows))
}

// ThreadSpans implements store.Store: three commands a thread, in one round trip.
func (s *Store) ThreadSpans(ctx context.Context, space c3po.Space, threads []string) ([]store.ThreadSpan, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	key := keysOf(space).threads()
	var asked []rueidis.Completed
	for _, thread := range threads {
		prefix := itoa(len(thread)) + ":" + thread
		from, to := "["+prefix+"\x00", "("+prefix+"\x01"
		asked = append(asked,
			s.commands.B().Zlexcount().Key(key).Min(from).Max(to).Build(),
			s.commands.B().Zrangebylex().Key(key).Min(from).Max(to).Limit(0, 1).Build(),
			s.commands.B().Zrevrangebylex().Key(key).Max(to).Min(from).Limit(0, 1).Build())
	}
	spans := make([]store.ThreadSpan, len(threads))
	at := map[string]int{}
	var ids []c3po.MessageID
	answers := s.commands.DoMulti(ctx, asked...)
	for i, thread := range threads {
		at[thread] = i
		count, err := answers[3*i].AsInt64()
		if err != nil {
			return nil, s.failure(ctx, "count a thread", err)
		}
		spans[i].Count = int(count)
		for _, end := range answers[3*i+1 : 3*i+3] {
			rows, err := end.AsStrSlice()
			if err != nil {
				return nil, s.failure(ctx, "read the ends of a thread", err)
			}
			ids = append(ids, idsOfIndex(rows)...)
		}
	}
	slices.Sort(ids)
	entries, err := s.readListed(ctx, space, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if i, known := at[entry.Message.Thread]; known {
			spans[i].Add(entry)
		}
	}
	return spans, nil
}

// Kept implements store.Store.
func (s *Store) Kept(ctx context.Context, space c3po.Space, after string, below int64, limit int) ([]store.KeptEntry, string, error) {
	defer s.took("kept", time.Now())
	from := "-"
	if after != "" {
		from = "(" + after
	}
	rows, err := s.strings(ctx, s.commands.B().Zrangebylex().Key(keysOf(space).threads()).Min(from).Max("+").Limit(0, int64(limit)).Build())
	if err != nil {
		return nil, "", err
	}
	places := map[int64]string{}
	var wanted []string
	end := ""
	for _, row := range rows {
		// A message's place is its thread and its number, whatever its recipient is called.
		place, _, sound := cutLast(row, "\x00")
		_, number, numbered := cutLast(place, "\x00")
		if !sound || !numbered {
			end = row
			continue
		}
		end = place + "\x01"
		if seq := atoi(number); seq < below {
			places[seq] = end
			wanted = append(wanted, row)
		}
	}
	entries, err := s.readListed(ctx, space, idsOfIndex(wanted))
	if err != nil {
		return nil, "", err
	}
	var kept []store.KeptEntry
	for _, entry := range entries {
		kept = append(kept, store.KeptEntry{Entry: entry, Place: places[entry.Message.Seq]})
	}
	if len(rows) < limit {
		return kept, "", nil
	}
	return kept, end, nil
}

func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}

// idsOfIndex reads the message ids at the end of an index's entries.
func idsOfIndex(rows []string) []c3po.MessageID {
	var ids []c3po.MessageID
	for _, row := range rows {
		if i := strings.LastIndexByte(row, 0); i >= 0 {
			ids = append(ids, c3po.MessageID(row[i+1:]))
		}
	}
	return ids
}

// padSequence is a sequence as the threads index spells it.
func padSequence(seq int64) string {
	text := itoa(seq)
	return strings.Repeat("0", max(0, 16-len(text))) + text
}
