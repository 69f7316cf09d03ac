package hub

import (
	"context"
	"fmt"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// A roomAudit compares what is kept of rooms in several places: the members of
// each, the cursors of each agent, the rooms its record names, and the counts.
type roomAudit struct {
	store    store.Store
	space    c3po.Space
	cursors  map[c3po.RoomName]int // how many agents have one there
	rooms    int64
	problems []string
}

func (s spaceHub) auditRooms(ctx context.Context) (rooms int64, problems []string, err error) {
	audit := &roomAudit{store: s.hub.store, space: s.space, cursors: map[c3po.RoomName]int{}}
	if err := audit.agents(ctx); err != nil {
		return 0, nil, err
	}
	if err := audit.checkRetired(ctx); err != nil {
		return 0, nil, err
	}
	if err := audit.members(ctx); err != nil {
		return 0, nil, err
	}
	for room, n := range audit.cursors {
		audit.report("%d agents have a cursor in the room %s, which does not exist", n, room)
	}
	slices.Sort(audit.problems)
	return audit.rooms, audit.problems, nil
}

func (r *roomAudit) report(words string, values ...any) {
	r.problems = append(r.problems, fmt.Sprintf(words, values...))
}

// agents holds the rooms that records name against the cursors.
func (r *roomAudit) agents(ctx context.Context) error {
	for after := int64(0); ; {
		records, err := r.store.AgentPage(ctx, r.space, after, auditPage)
		if err != nil || len(records) == 0 {
			return err
		}
		for _, record := range records {
			after = record.RegSeq
			rooms, err := r.store.RoomsOf(ctx, r.space, record.ID)
			if err != nil {
				return err
			}
			for _, room := range rooms {
				r.cursors[room]++
			}
			if !slices.Equal(rooms, record.Rooms) {
				r.report("'%s' has cursors in the rooms %v, but is listed in %v", record.ID, rooms, record.Rooms)
			}
		}
	}
}

// checkRetired agents have left all rooms.
func (r *roomAudit) checkRetired(ctx context.Context) error {
	for skip := 0; ; {
		ids, err := r.store.Retired(ctx, r.space, skip, auditPage)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			rooms, err := r.store.RoomsOf(ctx, r.space, id)
			if err != nil {
				return err
			}
			if len(rooms) > 0 {
				r.report("'%s' was retired and has cursors in the rooms %v", id, rooms)
			}
		}
		skip += len(ids)
	}
}

// members holds those of each room against their records, and their number
// against what the room says and against the cursors.
func (r *roomAudit) members(ctx context.Context) error {
	for after := int64(0); ; {
		names, last, err := r.store.RoomPage(ctx, r.space, after, auditPage)
		if err != nil || len(names) == 0 {
			return err
		}
		after = last
		rooms, err := r.store.Rooms(ctx, r.space, "", names)
		if err != nil {
			return err
		}
		if len(rooms) < len(names) {
			r.report("of %d rooms that are listed %d exist", len(names), len(rooms))
		}
		for _, room := range rooms {
			n, err := r.membersOf(ctx, room.Name)
			if err != nil {
				return err
			}
			if n != room.Members || n != r.cursors[room.Name] {
				r.report("the room %s says it has %d members: %d are listed, and %d agents have a cursor there", room.Name, room.Members, n, r.cursors[room.Name])
			}
			delete(r.cursors, room.Name)
			r.rooms++
		}
	}
}

func (r *roomAudit) membersOf(ctx context.Context, room c3po.RoomName) (int, error) {
	n := 0
	for after := int64(0); ; {
		members, err := r.store.RoomMembers(ctx, r.space, room, after, auditPage)
		if err != nil || len(members) == 0 {
			return n, err
		}
		ids := make([]c3po.AgentID, len(members))
		for i, m := range members {
			ids[i], after = m.ID, m.Number
		}
		n += len(ids)
		records, err := r.store.Agents(ctx, r.space, ids)
		if err != nil {
			return 0, err
		}
		if len(records) < len(ids) {
			r.report("%d members of the room %s are no agents", len(ids)-len(records), room)
		}
		for _, record := range records {
			if !slices.Contains(record.Rooms, room) {
				r.report("'%s' is a member of the room %s and does not know it", record.ID, room)
			}
		}
	}
}
