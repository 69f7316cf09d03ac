package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// maxOthers is how many agents are named in place of one that is not there.
const maxOthers = 3

// suggestOthers names available agents that share a capability with one that is away;
// empty if there are none. It gives ids only, never what agents say about themselves.
func (d directory) suggestOthers(ctx context.Context, of store.Record) string {
	var names []string
	for _, queue := range c3po.QueuesOf(of.Profile.Capabilities) {
		ids, err := d.hub.store.Members(ctx, d.space, queue, membersLook)
		if err != nil {
			return "" // it is only advice
		}
		ids = slices.DeleteFunc(ids, func(id c3po.AgentID) bool { return id == d.id || id == of.ID })
		records, err := d.hub.store.Agents(ctx, d.space, ids)
		if err != nil {
			return ""
		}
		for _, r := range records {
			name := fmt.Sprintf("'%s'", r.ID)
			if isAvailable(r) && r.Availability != c3po.Busy && !slices.Contains(names, name) && len(names) < maxOthers {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "Available with the same capabilities: " + strings.Join(names, ", ")
}

// otherwise names agents that are online, for when no agent with the same capabilities
// is.
func (d directory) otherwise(ctx context.Context, not c3po.AgentID) string {
	recent, err := d.hub.store.Recent(ctx, d.space, suggestFrom)
	if err != nil {
		return ""
	}
	recent = slices.DeleteFunc(recent, func(id c3po.AgentID) bool { return id == not })
	online := d.online(ctx, recent)
	if len(online) == 0 {
		return ""
	}
	return "Online now: " + quoteIDs(online[:min(len(online), maxOthers)])
}

// orOthers adds to the refusal of a message which other agents are available.
func (d directory) orOthers(ctx context.Context, to c3po.AgentID, err error) error {
	var refusal *c3po.Error
	if !errors.Is(err, c3po.AgentUnavailable) || !errors.As(err, &refusal) {
		return err
	}
	id, failed := d.find(ctx, to)
	if failed != nil || id == "" {
		return err
	}
	record, failed := d.record(ctx, id)
	if failed != nil {
		return err
	}
	others := d.suggestOthers(ctx, record)
	if others == "" {
		others = d.otherwise(ctx, record.ID)
	}
	if others != "" {
		return refusal.Suggest("%s %s.", refusal.Suggestion, others)
	}
	return err
}

// absence is what a receipt says of a recipient that does not read soon.
func (d directory) absence(ctx context.Context, to store.Record) string {
	why := prospect(to)
	if why == "" && to.Availability == c3po.Away {
		why = fmt.Sprintf("'%s' has said that it is away", to.ID)
	}
	if why == "" || isAvailable(to) {
		return why
	}
	return sentences(why, d.suggestOthers(ctx, to))
}
