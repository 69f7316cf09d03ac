package hub

import (
	"context"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// confine holds a program that an agent may have started to what its own session
// holds. Below the session api-2 in the folder api, the name of the folder is api-2.
// A name that no live process of this machine holds is for anybody of its user.
func (me *identity) confine(ctx context.Context) error {
	if !me.caller.Confined {
		return nil
	}
	records, err := me.hub.store.Agents(ctx, me.space, store.RegisterStep{Want: me.caller.ID, Agents: me.caller.Agents}.Candidates(false))
	if err != nil {
		return err
	}
	nearest, own := len(me.caller.Lineage), c3po.AgentID("")
	for _, record := range records {
		holders := me.hub.holders(record)
		if len(holders) == 0 {
			continue
		}
		at := slices.IndexFunc(me.caller.Lineage, func(run string) bool { return slices.Contains(holders, run) })
		switch {
		case at >= 0 && at < nearest:
			nearest, own = at, record.ID
		case at < 0 && me.caller.Run != "" && record.Run == me.caller.Run:
			return me.heldByAnother(record.ID)
		}
	}
	if me.caller.Run != "" {
		return nil
	}
	if own != "" {
		me.caller.ID = own
		return nil
	}
	if len(records) > 0 && records[0].ID == me.caller.ID && len(me.hub.holders(records[0])) > 0 {
		return me.heldByAnother(me.caller.ID)
	}
	return nil
}

func (me *identity) heldByAnother(id c3po.AgentID) error {
	refusal := c3po.Errorf(c3po.Forbidden, "'%s' is another session on this host, and an agent acts as itself only", id)
	if len(me.caller.Lineage) == 0 {
		return refusal.Suggest("If this is no agent, use the c3po command or the coordinator's socket, where it can be told; else leave the name to its session.")
	}
	return refusal.Suggest("Leave the name to its session, and act under your own. A person may run this in a terminal.")
}
