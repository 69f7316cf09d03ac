package redisstore

import (
	"context"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// noticeWord is the name of a notice among the facts of its question.
func noticeWord(n store.Notice) string {
	if n.Late {
		return n.Channel + " late"
	}
	return n.Channel
}

// ClaimNotice implements store.Store.
func (s *Store) ClaimNotice(ctx context.Context, space c3po.Space, n store.Notice) (bool, error) {
	from, owner, hex := n.ID.Split()
	k := keysOf(space)
	answer, err := s.run(ctx, "notice_claim", k, with{
		"facts": k.fact(owner), "from": from, "hex": hex, "what": noticeWord(n),
		"first": millis(store.NoticePause), "longest": millis(store.MaxNoticePause), "most": store.NoticeTries,
	})
	return err == nil && word(answer[0]) == "claimed", err
}

// NoticeSent implements store.Store.
func (s *Store) NoticeSent(ctx context.Context, space c3po.Space, n store.Notice) error {
	from, owner, hex := n.ID.Split()
	k := keysOf(space)
	_, err := s.run(ctx, "notice_record", k, with{"facts": k.fact(owner), "from": from, "hex": hex, "what": noticeWord(n)})
	return err
}

// notice is how the facts of a question spell a Notice.
type notice struct {
	Until int64 `json:"u"`
	Tries int   `json:"n"`
	Done  int64 `json:"d"`
}

func noticesOf(id c3po.MessageID, stored map[string]notice) []store.NoticeFact {
	var facts []store.NoticeFact
	for word, n := range stored {
		channel, late := strings.CutSuffix(word, " late")
		facts = append(facts, store.NoticeFact{
			Notice: store.Notice{ID: id, Channel: channel, Late: late}, Tries: n.Tries, Until: instant(n.Until), Sent: instant(n.Done),
		})
	}
	slices.SortFunc(facts, store.NoticeFact.Compare)
	return facts
}
