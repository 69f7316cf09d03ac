package storetest

import (
	"errors"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// goOn tells of a spent account, or resumes a chain.
func (d *comparison) goOn(a *comparedSpace) {
	chain := d.threadName(a)
	if d.oneIn(2, "told") {
		account := draw(d, "account", []string{"t:" + chain, "a:a", "p:a h/a"})
		question := draw(d, "question", append([]c3po.MessageID{"system::human::00000001"}, a.mail...))
		d.done("told", func(s store.Store) error { return s.Told(d.ctx, a.space, account, question) })
		return
	}
	_, _ = both(d, "resume chain", func(s store.Store) (store.Resumed, error) { return s.ResumeChain(d.ctx, a.space, chain) })
}

// spentBy is what a send was refused with; nil if it was not.
func (w *testStore) spentBy(step store.SendStep) *store.Spent {
	w.Helper()
	stored, err := w.store.Send(w.ctx, w.space, step)
	if err != nil && !errors.Is(err, c3po.BudgetSpent) {
		w.Fatal(err)
	}
	if (err != nil) != (stored.Spent != nil) {
		w.Fatalf("error %v, spent %+v", err, stored.Spent)
	}
	return stored.Spent
}
