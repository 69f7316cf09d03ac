package node

import (
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// A wait for an answer also looks when something happens to the agent that was
// asked. Such waits are kept apart from the waits of that agent itself, which
// are counted and have a limit.

// Follow makes the wait look when something happens to an agent, and no longer
// when it happens to the one it followed before.
func (w *Waiter) Follow(agent c3po.AgentID) {
	l := w.line
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.asked != agent {
		l.unfollow(w)
		w.asked = agent
		l.asked[agent] = append(l.asked[agent], w)
	}
}

// unfollow and wakeAsked are called with the lock held.
func (l *line) unfollow(w *Waiter) {
	if w.asked == "" {
		return
	}
	rest := slices.DeleteFunc(l.asked[w.asked], func(other *Waiter) bool { return other == w })
	if len(rest) == 0 {
		delete(l.asked, w.asked)
	} else {
		l.asked[w.asked] = rest
	}
	w.asked = ""
}

func (l *line) wakeAsked(agent c3po.AgentID) {
	for _, w := range l.asked[agent] {
		w.signal()
	}
	if agent != store.EverybodyAsked {
		return
	}
	for _, waiters := range l.asked {
		for _, w := range waiters {
			w.signal()
		}
	}
}

// concerns is the agent an event wakes; empty for a pause of the whole space.
func concerns(event c3po.Event) c3po.AgentID {
	if event.Agent == "" && (event.Kind == c3po.EventPaused || event.Kind == c3po.EventResumed) {
		return store.EverybodyAsked
	}
	return event.Agent
}

// Rename makes the wait one of the agent's new name.
func (w *Waiter) Rename(to c3po.AgentID) {
	l := w.line
	l.mu.Lock()
	defer l.mu.Unlock()
	old := w.about[0]
	if rest := slices.DeleteFunc(l.waiters[old], func(other *Waiter) bool { return other == w }); len(rest) > 0 {
		l.waiters[old] = rest
	} else {
		delete(l.waiters, old)
	}
	w.about[0] = to
	l.waiters[to] = append(l.waiters[to], w)
}
