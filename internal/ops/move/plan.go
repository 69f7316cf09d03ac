package move

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
)

// A plan is what an import will do to one space. Making it changes nothing.
type plan struct {
	space   c3po.Space
	things  []store.Moved
	names   names
	origins []store.Origin // of the things, in their order
	rooms   map[c3po.RoomName]store.Origin
	posts   map[c3po.MessageID]store.Origin
	known   []string // what each thing is here already; empty if it is not
	summary Space
}

// A Space says what becomes of the things of one space.
type Space struct {
	Space   c3po.Space `json:"space"`
	New     Counts     `json:"new"`
	Already int        `json:"already"`           // things that an earlier import brought
	Agents  []Renaming `json:"agents,omitempty"`  // those that are called otherwise there
	Rooms   []Renaming `json:"rooms,omitempty"`   // those whose name another room has there
	Numbers int        `json:"numbers,omitempty"` // messages whose number another one has there: they get another
}

// A Renaming is what something was called and is called there.
type Renaming struct {
	Was string `json:"was"`
	Is  string `json:"is"`
}

func makePlan(ctx context.Context, redis *redisstore.Store, space c3po.Space, things []store.Moved, host string) (*plan, error) {
	p := &plan{
		space: space, things: things, summary: Space{Space: space}, rooms: map[c3po.RoomName]store.Origin{}, posts: map[c3po.MessageID]store.Origin{},
		names: names{host: host, rooms: map[c3po.RoomName]c3po.RoomName{}, ids: map[c3po.MessageID]c3po.MessageID{}},
	}
	for _, m := range things {
		p.origins = append(p.origins, p.origin(m))
	}
	var err error
	if p.known, err = redis.Origins(ctx, space, p.origins); err != nil {
		return nil, err
	}
	if err := p.nameRooms(ctx, redis); err != nil {
		return nil, err
	}
	if err := p.number(ctx, redis); err != nil {
		return nil, err
	}
	for i, m := range things {
		if p.known[i] != "" {
			p.summary.Already++
			continue
		}
		p.summary.New.add(m)
		if m.Agent != nil {
			if is := p.names.agent(m.Agent.ID); is != m.Agent.ID {
				p.summary.Agents = append(p.summary.Agents, Renaming{string(m.Agent.ID), string(is)})
			}
		}
	}
	return p, nil
}

// origin is what the store will remember a thing by. Rooms and posts come before
// the members that speak of them.
func (p *plan) origin(m store.Moved) store.Origin {
	switch {
	case m.Agent != nil:
		return p.names.originOfAgent(m.Agent.ID)
	case m.Room != nil:
		p.rooms[m.Room.Name] = p.names.originOfRoom(*m.Room)
		return p.rooms[m.Room.Name]
	case m.Post != nil:
		p.posts[m.Post.ID] = p.names.originOf(m.Post.ID, m.Post.Accepted)
		return p.posts[m.Post.ID]
	case m.Member != nil:
		return p.names.originOfMember(p.rooms[m.Member.Room], m.Member.Agent)
	default:
		return p.names.originOf(m.Message.ID, m.Message.Accepted)
	}
}

// nameRooms finds a name for rooms whose own is taken: what was said among
// some is not to be read by others, because both called their room alike.
func (p *plan) nameRooms(ctx context.Context, redis *redisstore.Store) error {
	for i, m := range p.things {
		if m.Room == nil {
			continue
		}
		name := m.Room.Name
		if p.known[i] != "" {
			p.names.rooms[name] = c3po.RoomName(p.known[i])
			continue
		}
		other := p.names.roomNameBeside(name)
		found, err := redis.Rooms(ctx, p.space, "", []c3po.RoomName{name, other})
		if err != nil {
			return err
		}
		switch {
		case len(found) == 0 || len(found) == 1 && found[0].Name == other:
		case len(found) == 1:
			p.names.rooms[name] = other
			p.summary.Rooms = append(p.summary.Rooms, Renaming{string(name), string(other)})
		default:
			return c3po.Errorf(c3po.InvalidRequest, "there are rooms %s and %s in space %s already", name, other, p.space).
				Suggest("Take the agents in under another name with --as-host: the room is called after it.")
		}
	}
	return nil
}

// number finds numbers for messages whose own is taken in their mailbox. That
// happens where mailboxes are shared: a person's, and those of roles.
func (p *plan) number(ctx context.Context, redis *redisstore.Store) error {
	taken := map[c3po.AgentID]map[string]bool{}
	for i, m := range p.things {
		if m.Message == nil {
			continue
		}
		was := m.Message.ID
		if p.known[i] != "" {
			p.names.ids[was] = c3po.MessageID(p.known[i])
			continue
		}
		from, to, number := p.names.plain(was).Split()
		if taken[to] == nil {
			taken[to] = map[string]bool{}
			numbers, err := redis.Numbers(ctx, p.space, to)
			if err != nil {
				return err
			}
			for _, n := range numbers {
				taken[to][n] = true
			}
		}
		for tries := 0; taken[to][number]; tries++ {
			// The same at every try, so that an import that was cut off goes on.
			sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", p.origins[i], tries))
			number = hex.EncodeToString(sum[:4])
		}
		taken[to][number] = true
		if is := c3po.NewMessageID(from, to, number); is != p.names.plain(was) {
			p.names.ids[was] = is
			p.summary.Numbers++
		}
	}
	return nil
}

// carryOut imports what is not here yet, in the order of the file, and gives the
// ids of the messages it stored.
func (p *plan) carryOut(ctx context.Context, redis *redisstore.Store) ([]c3po.MessageID, error) {
	var stored []c3po.MessageID
	for i, m := range p.things {
		if p.known[i] != "" {
			continue
		}
		outcome, err := p.importOne(ctx, redis, p.origins[i], m)
		if err != nil {
			return stored, err
		}
		if outcome == store.ImportTaken {
			return stored, c3po.Errorf(c3po.InvalidRequest, "somebody took the name or the number of what was being imported (%s)", p.origins[i]).
				Suggest("Run the same command again: it goes on where it stopped.")
		}
		if m.Message != nil && outcome == store.Imported {
			stored = append(stored, p.names.message(m.Message.ID))
		}
	}
	return stored, nil
}

func (p *plan) importOne(ctx context.Context, redis *redisstore.Store, origin store.Origin, m store.Moved) (store.ImportOutcome, error) {
	switch {
	case m.Agent != nil:
		return redis.ImportAgent(ctx, p.space, origin, p.names.movedAgent(*m.Agent))
	case m.Room != nil:
		return redis.ImportRoom(ctx, p.space, origin, p.names.movedRoom(*m.Room))
	case m.Post != nil:
		return redis.ImportPost(ctx, p.space, origin, p.names.movedPost(*m.Post))
	case m.Member != nil:
		var skips []store.Origin
		for _, id := range m.Member.Skips {
			skips = append(skips, p.posts[id])
		}
		return redis.ImportMember(ctx, p.space, origin, p.names.room(m.Member.Room), p.names.agent(m.Member.Agent), p.posts[m.Member.Read], m.Member.Notify, skips)
	default:
		return redis.ImportMessage(ctx, p.space, origin, p.names.movedMessage(*m.Message))
	}
}
