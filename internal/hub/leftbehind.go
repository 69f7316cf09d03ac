package hub

import (
	"context"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// fewSiblings is how far numbered ids are looked at while there may be none.
const fewSiblings = 6

// leftBehind is the mail of the caller's numbered siblings whose sessions have
// ended: nobody else would ever look for it.
func (a *Actor) leftBehind(ctx context.Context, self store.Record) ([]c3po.LeftBehind, error) {
	if self.ID != a.caller.ID {
		return nil, nil // it is a sibling itself: the first one is told
	}
	var ended []c3po.AgentID
	for from := 2; from <= store.MostNumbered; {
		to := store.MostNumbered
		if from == 2 {
			to = fewSiblings
		}
		var ids []c3po.AgentID
		for n := from; n <= to; n++ {
			ids = append(ids, self.ID.Numbered(n))
		}
		records, err := a.hub.store.Agents(ctx, a.caller.Space, ids)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if a.maySucceed(self, r) {
				ended = append(ended, r.ID)
			}
		}
		// Numbers are given from below: if the last is not known there are none above.
		if len(records) == 0 || records[len(records)-1].ID != ids[len(ids)-1] {
			break
		}
		from = to + 1
	}
	if len(ended) == 0 {
		return nil, nil
	}
	sizes, err := a.hub.store.InboxSizes(ctx, a.caller.Space, ended)
	if err != nil {
		return nil, err
	}
	var left []c3po.LeftBehind
	for i, id := range ended {
		if sizes[i] > 0 {
			left = append(left, c3po.LeftBehind{ID: id, Unread: sizes[i]})
		}
	}
	return left, nil
}

// maySucceed says that another agent was a session beside the caller, in the same
// folder of the same host, that has ended; and that the caller's token would let it
// be that agent.
func (a *Actor) maySucceed(self, other store.Record) bool {
	return other.Gone && !other.Online && a.caller.MayBe(other.ID) &&
		other.Profile.Cwd == self.Profile.Cwd && other.Profile.Host == self.Profile.Host
}

// successor is the caller in the place of an ended sibling of that id; nil if it is
// none. It is not registered as that, so nobody sees the sibling come back.
func (a *Actor) successor(ctx context.Context, id c3po.AgentID) (*Actor, error) {
	numbered := false
	for n := 2; n <= store.MostNumbered; n++ {
		numbered = numbered || a.id.Numbered(n) == id
	}
	if !numbered || a.id != a.caller.ID {
		return nil, nil
	}
	records, err := a.hub.store.Agents(ctx, a.caller.Space, []c3po.AgentID{a.id, id})
	if err != nil || len(records) != 2 || !a.maySucceed(records[0], records[1]) {
		return nil, err
	}
	place := &Actor{hub: a.hub, caller: a.caller}
	place.caller.ID, place.caller.Run, place.caller.Session = id, "", ""
	place.actAs(binding{id: id, epoch: records[1].Epoch})
	return place, nil
}

// readLeft reads the mail that an ended sibling has left.
func (a *Actor) readLeft(ctx context.Context, in c3po.GetMessagesInput) (store.InboxPage, error) {
	id, err := c3po.ParseAgentID(in.LeftBy)
	if err != nil {
		return store.InboxPage{}, err
	}
	if id.Host() == "" && a.id.Host() != "" {
		id = c3po.AgentID(a.id.Host()) + "/" + id
	}
	place, err := a.successor(ctx, id)
	if err != nil {
		return store.InboxPage{}, err
	}
	if place == nil {
		return store.InboxPage{}, c3po.Errorf(c3po.Forbidden, "'%s' is not an ended session beside yours", id).
			Suggest("whoami names those that have left mail.")
	}
	return place.inboxPage(ctx, id, "", in.Cursor, in.Limit, 0)
}
