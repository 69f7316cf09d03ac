package storetest

import (
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (d *comparison) silence() time.Duration {
	return draw(d, "silent", []time.Duration{0, 0, 5 * time.Minute, 25 * time.Hour})
}

func (d *comparison) retire(a *comparedSpace) {
	id, silent := d.agent(a, "agent"), d.silence()
	_, _ = both(d, "silent", func(s store.Store) ([]store.Silence, error) { return s.Silent(d.ctx, a.space, silent, 2) })
	d.retireOne(a, id, silent, d.oneIn(2, "empty"))
	_, _ = both(d, "retired", func(s store.Store) ([]c3po.AgentID, error) { return s.Retired(d.ctx, a.space, 0, 100) })
}

func (d *comparison) retireOne(a *comparedSpace, id c3po.AgentID, silent time.Duration, empty bool) store.RetireOutcome {
	outcome, _ := both(d, "retire", func(s store.Store) (store.RetireOutcome, error) {
		return s.Retire(d.ctx, a.space, id, silent, empty)
	})
	d.compareKeys(a, "a retirement")
	return outcome
}

// sweep removes an agent with its mail.
func (d *comparison) sweep(a *comparedSpace) {
	id, silent := d.owner(a), d.silence()
	page, err := d.model.Inbox(d.ctx, a.space, id, store.InboxQuery{Limit: 100, Bytes: 1 << 20})
	if err != nil {
		d.Fatal(err)
	}
	for _, entry := range page.Entries {
		d.buryOne(a, entry.Message.ID, c3po.ReasonRecipientRemoved)
	}
	d.retireOne(a, id, silent, true)
}

func (d *comparison) revive(a *comparedSpace) {
	owner := d.owner(a)
	owed, _ := both(d, "owed", func(s store.Store) ([]c3po.MessageID, error) { return s.Owed(d.ctx, a.space, owner, 2) })
	_, _ = both(d, "owed to", func(s store.Store) ([]c3po.AgentID, error) {
		return s.OwedTo(d.ctx, a.space, "", 10)
	})
	for _, id := range append(owed, d.deadOrAny(a, owner)) {
		step := store.ReviveStep{Reason: draw(d, "reason", []string{"", c3po.ReasonRecipientRemoved}), Notice: "it is back", Durability: c3po.OnDisk}
		_, _ = both(d, "revive", func(s store.Store) (store.ReviveOutcome, error) { return s.Revive(d.ctx, a.space, id, step) })
	}
}

func (d *comparison) purge(a *comparedSpace) {
	id := d.deadOrAny(a, d.owner(a))
	_, _ = both(d, "purge", func(s store.Store) (bool, error) { return s.Purge(d.ctx, a.space, id) })
}

// deadOrAny is a dead letter if there is one, else a message of the owner's.
func (d *comparison) deadOrAny(a *comparedSpace, owner c3po.AgentID) c3po.MessageID {
	letters, err := d.model.DeadLetters(d.ctx, a.space, 0, 100)
	if err != nil {
		d.Fatal(err)
	}
	if len(letters) == 0 {
		return d.mailOf(a, owner)
	}
	return draw(d, "letter", letters).Entry.Message.ID
}
