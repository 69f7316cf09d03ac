package redisstore

import (
	"context"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Revive implements store.Store.
func (s *Store) Revive(ctx context.Context, space c3po.Space, id c3po.MessageID, step store.ReviveStep) (store.ReviveOutcome, error) {
	from, owner, hex := id.Split()
	notice := store.Draft{From: c3po.System, To: from, Kind: c3po.KindNotice, Text: step.Notice}
	body, err := encodeBody(notice)
	if err != nil {
		return "", err
	}
	k, l := keysOf(space), s.limits
	answer, err := s.run(ctx, "letter_revive", k, with{
		"mail": k.of(owner), "back": k.of(from), "owner": owner, "from": from, "hex": hex, "reason": step.Reason,
		"max_messages": l.InboxMessages, "max_bytes": l.InboxBytes, "notice": body, "bytes": notice.Bytes(), "durability": step.Durability,
		"mailbox": owner == c3po.Human || owner.Queue() != "",
	})
	if err != nil {
		return "", err
	}
	return store.ReviveOutcome(word(answer[0])), nil
}

// Purge implements store.Store.
func (s *Store) Purge(ctx context.Context, space c3po.Space, id c3po.MessageID) (bool, error) {
	forgotten, _, err := s.forgetLetter(ctx, space, id, true)
	return forgotten, err
}

// forgetLetter also says when the life of a letter that is left ends; 0 if it is not there.
func (s *Store) forgetLetter(ctx context.Context, space c3po.Space, id c3po.MessageID, atOnce bool) (forgotten bool, ends int64, err error) {
	from, owner, hex := id.Split()
	k := keysOf(space)
	answer, err := s.run(ctx, "letter_trim", k, with{"mail": k.of(owner), "owner": owner, "from": from, "hex": hex, "at_once": atOnce})
	if err != nil || word(answer[0]) == "forgotten" {
		return err == nil, 0, err
	}
	return false, integer(answer[1]), nil
}

// Owed implements store.Store.
func (s *Store) Owed(ctx context.Context, space c3po.Space, id c3po.AgentID, limit int) ([]c3po.MessageID, error) {
	rows, err := s.strings(ctx, s.commands.B().Zrangebylex().Key(keysOf(space).owed()).
		Min("["+string(id)+"\x00").Max("("+string(id)+"\x01").Limit(0, int64(limit)).Build())
	if err != nil {
		return nil, err
	}
	return idsOfIndex(rows), nil
}

// OwedTo implements store.Store.
func (s *Store) OwedTo(ctx context.Context, space c3po.Space, after c3po.AgentID, limit int) ([]c3po.AgentID, error) {
	var out []c3po.AgentID
	for len(out) < limit {
		from := "-"
		if after != "" {
			from = "[" + string(after) + "\x01"
		}
		rows, err := s.strings(ctx, s.commands.B().Zrangebylex().Key(keysOf(space).owed()).Min(from).Max("+").Limit(0, 1).Build())
		if err != nil || len(rows) == 0 {
			return out, err
		}
		_, after, _ = idsOfIndex(rows)[0].Split()
		out = append(out, after)
	}
	return out, nil
}
