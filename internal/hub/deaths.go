package hub

import (
	"context"

	"github.com/c3po-dev/c3po"
)

// ReportDeath takes the word of an agent's own host that its process has ended.
// The host part of an id comes with the token, so nobody can bury the agents of
// another host. It registers nobody.
func (a *Actor) ReportDeath(ctx context.Context, in c3po.DeathInput) (c3po.DeathResult, error) {
	if err := a.named(ctx); err != nil {
		return c3po.DeathResult{}, err
	}
	dead, ok := c3po.ParseProcessRun(in.Run)
	if !ok {
		return c3po.DeathResult{}, refuse("run is %q; it must be host:pid:start", in.Run)
	}
	id := in.AgentID
	if id == "" {
		held, err := a.held(ctx)
		if err != nil || held == nil {
			return c3po.DeathResult{AgentID: a.caller.ID}, err
		}
		id = held.ID
	}
	id, err := c3po.ParseAgentID(string(id))
	if err != nil {
		return c3po.DeathResult{}, err
	}
	own, ok := c3po.ParseProcessRun(a.caller.Run)
	if !ok || own.Host != dead.Host || id.Host() != a.caller.ID.Host() {
		return c3po.DeathResult{}, c3po.Errorf(c3po.Forbidden, "only its own host can say that the process of '%s' has ended", id).
			Suggest("Report it from a process on that host, with its token and X-C3PO-Run.")
	}
	died, err := a.hub.ProcessEnded(ctx, a.caller.Space, id, in.Run)
	return c3po.DeathResult{AgentID: id, Died: died}, err
}

// DeclaredEnded says that the process an agent declared is not there, as was seen on
// its own host. It reports whether that was news.
func (h *Hub) DeclaredEnded(ctx context.Context, space c3po.Space, id c3po.AgentID, process Declared) (bool, error) {
	died, err := h.store.DieDeclared(ctx, space, id, process)
	return h.sawEnd(ctx, space, id, died, err)
}

// ProcessEnded says that the process of an agent's run has ended, as was seen on
// its own host. It reports whether that was news.
func (h *Hub) ProcessEnded(ctx context.Context, space c3po.Space, id c3po.AgentID, run string) (bool, error) {
	died, err := h.store.Die(ctx, space, id, run)
	return h.sawEnd(ctx, space, id, died, err)
}

// sawEnd makes known that an agent has died, if the store says that it is news.
func (h *Hub) sawEnd(ctx context.Context, space c3po.Space, id c3po.AgentID, died bool, err error) (bool, error) {
	if err != nil || !died {
		return false, err
	}
	h.presence.moved(space, id)
	h.marks.touched(space, 0)
	h.log.InfoContext(ctx, "changed", "kind", c3po.EventDied, "space", space, "agent", id)
	return true, nil
}
