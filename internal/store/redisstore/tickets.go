package redisstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Cancel implements store.Store.
func (s *Store) Cancel(ctx context.Context, space c3po.Space, step store.CancelStep) (store.Cancelled, error) {
	from, owner, hex := step.ID.Split()
	if from != cmp.Or(step.Former, step.From) {
		return s.notSentBy(ctx, space, step)
	}
	note := store.Draft{From: c3po.System, To: owner, Kind: c3po.KindCancelled, Text: step.Notice}
	body, err := encodeBody(note)
	if err != nil {
		return store.Cancelled{}, err
	}
	k := keysOf(space)
	told, whose := owner, step.From
	if step.Holder != "" {
		told, whose = step.Holder, step.Holder
	}
	note.To = told
	answer, err := s.run(ctx, "message_cancel", k, with{
		"sender": k.agent(step.From), "mail": k.of(owner), "agent": k.agent(whose), "holding": k.of(told),
		"owner": owner, "from": from, "hex": hex, "run": step.Run, "notice": body, "bytes": note.Bytes(), "durability": step.Durability,
		"holder": step.Holder, "caller": step.From,
	})
	if err != nil {
		return store.Cancelled{}, err
	}
	switch outcome := word(answer[0]); outcome {
	case "superseded":
		return store.Cancelled{}, store.RefuseSuperseded(step.From)
	case "held":
		return store.Cancelled{HeldBy: c3po.AgentID(word(answer[1])), Held: true}, nil
	case "moved":
		return store.Cancelled{MovedTo: c3po.MessageID(word(answer[1]))}, nil
	default:
		return store.Cancelled{Outcome: c3po.CancelOutcome(outcome), Told: integer(answer[1]) == 1}, nil
	}
}

// notSentBy tells a message of somebody else from one that does not exist.
func (s *Store) notSentBy(ctx context.Context, space c3po.Space, step store.CancelStep) (store.Cancelled, error) {
	if err := s.stillHeld(ctx, space, step.From, step.Run); err != nil {
		return store.Cancelled{}, err
	}
	e, err := s.Message(ctx, space, step.ID)
	if err != nil {
		return store.Cancelled{}, err
	}
	if e == nil {
		return store.Cancelled{Outcome: c3po.CancelUnknown}, nil
	}
	return store.Cancelled{Outcome: c3po.CancelNotYours}, nil
}

// Silence implements store.Store.
func (s *Store) Silence(ctx context.Context, space c3po.Space, step store.SilenceStep) (bool, error) {
	from, owner, hex := step.ID.Split()
	note := store.Draft{From: c3po.System, To: step.To, Kind: c3po.KindNotice, Text: step.Notice}
	body, err := encodeBody(note)
	if err != nil {
		return false, err
	}
	k := keysOf(space)
	answer, err := s.run(ctx, "silence_record", k, with{
		"reader": k.agent(step.Agent), "facts": k.fact(owner), "back": k.of(cmp.Or(step.To, from)), "owner": owner, "from": from, "hex": hex,
		"agent": step.Agent, "run": step.Run, "to": step.To, "notice": body, "bytes": note.Bytes(), "durability": step.Durability,
	})
	if err != nil {
		return false, err
	}
	switch word(answer[0]) {
	case "superseded":
		return false, store.RefuseSuperseded(step.Agent)
	case "unknown":
		return false, store.RefuseNoAgent(step.To)
	}
	return word(answer[0]) == "silent", nil
}

// HoldUp implements store.Store.
func (s *Store) HoldUp(ctx context.Context, space c3po.Space, step store.HoldUpStep) (store.HeldUp, error) {
	from, owner, hex := step.ID.Split()
	note := store.Draft{From: c3po.System, To: step.To, Kind: c3po.KindNotice, Text: step.Notice}
	body, err := encodeBody(note)
	if err != nil {
		return store.HeldUp{}, err
	}
	k := keysOf(space)
	answer, err := s.run(ctx, "holdup_record", k, with{
		"reader": k.agent(step.Agent), "facts": k.fact(owner), "back": k.of(cmp.Or(step.To, from)), "owner": owner, "from": from, "hex": hex,
		"agent": step.Agent, "run": step.Run, "why": step.Why, "to": step.To, "notice": body, "bytes": note.Bytes(), "durability": step.Durability,
	})
	if err != nil {
		return store.HeldUp{}, err
	}
	switch word(answer[0]) {
	case "superseded":
		return store.HeldUp{}, store.RefuseSuperseded(step.Agent)
	case "unknown":
		return store.HeldUp{}, store.RefuseNoAgent(step.To)
	}
	return store.HeldUp{Changed: word(answer[0]) != "left", Told: word(answer[0]) == "told"}, nil
}

