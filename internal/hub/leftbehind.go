package hub

import (
	"context"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// fewSiblings is how many numbered ids are tried first: most agents have no siblings.
const fewSiblings = 6

// leftBehind is the mail of the caller's siblings whose sessions have ended: agents that
// asked for the same id and got it or a numbered one. No other agent would look for that
// mail, unless their conversations continue.
func (me *identity) leftBehind(ctx context.Context, self store.Record) ([]c3po.LeftBehind, error) {
	ended, err := me.endedSiblings(ctx, self)
	if err != nil {
		return nil, err
	}
	if len(ended) == 0 {
		return nil, nil
	}
	sizes, err := me.hub.store.InboxSizes(ctx, me.space, ended)
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

// endedSiblings are the siblings whose mail the caller is offered. Of several live
// sessions side by side, only the first is offered it.
func (me *identity) endedSiblings(ctx context.Context, self store.Record) ([]c3po.AgentID, error) {
	var ended []c3po.AgentID
	before := true // the caller's own record was not reached yet
	for from := 1; from <= store.MaxNumbered; {
		to := store.MaxNumbered
		if from == 1 {
			to = fewSiblings
		}
		var ids []c3po.AgentID
		for n := from; n <= to; n++ {
			ids = append(ids, sibling(me.caller.ID, n))
		}
		records, err := me.hub.store.Agents(ctx, me.space, ids)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			switch {
			case r.ID == self.ID:
				before = false
			case me.maySucceed(self, r):
				ended = append(ended, r.ID)
			case before && r.Online && shareFolder(self, r):
				return nil, nil
			}
		}
		// Numbers are given in order: if the last of these is unknown, so are all above
		// it.
		if len(records) == 0 || records[len(records)-1].ID != ids[len(ids)-1] {
			break
		}
		from = to + 1
	}
	return ended, nil
}

// sibling is the nth of those that ask for an id.
func sibling(id c3po.AgentID, n int) c3po.AgentID {
	if n == 1 {
		return id
	}
	return id.Numbered(n)
}

// shareFolder says that two agents are sessions in the same folder of the same host.
func shareFolder(self, other store.Record) bool {
	return other.Profile.Cwd == self.Profile.Cwd && other.Profile.Host == self.Profile.Host
}

// maySucceed says that another agent was a session beside the caller, in the same
// folder of the same host, that has ended; and that the caller's token would let it
// be that agent.
func (me *identity) maySucceed(self, other store.Record) bool {
	return other.Gone && !other.Online && me.caller.MayBe(other.ID) && shareFolder(self, other)
}

// successor is the caller in the place of an ended sibling; nil if the id is not one. It
// is not registered under that id, so the sibling does not appear to come back.
func (me *identity) successor(ctx context.Context, id c3po.AgentID) (*identity, error) {
	related := false
	for n := 1; n <= store.MaxNumbered; n++ {
		related = related || sibling(me.caller.ID, n) == id
	}
	if !related || id == me.id {
		return nil, nil
	}
	records, err := me.hub.store.Agents(ctx, me.space, []c3po.AgentID{me.id})
	if err != nil || len(records) != 1 {
		return nil, err
	}
	ended, err := me.endedSiblings(ctx, records[0])
	if err != nil || !slices.Contains(ended, id) {
		return nil, err
	}
	if records, err = me.hub.store.Agents(ctx, me.space, []c3po.AgentID{id}); err != nil || len(records) != 1 {
		return nil, err
	}
	place := &identity{spaceHub: me.spaceHub, caller: me.caller}
	place.caller.ID, place.caller.Run, place.caller.Session = id, "", ""
	place.actAs(binding{id: id, epoch: records[0].Epoch})
	return place, nil
}

// readLeft reads the mail that an ended sibling has left.
func (box *inbox) readLeft(ctx context.Context, in c3po.GetMessagesInput) (store.InboxPage, error) {
	id, err := c3po.ParseAgentID(in.LeftBy)
	if err != nil {
		return store.InboxPage{}, err
	}
	if id.Host() == "" && box.id.Host() != "" {
		id = c3po.AgentID(box.id.Host()) + "/" + id
	}
	place, err := box.successor(ctx, id)
	if err != nil {
		return store.InboxPage{}, err
	}
	if place == nil {
		return store.InboxPage{}, c3po.Errorf(c3po.Forbidden, "'%s' is not an ended session beside yours", id).
			Suggest("whoami names those that have left mail.")
	}
	left := inbox{identity: place}
	return left.page(ctx, id, "", in.Cursor, in.Limit, 0)
}
