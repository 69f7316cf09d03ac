package hub

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// startRoute marks among what a message's readers were told that a session was
	// resumed for it. No caller has this route.
	startRoute      = "start"
	maxStartedBytes = 300
)

// enterForClosed lets the host of a closed session act for it. Nothing is registered: the
// agent stays offline, and its name free for whoever opens the session. Mail of its queues
// is for members that are there.
func (me *identity) enterForClosed(ctx context.Context) error {
	if err := me.requireName(ctx); err != nil {
		return err
	}
	if !me.caller.MayBe(me.caller.ID) {
		return store.RefuseOtherName(me.caller.ID, me.caller.Agents)
	}
	records, err := me.hub.store.Agents(ctx, me.space, []c3po.AgentID{me.caller.ID})
	if err != nil {
		return err
	}
	if len(records) == 0 {
		return store.RefuseNoAgent(me.caller.ID)
	}
	me.place = records[0].Node
	me.actAs(binding{id: records[0].ID, epoch: records[0].Epoch})
	return nil
}

// recordStart notes with all mail that waits up to a sequence that a session was resumed
// because of it.
func (box *inbox) recordStart(ctx context.Context, in c3po.ReceivedInput) error {
	if err := box.enterForClosed(ctx); err != nil {
		return err
	}
	if err := checkLabels(label{"started", in.Started, maxStartedBytes}); err != nil {
		return err
	}
	if in.Notified <= 0 {
		return refuse("notified must be given with started")
	}
	at, err := box.hub.store.Sequence(ctx, box.space)
	if err != nil {
		return err
	}
	box.hub.notes.AddNotified(box.space, store.NotifiedNote{
		Agent: box.id, Reader: in.Started, Route: startRoute, Seq: min(in.Notified, at.Last), At: time.Now().UTC(),
	})
	return nil
}
