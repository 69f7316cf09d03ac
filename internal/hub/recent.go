package hub

import (
	"context"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	usualRecent = 5
	maxRecent   = 50
)

// Recent reads the last messages that an agent wrote or was written to, the oldest
// of them first, so that a person sees what its question is about.
func (a *Actor) Recent(ctx context.Context, in c3po.RecentInput) (c3po.MessageList, error) {
	id, err := c3po.ParseAgentID(string(in.AgentID))
	if err != nil {
		return c3po.MessageList{}, err
	}
	if in.Limit < 0 || in.Limit > maxRecent {
		return c3po.MessageList{}, refuse("limit is %d; it must be between 1 and %d", in.Limit, maxRecent)
	}
	limit := in.Limit
	if limit == 0 {
		limit = usualRecent
	}
	log, err := a.TailLog(ctx, c3po.LogInput{Agent: id, Kinds: []c3po.EventKind{c3po.EventAccepted, c3po.EventAnswered}, Limit: a.hub.limits.PageItems})
	if err != nil {
		return c3po.MessageList{}, err
	}
	// Newest first until there are enough: what the coordinator itself says is none of the agent's.
	var ids []c3po.MessageID
	for _, event := range slices.Backward(log.Events) {
		from, _, _ := event.ID.Split()
		if from != c3po.System && len(ids) < limit {
			ids = append(ids, event.ID)
		}
	}
	slices.Reverse(ids)
	entries, err := a.hub.store.Messages(ctx, a.space, ids)
	if err != nil {
		return c3po.MessageList{}, err
	}
	return a.threadPage(entries, limit), nil
}
