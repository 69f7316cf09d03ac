package redisstore

import (
	"context"
	"strings"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// capsOf spells the budgets as a list in Lua, which reckon() of flow.lua reads; empty
// if there are none, so that nothing is kept of what is not limited.
func capsOf(l c3po.Limits) string {
	caps := []int{l.ChainMessages, l.ChainBytes, l.ChainHops, l.PairMessages, l.PairBytes, l.AgentMessages, l.AgentBytes, l.SameTexts}
	limited := l.ChainTokens > 0
	var b strings.Builder
	for _, most := range caps {
		limited = limited || most > 0
		b.WriteString(itoa(most) + ", ")
	}
	if !limited {
		return "{}"
	}
	return "{ " + b.String() + millis(l.SameTextWindow) + ", " + itoa(l.ChainTokens) + " }"
}

// textDigest is the digest of a text whose repeats are counted; empty if they are not.
func (s *Store) textDigest(from, to c3po.AgentID, d store.Draft) string {
	if s.limits.SameTexts == 0 {
		return ""
	}
	return store.TextDigest(from, to, d)
}

func spentOf(answer []rueidis.RedisMessage) store.Spent {
	spent := store.Spent{Whose: word(answer[1]), What: word(answer[2]), Account: word(answer[3])}
	switch state := word(answer[4]); state {
	case "untold":
		spent.Untold = true
	default:
		spent.Question = c3po.MessageID(state)
	}
	spent.Since = instant(integer(answer[6]))
	for _, id := range strings.Fields(word(answer[5])) {
		spent.Handlers = append(spent.Handlers, c3po.AgentID(id))
	}
	return spent
}

// Told implements store.Store.
func (s *Store) Told(ctx context.Context, space c3po.Space, account string, question c3po.MessageID) error {
	_, err := s.run(ctx, "question_record", keysOf(space), with{"account": account, "question": question})
	return err
}

// ResumeChain implements store.Store.
func (s *Store) ResumeChain(ctx context.Context, space c3po.Space, chain string) (store.Resumed, error) {
	k := keysOf(space)
	answer, err := s.run(ctx, "chain_resume", k, with{"mail": k.of(c3po.Human), "owner": c3po.Human, "chain": chain})
	if err != nil || word(answer[0]) != "resumed" {
		return store.Resumed{}, err
	}
	return store.Resumed{Done: true, Question: c3po.MessageID(word(answer[1])), Acked: integer(answer[2]) == 1}, nil
}

func (s *Store) trimAccounts(ctx context.Context, space c3po.Space, limit int) error {
	_, err := s.run(ctx, "account_trim", keysOf(space), with{"idle": millis(store.FlowIdle), "limit": limit})
	return err
}
