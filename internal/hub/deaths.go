package hub

import (
	"cmp"
	"context"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/node"
	"github.com/c3po-dev/c3po/internal/store"
)

// ReportDeath takes the word of an agent's own host that its process has ended.
// The host part of an id comes with the token, so nobody can bury the agents of
// another host. It registers nobody.
func (a *Actor) ReportDeath(ctx context.Context, in c3po.DeathInput) (c3po.DeathResult, error) {
	if err := a.requireName(ctx); err != nil {
		return c3po.DeathResult{}, err
	}
	dead, ok := c3po.ParseProcessRun(in.Run)
	if !ok {
		return c3po.DeathResult{}, refuse("run is %q; it must be host:pid:start", in.Run)
	}
	id := in.AgentID
	if id == "" {
		held, err := a.findOwnAgent(ctx)
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
	died, err := a.hub.ProcessEnded(ctx, a.space, id, in.Run)
	return c3po.DeathResult{AgentID: id, Died: died}, err
}

// DeclaredEnded says that the process an agent declared is not there, as was seen on
// its own host. It reports whether that was news.
func (h *Hub) DeclaredEnded(ctx context.Context, space c3po.Space, id c3po.AgentID, process store.Declared) (bool, error) {
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
	h.presence.Moved(space, id)
	h.bindings.unnote(space, id) // if it calls after all, that is news
	h.marks.Touch(space, 0)
	h.log.InfoContext(ctx, "changed", "kind", c3po.EventDied, "space", space, "agent", id)
	return true, nil
}

const (
	// maxTakenUp bounds how many agents of a space are looked at when a coordinator
	// starts: as many as one process watches.
	maxTakenUp = 10_000
	takeUpPage = 500
)

// takeUp watches the processes of agents that are online already: the coordinator that
// did so may be the one before this. What has ended since nobody looked is over.
func (h *Hub) takeUp(ctx context.Context) {
	for pause := node.MinRetry; ; pause = min(2*pause, node.MaxRetry) {
		err := h.takeUpSpaces(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		h.log.WarnContext(ctx, "processes of agents are not watched yet", "err", err)
		if !attempt.Sleep(ctx, pause) {
			return
		}
	}
}

func (h *Hub) takeUpSpaces(ctx context.Context) error {
	if h.host == "" {
		return nil
	}
	spaces, err := h.store.Spaces(ctx)
	if err != nil {
		return err
	}
	for _, space := range spaces {
		ids, err := h.store.Recent(ctx, space, maxTakenUp)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(ids, takeUpPage) {
			records, err := h.store.Agents(ctx, space, some)
			if err != nil {
				return err
			}
			for _, r := range records {
				if !r.Online {
					continue
				}
				if h.endedUnseen(r) {
					if _, err := h.ProcessEnded(ctx, space, r.ID, r.Run); err != nil {
						return err
					}
					continue
				}
				h.entered(space, r.ID, r.Run)
				h.watchDeclared(space, r)
			}
		}
	}
	return nil
}

// endedUnseen says that the process of a run was on this host, and is no longer there. Of
// one that was never seen here nobody can say that.
func (h *Hub) endedUnseen(r store.Record) bool {
	process, ok := c3po.ParseProcessRun(r.Run)
	return ok && process.Host == h.host && r.Sighted && !h.sees(r.Run)
}

// watchDeclared has the process that an agent names looked at.
func (h *Hub) watchDeclared(space c3po.Space, r store.Record) {
	if host := cmp.Or(r.Profile.Host, r.ID.Host()); r.Profile.PID > 0 && host != "" {
		h.declared(space, r.ID, host, r.Profile.PID, r.Profile.PIDStart)
	}
}
