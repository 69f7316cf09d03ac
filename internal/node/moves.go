package node

import (
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// Moved says that the store may have let go of the agent: it was registered anew or
// unregistered. Its next wait is recorded again; for a closed session this one is.
func (p *Presence) Moved(space c3po.Space, id c3po.AgentID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := agentKey{space, id}
	if held := p.attached[key]; held != nil {
		held.stored = false
		p.tryAgain(key, held)
	}
}

// tryAgain has the host of a closed session recorded again before its next wait. It waits on
// while another run has the name, and nothing says when that one falls silent. It is called
// with the lock held.
func (p *Presence) tryAgain(key agentKey, held *attachment) {
	if held.state == c3po.SessionClosed {
		p.writeLater(key, held)
	}
}

// writeLater has an agent that waits recorded again, though no other wait of it may follow
// for an hour. It is called with the lock held.
func (p *Presence) writeLater(key agentKey, held *attachment) {
	if len(held.waits) > 0 && !held.tries {
		held.tries = true
		p.leaving = append(p.leaving, departure{key, time.Now().Add(linger)})
	}
}

// standInFor is how long a session that has closed counts as attended to by its host, which
// waits for its client to end before it waits for mail.
const standInFor = 5 * time.Second

// Node is what this node is called in the store.
func (p *Presence) Node() string { return p.node }

// StandIn says that the session of an agent has ended and that its host will wait here or
// elsewhere in its place, as the store has just written down.
func (p *Presence) StandIn(space c3po.Space, id c3po.AgentID) {
	key, by := agentKey{space, id}, Wait{State: c3po.SessionClosed}
	p.mu.Lock()
	defer p.mu.Unlock()
	held := p.hold(key)
	held.waits = append(held.waits, by)
	held.settle()
	// A wait of the ended session may take a moment to end, too.
	held.stored = held.state == c3po.SessionClosed
	time.AfterFunc(standInFor, func() { p.leave(key, held, by, false, false) })
}

// DropSpace is moved for every agent of a space.
func (p *Presence) DropSpace(space c3po.Space) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, held := range p.attached {
		if key.space == space {
			held.stored = false
		}
	}
}
