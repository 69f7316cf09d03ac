package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	suggestClose  = 3
	suggestOnline = 5
	// suggestFrom bounds how many agents are looked at for a suggestion.
	suggestFrom = 20
)

// deliver sends to the exact id, or if no agent has it to the agent that a bare name
// means.
func (o outbox) deliver(ctx context.Context, step store.SendStep) (store.Stored, error) {
	target := step.To
	stored, err := o.hub.store.Send(ctx, o.space, step)
	if target.Host() == "" && stored.Meant.Host() != "" && stored.Meant.Name() == target.Name() {
		// The key of a repeat belongs to the id that the bare name meant the first time.
		target, step.To = stored.Meant, stored.Meant
		stored, err = o.hub.store.Send(ctx, o.space, step)
	}
	unknown := errors.Is(err, c3po.AgentNotFound)
	// A repeat whose record is gone may have moved with its recipient.
	for range maxRenamings {
		if !errors.Is(err, c3po.AgentNotFound) && !(err == nil && stored.Repeat && stored.Message.BodyGone) {
			break
		}
		now, answers, lookup := o.hub.store.Renamed(ctx, o.space, target)
		if lookup != nil || now == "" || now == step.To || !answers {
			break
		}
		step.To, step.Asked = now, target
		stored, err = o.hub.store.Send(ctx, o.space, step)
	}
	if step.Asked != "" {
		return stored, o.dropIfSuperseded(err)
	}
	if !unknown {
		return stored, o.dropIfSuperseded(err)
	}
	elsewhere, lookup := o.people.elsewhere(ctx, target)
	if lookup == nil && elsewhere == "" {
		lookup = o.people.noAgent(ctx, target)
	}
	if lookup != nil {
		return store.Stored{}, store.NothingStored(step.Key, lookup) // which Send has found out
	}
	step.To = elsewhere
	step.Alias = o.id.Host() + "|" + target.Name()
	stored, err = o.hub.store.Send(ctx, o.space, step)
	return stored, o.dropIfSuperseded(err)
}

// elsewhere finds the agent a bare name means when it is not a whole id: the one on the
// caller's host, else the only one of that name. It is empty if there is no such agent,
// and an error if there are several.
func (d directory) elsewhere(ctx context.Context, target c3po.AgentID) (c3po.AgentID, error) {
	if target.Host() != "" || target.Reserved() {
		return "", nil
	}
	if host := d.host(); host != "" {
		near := c3po.AgentID(host + "/" + target.Name())
		records, err := d.hub.store.Agents(ctx, d.space, []c3po.AgentID{near})
		if err != nil {
			return "", err
		}
		if len(records) > 0 {
			return near, nil
		}
	}
	named, err := d.hub.store.Named(ctx, d.space, target.Name(), suggestOnline+1)
	if err != nil {
		return "", err
	}
	named = slices.DeleteFunc(named, func(id c3po.AgentID) bool { return id == target })
	switch len(named) {
	case 0:
		return "", nil
	case 1:
		return named[0], nil
	default:
		return "", c3po.Errorf(c3po.InvalidRequest, "several agents are called '%s': %s", target, quoteIDs(named[:min(len(named), suggestOnline)])).
			Suggest("Give the full id.")
	}
}

// briefFrom bounds how many agents a brief id is compared with.
const briefFrom = 200

// resolve is the agent that a text names by its full or brief id.
func (d directory) resolve(ctx context.Context, text string, parse func(string) (c3po.AgentID, error)) (c3po.AgentID, error) {
	name, brief := c3po.BriefName(text)
	if !brief {
		return parse(text)
	}
	near, err := d.hub.store.Neighbours(ctx, d.space, name, briefFrom)
	if err != nil {
		return "", d.dropIfSuperseded(err)
	}
	near = slices.DeleteFunc(near, func(id c3po.AgentID) bool { return id.Brief() != text })
	if len(near) != 1 {
		return "", store.RefuseNoBrief(text)
	}
	return near[0], nil
}

func (d directory) host() string {
	if d.id != "" {
		return d.id.Host()
	}
	return d.caller.ID.Host()
}

// noAgent is AGENT_NOT_FOUND with the agents that could have been meant. The names are
// only help, so a failure to find any is not reported.
func (d directory) noAgent(ctx context.Context, target c3po.AgentID) *c3po.Error {
	refusal := store.RefuseNoAgent(target)
	near, err := d.hub.store.Neighbours(ctx, d.space, target.Name(), suggestFrom)
	if err != nil {
		return refusal
	}
	recent, err := d.hub.store.Recent(ctx, d.space, suggestFrom)
	if err != nil {
		return refusal
	}
	var advice []string
	if close := closest(target, append(near, recent...)); len(close) > 0 {
		advice = append(advice, "Did you mean "+quoteIDs(close)+"?")
	}
	if online := d.online(ctx, recent); len(online) > 0 {
		advice = append(advice, "Online now: "+quoteIDs(online)+".")
	}
	advice = append(advice, "Call list_agents to see all.")
	return refusal.Suggest("%s", strings.Join(advice, " "))
}

func (d directory) online(ctx context.Context, ids []c3po.AgentID) []c3po.AgentID {
	records, err := d.hub.store.Agents(ctx, d.space, ids)
	if err != nil {
		return nil
	}
	var online []c3po.AgentID
	for _, record := range records {
		if status(record) == c3po.Online && record.ID != d.id && len(online) < suggestOnline {
			online = append(online, record.ID)
		}
	}
	return online
}

// closest picks the ids that differ from the target by a slip or two.
func closest(target c3po.AgentID, ids []c3po.AgentID) []c3po.AgentID {
	type candidate struct {
		id       c3po.AgentID
		distance int
	}
	slips := max(2, len(target.Name())/3)
	var candidates []candidate
	seen := map[c3po.AgentID]bool{target: true}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		// Case is what people get wrong most, so it weighs nothing here.
		distance := c3po.EditDistance(strings.ToLower(target.Name()), strings.ToLower(id.Name()))
		if distance <= slips {
			candidates = append(candidates, candidate{id, distance})
		}
	}
	slices.SortFunc(candidates, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(x.distance, y.distance), cmp.Compare(x.id, y.id))
	})
	var close []c3po.AgentID
	for _, c := range candidates[:min(len(candidates), suggestClose)] {
		close = append(close, c.id)
	}
	return close
}

func quoteIDs(ids []c3po.AgentID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = fmt.Sprintf("'%s'", id.Brief())
	}
	return strings.Join(words, ", ")
}

// find is the agent an id or a bare name means; empty if there is none.
func (d directory) find(ctx context.Context, id c3po.AgentID) (c3po.AgentID, error) {
	records, err := d.hub.store.Agents(ctx, d.space, []c3po.AgentID{id})
	if err != nil || len(records) > 0 {
		return id, err
	}
	return d.elsewhere(ctx, id)
}
