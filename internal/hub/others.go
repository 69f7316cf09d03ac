package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// maxOthers is how many agents are named in place of one that is not there.
const maxOthers = 3

// suggestOthers says which agents are there and share a capability with one that is not;
// empty if none is. It names ids alone: what they say of themselves is not ours to
// repeat.
func (a *Actor) suggestOthers(ctx context.Context, of store.Record) string {
	var names []string
	for _, queue := range c3po.QueuesOf(of.Profile.Capabilities) {
		ids, err := a.hub.store.Members(ctx, a.caller.Space, queue, membersLook)
		if err != nil {
			return "" // it is only advice
		}
		ids = slices.DeleteFunc(ids, func(id c3po.AgentID) bool { return id == a.id || id == of.ID })
		records, err := a.hub.store.Agents(ctx, a.caller.Space, ids)
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

// otherwise names agents that are there, where nobody is known to be able to do the same.
func (a *Actor) otherwise(ctx context.Context, not c3po.AgentID) string {
	recent, err := a.hub.store.Recent(ctx, a.caller.Space, suggestFrom)
	if err != nil {
		return ""
	}
	recent = slices.DeleteFunc(recent, func(id c3po.AgentID) bool { return id == not })
	online := a.online(ctx, recent)
	if len(online) == 0 {
		return ""
	}
	return "Online now: " + quoteIDs(online[:min(len(online), maxOthers)])
}

// orOthers adds to the refusal of a message for an agent that is not there who else is.
func (a *Actor) orOthers(ctx context.Context, to c3po.AgentID, err error) error {
	var refusal *c3po.Error
	if !errors.Is(err, c3po.AgentUnavailable) || !errors.As(err, &refusal) {
		return err
	}
	id, failed := a.findAgent(ctx, to)
	if failed != nil || id == "" {
		return err
	}
	record, failed := a.record(ctx, id)
	if failed != nil {
		return err
	}
	others := a.suggestOthers(ctx, record)
	if others == "" {
		others = a.otherwise(ctx, record.ID)
	}
	if others != "" {
		return refusal.Suggest("%s %s.", refusal.Suggestion, others)
	}
	return err
}

// absence is what a receipt says of a recipient that does not read soon.
func (a *Actor) absence(ctx context.Context, to store.Record) string {
	why := prospect(to)
	if why == "" && to.Availability == c3po.Away {
		why = fmt.Sprintf("'%s' has said that it is away", to.ID)
	}
	if why == "" || isAvailable(to) {
		return why
	}
	return sentences(why, a.suggestOthers(ctx, to))
}
