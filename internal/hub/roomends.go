package hub

import (
	"context"
	"errors"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// pruneAfter is how long a member may be silent before it counts as dead.
	pruneAfter = 24 * time.Hour
	// pruneEmptyAfter is how long a room may be empty and silent before it is over.
	pruneEmptyAfter = 30 * 24 * time.Hour
	prunePage       = 200
)

// RoomEnd ends a room: its members leave it, and its history is forgotten. Only a person
// or the room's creator may. If the call is cut off half-way, the next one finishes it.
func (a *Actor) RoomEnd(ctx context.Context, in c3po.RoomInput) (c3po.RoomEnded, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.RoomEnded{}, err
	}
	record, err := a.rooms.find(ctx, in.Room)
	if err != nil {
		return c3po.RoomEnded{}, err
	}
	step := store.EndRoomStep{Room: in.Room, By: a.id, Run: a.caller.Run, Outside: a.caller.Person()}
	for {
		// The store says whether the caller may, before anybody is evicted.
		outcome, err := a.hub.store.EndRoom(ctx, a.space, step)
		if err != nil {
			return c3po.RoomEnded{}, a.dropIfSuperseded(err)
		}
		if outcome == store.EndDone {
			break
		}
		if err := a.evictAll(ctx, in.Room); err != nil {
			return c3po.RoomEnded{}, err
		}
	}
	a.hub.marks.Touch(a.space, 0)
	a.tell(ctx, c3po.EventRoomEnded, "", "")
	return c3po.RoomEnded{Room: in.Room, Members: record.Members, Posts: record.Posts}, nil
}

func (s spaceHub) evictAll(ctx context.Context, name c3po.RoomName) error {
	for {
		members, err := s.hub.store.RoomMembers(ctx, s.space, name, 0, prunePage)
		if err != nil || len(members) == 0 {
			return err
		}
		for _, m := range members {
			if _, err := s.hub.store.Leave(ctx, s.space, name, m.ID, ""); err != nil {
				return err
			}
			s.tell(ctx, c3po.EventLeft, m.ID, "")
		}
	}
}

// RoomPrune removes silent members from rooms, or with Empty ends rooms that are empty
// and silent. Mail is not touched, and an agent that comes back may join again.
func (a *Actor) RoomPrune(ctx context.Context, in c3po.RoomPruneInput) (c3po.RoomPruned, error) {
	if in.Older < 0 {
		return c3po.RoomPruned{}, refuse("older cannot be negative")
	}
	silent := time.Duration(in.Older) * time.Second
	switch {
	case silent == 0 && in.Empty:
		silent = pruneEmptyAfter
	case silent == 0:
		silent = pruneAfter
	}
	now, err := a.hub.store.Now(ctx)
	if err != nil {
		return c3po.RoomPruned{}, err
	}
	pruning := &pruning{
		me: &a.identity, before: now.Add(-silent), silent: silent,
		out: c3po.RoomPruned{Evicted: []c3po.Eviction{}, Ended: []c3po.RoomName{}, DryRun: in.DryRun},
	}
	each := pruning.room
	if in.Empty {
		each = pruning.end
	}
	if in.Room != "" {
		if _, err := a.rooms.find(ctx, in.Room); err != nil {
			return c3po.RoomPruned{}, err
		}
		return pruning.result(ctx, each(ctx, in.Room))
	}
	for after := int64(0); ; {
		names, last, err := a.hub.store.RoomPage(ctx, a.space, after, prunePage)
		if err != nil || len(names) == 0 {
			return pruning.result(ctx, err)
		}
		for _, name := range names {
			if err := each(ctx, name); err != nil {
				return pruning.result(ctx, err)
			}
		}
		after = last
	}
}

// A pruning goes through rooms once.
type pruning struct {
	me     *identity
	before time.Time // a member seen after this stays
	silent time.Duration
	out    c3po.RoomPruned
}

// result is what was done, also if it failed half-way.
func (p *pruning) result(ctx context.Context, err error) (c3po.RoomPruned, error) {
	if err != nil && (p.out.DryRun || len(p.out.Evicted)+len(p.out.Ended) == 0) {
		return c3po.RoomPruned{}, err
	}
	p.out.Notice = p.me.stoppedAt(ctx, err)
	return p.out, nil
}

func (p *pruning) room(ctx context.Context, name c3po.RoomName) error {
	kept, space := p.me.hub.store, p.me.space
	for after := int64(0); ; {
		members, err := kept.RoomMembers(ctx, space, name, after, prunePage)
		if err != nil || len(members) == 0 {
			return err
		}
		ids := make([]c3po.AgentID, len(members))
		for i, m := range members {
			ids[i], after = m.ID, m.Number
		}
		records, err := kept.Agents(ctx, space, ids)
		if err != nil {
			return err
		}
		known := map[c3po.AgentID]store.Record{}
		for _, r := range records {
			known[r.ID] = r
		}
		for _, id := range ids {
			r, ok := known[id]
			if ok && (r.Online || r.Seen.After(p.before)) {
				continue
			}
			eviction := c3po.Eviction{Room: name, Agent: id, LastSeen: r.Seen}
			if !p.out.DryRun {
				if _, err := kept.Leave(ctx, space, name, id, ""); err != nil {
					return err
				}
				p.me.tell(ctx, c3po.EventLeft, id, "")
			}
			p.out.Evicted = append(p.out.Evicted, eviction)
		}
	}
}

// end ends a room that is empty and was silent for long enough.
func (p *pruning) end(ctx context.Context, name c3po.RoomName) error {
	kept, space := p.me.hub.store, p.me.space
	if p.out.DryRun {
		books, err := kept.Counters(ctx, space)
		if err != nil {
			return err
		}
		records, err := kept.Rooms(ctx, space, "", []c3po.RoomName{name})
		if err == nil && len(records) > 0 && store.RoomOver(c3po.Limits{RoomLife: p.silent}, books.Lived, records[0]) {
			p.out.Ended = append(p.out.Ended, name)
		}
		return err
	}
	outcome, err := kept.EndRoom(ctx, space, store.EndRoomStep{Room: name, Outside: true, Silent: p.silent})
	if errors.Is(err, c3po.InvalidRequest) {
		return nil // it has ended meanwhile
	}
	if err == nil && outcome == store.EndDone {
		p.me.tell(ctx, c3po.EventRoomEnded, "", "")
		p.out.Ended = append(p.out.Ended, name)
	}
	return err
}
