package storetest

import (
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// rename gives an agent another name, now and then one that is not free. What a
// step may refer to is then also called by its new name.
func (d *comparison) rename(a *comparedSpace) {
	old := d.agent(a, "agent")
	run := d.run(a, old)
	new := draw(d, "new name", append([]c3po.AgentID{"b", "h/b", "c", "h/a"}, a.agents...))
	if new == old {
		return // the hub asks for no such thing
	}
	_, err := both(d, "rename", func(s store.Store) (struct{}, error) {
		return struct{}{}, s.Rename(d.ctx, a.space, old, new, run)
	})
	d.compareKeys(a, "a renaming")
	if err != nil {
		return
	}
	if !slices.Contains(a.agents, new) {
		a.agents = append(a.agents, new)
	}
	for _, id := range slices.Clone(a.mail) {
		from, to, hex := id.Split()
		if is := c3po.NewMessageID(from, new, hex); to == old && !slices.Contains(a.mail, is) {
			a.mail = append(a.mail, is)
		}
	}
	type answer struct {
		To      c3po.AgentID
		Answers bool
	}
	for _, id := range a.agents {
		_, _ = both(d, "renamed", func(s store.Store) (answer, error) {
			to, answers, err := s.Renamed(d.ctx, a.space, id)
			return answer{to, answers}, err
		})
	}
}

// today is a recipient by the name it has now, as the hub asks for it.
func (d *comparison) today(a *comparedSpace, in store.SendStep) store.SendStep {
	to, answers, err := d.model.Renamed(d.ctx, a.space, in.To)
	if records, _ := d.model.Agents(d.ctx, a.space, []c3po.AgentID{in.To}); err == nil && answers && len(records) == 0 {
		in.Asked, in.To = in.To, to
	}
	return in
}

// sender is who repeats a step: whoever sent it, by the name it has now.
func (d *comparison) sender(a *comparedSpace, from c3po.AgentID, run string) (c3po.AgentID, string) {
	if to, _, err := d.model.Renamed(d.ctx, a.space, from); err == nil && to != "" && d.oneIn(2, "by its new name") {
		return to, d.run(a, to)
	}
	return from, run
}