// Lapse implements store.Store.
func (s *Store) Lapse(ctx context.Context, space c3po.Space, id c3po.MessageID) (bool, error) {
	from, owner, hex := id.Split()
	k := keysOf(space)
	answer, err := s.run(ctx, "ticket_expire", k, with{"facts": k.fact(owner), "owner": owner, "from": from, "hex": hex})
	return err == nil && word(answer[0]) == "timed_out", err
}

// Overdue implements store.Store.
func (s *Store) Overdue(ctx context.Context, space c3po.Space, limit int) ([]c3po.MessageID, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := s.strings(ctx, s.commands.B().Zrangebyscore().Key(keysOf(space).deadlines()).
		Min("-inf").Max(itoa(now.UnixMilli())).Limit(0, int64(limit)).Build())
	return messageIDs(rows), err
}

// Tickets implements store.Store.
func (s *Store) Tickets(ctx context.Context, space c3po.Space, before int64, limit int) ([]store.TicketMark, error) {
	defer s.took("tickets", time.Now())
	open, err := s.openTickets(ctx, space, before, limit)
	if err != nil {
		return nil, err
	}
	lowest := "-inf"
	if before > 0 {
		lowest = "(" + itoa(-before)
	}
	ended, err := s.scores(ctx, s.commands.B().Zrangebyscore().Key(keysOf(space).tickets()).Min(lowest).Max("(0").
		Withscores().Limit(0, int64(limit)).Build())
	if err != nil {
		return nil, err
	}
	for i := range ended {
		ended[i].Score = -ended[i].Score
	}
	rows := append(open, ended...)
	slices.SortFunc(rows, func(a, b rueidis.ZScore) int { return cmp.Compare(b.Score, a.Score) })
	rows = slices.Compact(rows) // what ended between the two reads is in both
	return s.ticketMarks(ctx, space, rows[:min(len(rows), limit)])
}

// OpenTickets implements store.Store.
func (s *Store) OpenTickets(ctx context.Context, space c3po.Space, before int64, limit int) ([]store.TicketMark, error) {
	defer s.took("open_tickets", time.Now())
	rows, err := s.openTickets(ctx, space, before, limit)
	if err != nil {
		return nil, err
	}
	return s.ticketMarks(ctx, space, rows)
}

func (s *Store) openTickets(ctx context.Context, space c3po.Space, before int64, limit int) ([]rueidis.ZScore, error) {
	highest := "+inf"
	if before > 0 {
		highest = "(" + itoa(before)
	}
	return s.scores(ctx, s.commands.B().Zrevrangebyscore().Key(keysOf(space).tickets()).Max(highest).Min("(0").
		Withscores().Limit(0, int64(limit)).Build())
}

func (s *Store) ticketMarks(ctx context.Context, space c3po.Space, rows []rueidis.ZScore) ([]store.TicketMark, error) {
	ids := make([]c3po.MessageID, len(rows))
	for i, row := range rows {
		ids[i] = c3po.MessageID(row.Member)
	}
	ids, err := s.today(ctx, space, ids)
	if err != nil {
		return nil, err
	}
	var marks []store.TicketMark
	for i, row := range rows {
		marks = append(marks, store.TicketMark{ID: ids[i], Seq: int64(row.Score), Given: c3po.MessageID(row.Member)})
	}
	return marks, nil
}

// Messages implements store.Store.
func (s *Store) Messages(ctx context.Context, space c3po.Space, ids []c3po.MessageID) ([]store.Entry, error) {
	return s.entries(ctx, space, ids)
}

// Keyed implements store.Store.
func (s *Store) Keyed(ctx context.Context, space c3po.Space, from c3po.AgentID, key string) (c3po.MessageID, error) {
	k := keysOf(space)
	field, _ := s.idempotency(store.Draft{From: from, Key: key}, "")
	answer, err := s.run(ctx, "key_find", k, with{"sender": k.agent(from), "from": from, "field": field})
	if err != nil || word(answer[0]) != "found" {
		return "", err
	}
	to, hex := c3po.AgentID(word(answer[1])), word(answer[2])
	if to.Room() != "" {
		hex = store.MessageHex(seqOf(hex)) // a post is remembered by its entry
	}
	return c3po.NewMessageID(c3po.AgentID(word(answer[3])), to, hex), nil
}

func messageIDs(rows []string) []c3po.MessageID {
	var ids []c3po.MessageID
	for _, row := range rows {
		ids = append(ids, c3po.MessageID(row))
	}
	return ids
}
