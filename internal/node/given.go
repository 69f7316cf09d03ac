package node

import (
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

type readerKey struct {
	space  c3po.Space
	owner  c3po.AgentID // of the mailbox
	reader string
}

func keyOf(space c3po.Space, note store.ServedNote) readerKey {
	_, owner, _ := note.ID.Split()
	return readerKey{space, owner, note.Reader}
}

type sessionKey struct {
	agent  c3po.AgentID
	reader string
}

type givenMail struct {
	mail []given
	used time.Time
}

type given struct {
	id     c3po.MessageID
	cursor int64
	seq    int64 // of a post
}

func (g *givenMail) holds(id c3po.MessageID) bool {
	return slices.ContainsFunc(g.mail, func(m given) bool { return m.id == id })
}

func (g *givenMail) drop(id c3po.MessageID) {
	g.mail = slices.DeleteFunc(g.mail, func(m given) bool { return m.id == id })
}

// remember is called with the lock held.
func (n *Notes) remember(key readerKey, m given) {
	g := n.given[key]
	if g == nil {
		g = &givenMail{}
		n.given[key] = g
	}
	g.used = time.Now()
	g.drop(m.id)
	if len(g.mail) == maxGiven {
		g.mail = slices.Delete(g.mail, 0, 1)
	}
	g.mail = append(g.mail, m)
}

// AddLook notes how far a reader that names no position was given all its mail, if
// finding that out was dear. What was found now is not given yet.
func (n *Notes) AddLook(space c3po.Space, agent c3po.AgentID, reader string, next store.NextMessage) {
	seq := next.Seq
	if next.Entry != nil {
		seq = min(seq, next.Entry.Message.Seq-1)
	}
	if next.Looked <= manyLooked {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.of(space).pass(store.GivenNote{Agent: agent, Reader: reader, Seq: seq})
}

func (u *unwritten) pass(note store.GivenNote) {
	if key := (sessionKey{note.Agent, note.Reader}); note.Seq > u.passed[key].Seq {
		u.passed[key] = note
	}
}

// GivenTo lists what the store may not yet know this reader to have. A reader
// that says where it is never got the answers that told it a later position.
func (n *Notes) GivenTo(space c3po.Space, agent c3po.AgentID, reader string, after *int64) []c3po.MessageID {
	n.mu.Lock()
	defer n.mu.Unlock()
	g := n.given[readerKey{space, agent, reader}]
	if g == nil {
		return nil
	}
	var ids []c3po.MessageID
	for _, m := range g.mail {
		if after == nil || m.cursor <= *after {
			ids = append(ids, m.id)
		}
	}
	return ids
}

// forgetGiven drops what the store knows by now.
func (n *Notes) forgetGiven(space c3po.Space, written []store.ServedNote) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, note := range written {
		key := keyOf(space, note)
		g := n.given[key]
		if g == nil {
			continue
		}
		g.drop(note.ID)
		if len(g.mail) == 0 {
			delete(n.given, key)
		}
	}
}
