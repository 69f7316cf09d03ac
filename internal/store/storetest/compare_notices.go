package storetest

import (
	"github.com/c3po-dev/c3po/internal/store"
)

// notice takes one on, or says that it was sent.
func (d *comparison) notice(a *comparedSpace) {
	if len(a.mail) == 0 {
		return
	}
	n := store.Notice{ID: draw(d, "question", a.mail), Channel: draw(d, "channel", []string{"ntfy", "webhook"}), Late: d.oneIn(3, "late")}
	if d.oneIn(3, "sent") {
		d.done("notice sent", func(s store.Store) error { return s.NoticeSent(d.ctx, a.space, n) })
		return
	}
	_, _ = both(d, "claim notice", func(s store.Store) (bool, error) { return s.ClaimNotice(d.ctx, a.space, n) })
}
