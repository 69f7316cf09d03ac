package move

import (
	"fmt"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// names are what the things of one space are called where they go.
type names struct {
	host  string
	rooms map[c3po.RoomName]c3po.RoomName   // those with another name
	ids   map[c3po.MessageID]c3po.MessageID // those with another number, and those imported before
}

// agent is what an agent is called there. People, the system and roles are the
// same everywhere, and who has a host keeps it.
func (n names) agent(id c3po.AgentID) c3po.AgentID {
	if id == "" || id.Host() != "" || id.Reserved() {
		return id
	}
	return c3po.AgentID(n.host + "/" + string(id))
}

func (n names) agents(ids []c3po.AgentID) []c3po.AgentID {
	var all []c3po.AgentID
	for _, id := range ids {
		all = append(all, n.agent(id))
	}
	return all
}

func (n names) room(name c3po.RoomName) c3po.RoomName {
	if other, ok := n.rooms[name]; ok {
		return other
	}
	return name
}

// message is the id of a message there: its number stays, unless that was taken.
func (n names) message(id c3po.MessageID) c3po.MessageID {
	if id == "" {
		return ""
	}
	if other, ok := n.ids[id]; ok {
		return other
	}
	return n.plain(id)
}

// plain is message for one whose number is free.
func (n names) plain(id c3po.MessageID) c3po.MessageID {
	from, to, hex := id.Split()
	if room := to.Room(); room != "" {
		return c3po.NewMessageID(n.agent(from), n.room(room).Address(), hex)
	}
	return c3po.NewMessageID(n.agent(from), n.agent(to), hex)
}

// thread is what a conversation is called there. Most have the id of their first
// message; a name that somebody chose stays.
func (n names) thread(name string) string {
	if id, err := c3po.ParseMessageID(name); err == nil {
		return string(n.message(id))
	}
	return name
}

// formerNames are the names by which ids speak of an agent: those it had, as they
// were there and as they are here.
func (n names) formerNames(a store.MovedAgent) []c3po.AgentID {
	var all []c3po.AgentID
	known := map[c3po.AgentID]bool{n.agent(a.ID): true}
	for _, was := range append([]c3po.AgentID{a.ID}, a.Former...) {
		for _, name := range []c3po.AgentID{was, n.agent(was)} {
			if !known[name] {
				known[name] = true
				all = append(all, name)
			}
		}
	}
	return all
}

func (n names) movedAgent(a store.MovedAgent) store.MovedAgent {
	a.Former = n.formerNames(a)
	var asks []c3po.MessageID
	for _, id := range a.Asks {
		asks = append(asks, n.message(id))
	}
	a.ID, a.Asks = n.agent(a.ID), asks
	return a
}

func (n names) movedRoom(r store.MovedRoom) store.MovedRoom {
	r.Name, r.Creator, r.Invited = n.room(r.Name), n.agent(r.Creator), n.agents(r.Invited)
	return r
}

func (n names) movedMessage(m store.MovedMessage) store.MovedMessage {
	m.ID, m.InReplyTo, m.Ticket = n.message(m.ID), n.message(m.InReplyTo), n.message(m.Ticket)
	m.Thread, m.Chain, m.HandedFrom, m.Body = n.thread(m.Thread), n.thread(m.Chain), n.agent(m.HandedFrom), n.body(m.Body)
	var answers []c3po.Answered
	for _, a := range m.Answers {
		a.ID, a.MovedTo = n.message(a.ID), n.message(a.MovedTo)
		answers = append(answers, a)
	}
	m.Answers = answers
	if m.Claim != nil {
		m.Claim = &c3po.Claim{By: n.agent(m.Claim.By), At: m.Claim.At}
	}
	return m
}

func (n names) movedPost(p store.MovedPost) store.MovedPost {
	p.ID, p.Mailed, p.Body = n.message(p.ID), n.agents(p.Mailed), n.body(p.Body)
	return p
}

func (n names) body(b store.MovedBody) store.MovedBody {
	b.HandedTo, b.Room = n.agent(b.HandedTo), n.room(b.Room)
	return b
}

// Origins: what the store remembers things by. They are of a host; a message
// has its time beside its id, and a room that of its making, because a
// coordinator that began anew gives the same ids again.

func (n names) originOfAgent(id c3po.AgentID) store.Origin {
	return store.Origin(fmt.Sprintf("agent %s", n.agent(id)))
}

func (n names) originOfRoom(r store.MovedRoom) store.Origin {
	return store.Origin(fmt.Sprintf("room %s %s@%d", n.host, r.Name, r.Created.UnixMilli()))
}

func (n names) originOf(id c3po.MessageID, accepted time.Time) store.Origin {
	return store.Origin(fmt.Sprintf("%s %s@%d", n.host, id, accepted.UnixMilli()))
}

func (n names) originOfMember(room store.Origin, id c3po.AgentID) store.Origin {
	return store.Origin(fmt.Sprintf("member %s of %s", n.agent(id), room))
}

// roomNameBeside is what a room is called where another has its name.
func (n names) roomNameBeside(name c3po.RoomName) c3po.RoomName {
	const most = 64
	other := strings.ToLower(n.host) + "-" + string(name)
	return c3po.RoomName(other[:min(len(other), most)])
}
