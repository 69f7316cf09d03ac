package hub

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Stuck reads who waits for whom, from the newest maxScanned open tickets. What has
// ended and how many agents there are costs it nothing.
func (a *Actor) Stuck(ctx context.Context, _ c3po.None) (c3po.Stuck, error) {
	stuck := c3po.Stuck{HoldUps: []c3po.HoldUp{}}
	var waits []c3po.Wait
	seen := map[c3po.MessageID]bool{}
	var before int64
	for scanned := 0; ; scanned += ticketScan {
		if scanned >= maxScanned {
			stuck.More = true
			break
		}
		marks, err := a.hub.store.OpenTickets(ctx, a.space, before, ticketScan)
		if err != nil {
			return c3po.Stuck{}, err
		}
		tickets, err := a.firstTickets(ctx, marks)
		if err != nil {
			return c3po.Stuck{}, err
		}
		for _, t := range tickets {
			if stillWaits(t) && !seen[t.ID] {
				seen[t.ID] = true
				waits = append(waits, c3po.Wait{
					ID: t.ID, FromAgent: t.FromAgent, ToAgent: t.ToAgent, Thread: t.Thread, State: t.State,
					Since: t.CreatedAt, Deadline: t.Deadline, Silent: !t.SilentAt.IsZero(), Stalled: !t.StalledAt.IsZero(),
				})
			}
		}
		if len(marks) < ticketScan {
			break
		}
		before = marks[len(marks)-1].Seq
	}
	stuck.HoldUps = holdUps(waits)
	return stuck, a.showReach(ctx, stuck.HoldUps)
}

// firstTickets are the tickets of some marks. Of one that was handed over it gives
// the one it was at first: that has the deadline, and is what its asker waits for.
func (s spaceHub) firstTickets(ctx context.Context, marks []store.TicketMark) ([]c3po.Ticket, error) {
	ids := make([]c3po.MessageID, len(marks))
	for i, mark := range marks {
		ids[i] = mark.ID
	}
	entries, err := s.hub.store.Messages(ctx, s.space, ids)
	if err != nil {
		return nil, err
	}
	var handedOver []c3po.MessageID
	for _, entry := range entries {
		if entry.Message.Ticket != "" {
			handedOver = append(handedOver, entry.Message.Ticket)
		}
	}
	first := map[c3po.MessageID]store.Entry{}
	if len(handedOver) > 0 {
		found, err := s.hub.store.Messages(ctx, s.space, handedOver)
		if err != nil {
			return nil, err
		}
		for _, entry := range found {
			first[entry.Message.ID] = entry
		}
	}
	now, err := s.hub.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	tickets := make([]c3po.Ticket, len(entries))
	for i, entry := range entries {
		if asked, kept := first[entry.Message.Ticket]; kept {
			entry = asked
		}
		if tickets[i], err = s.ticket(ctx, entry, now); err != nil {
			return nil, err
		}
	}
	return tickets, nil
}

// stillWaits says whether an agent waits for a ticket. The deadline of a question to
// the person is a reminder, and its asker waits on. Nobody waits for what the person
// or the coordinator asks.
func stillWaits(t c3po.Ticket) bool {
	if t.FromAgent == c3po.Human || t.FromAgent == c3po.System {
		return false
	}
	late := t.State == c3po.TicketTimedOut && t.ToAgent == c3po.Human && t.TimedOutAt.Equal(t.Deadline)
	return t.State.Open() || late
}

// showReach adds when each agent that holds others up reads its mail.
func (s spaceHub) showReach(ctx context.Context, all []c3po.HoldUp) error {
	ids := make([]c3po.AgentID, len(all))
	for i, h := range all {
		ids[i] = h.Agent
	}
	records, err := s.hub.store.Agents(ctx, s.space, ids)
	if err != nil {
		return err
	}
	reach := map[c3po.AgentID]c3po.Reachability{}
	for _, record := range records {
		reach[record.ID] = view(record).Reachability
	}
	for i := range all {
		all[i].Reachability = reach[all[i].Agent]
	}
	return nil
}

// holdUps turns waits into trees. An agent that waits for several is in the tree of
// each, and those behind it are listed once.
func holdUps(waits []c3po.Wait) []c3po.HoldUp {
	slices.SortStableFunc(waits, func(x, y c3po.Wait) int { return x.Since.Compare(y.Since) })
	g := waitGraph{on: map[c3po.AgentID][]c3po.Wait{}, listed: map[c3po.AgentID]bool{}}
	waiting := map[c3po.AgentID]bool{}
	type pair struct{ from, to c3po.AgentID }
	at := map[pair]int{}
	for _, w := range waits {
		between := pair{w.FromAgent, w.ToAgent}
		if i, known := at[between]; known && w.ToAgent != c3po.Human {
			g.on[w.ToAgent][i].Questions++
			continue
		}
		w.Questions = 1
		at[between] = len(g.on[w.ToAgent])
		g.on[w.ToAgent] = append(g.on[w.ToAgent], w)
		waiting[w.FromAgent] = true
	}
	asked := slices.Collect(maps.Keys(g.on))
	behind := map[c3po.AgentID]int{}
	for _, id := range asked {
		behind[id] = g.behind(id)
	}
	slices.SortFunc(asked, func(x, y c3po.AgentID) int {
		return cmp.Or(yes(y == c3po.Human)-yes(x == c3po.Human), behind[y]-behind[x], g.on[x][0].Since.Compare(g.on[y][0].Since), cmp.Compare(x, y))
	})
	found := []c3po.HoldUp{}
	for _, id := range asked {
		if !waiting[id] {
			found = append(found, c3po.HoldUp{Agent: id, Behind: behind[id], Waits: g.tree(id, 1, nil)})
		}
	}
	// What no tree has reached waits in a circle.
	for _, id := range asked {
		if waiting[id] && !g.listed[id] {
			found = append(found, c3po.HoldUp{Agent: id, Circle: true, Behind: behind[id], Waits: g.tree(id, 1, nil)})
		}
	}
	return found
}

// yes is 1 for true.
func yes(is bool) int {
	if is {
		return 1
	}
	return 0
}

// A waitGraph has the waits for each agent, the oldest first.
type waitGraph struct {
	on     map[c3po.AgentID][]c3po.Wait
	listed map[c3po.AgentID]bool // whose waits are in a tree
}

// behind counts the agents that wait for one, directly or through others.
func (g waitGraph) behind(id c3po.AgentID) int {
	seen := map[c3po.AgentID]bool{id: true}
	next := []c3po.AgentID{id}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		for _, w := range g.on[at] {
			if !seen[w.FromAgent] {
				seen[w.FromAgent] = true
				next = append(next, w.FromAgent)
			}
		}
	}
	return len(seen) - 1
}

// tree lists the waits for an agent, each followed by those behind it.
func (g waitGraph) tree(id c3po.AgentID, depth int, into []c3po.Wait) []c3po.Wait {
	g.listed[id] = true
	for _, w := range g.on[id] {
		w.Depth, w.Behind = depth, g.behind(w.FromAgent)
		into = append(into, w)
		if !g.listed[w.FromAgent] {
			into = g.tree(w.FromAgent, depth+1, into)
		}
	}
	return into
}
