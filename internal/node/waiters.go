package node

import (
	"slices"

	"github.com/c3po-dev/c3po/c3po"
)

// A Waiter is one wait. Its signal may come for nothing, never too rarely.
type Waiter struct {
	line  *line
	about []c3po.AgentID // the agent, then the queues it would take mail of
	woken chan struct{}  // holds one signal
	nth   int            // of the agent's waits here, when it began
	early bool           // looked before the subscription stood; guarded by line.mu
	posts bool           // it is woken by broadcasts; guarded by line.mu
	rooms []c3po.AgentID // that it is woken by; guarded by line.mu
	asked c3po.AgentID   // whose fate it follows as well; guarded by line.mu
	owed  []c3po.AgentID // queues whose wake it has, and passes on unless it takes mail of them; guarded by line.mu
}

// Join registers a wait. From then on, once stands is closed, nothing that
// happens to the agent goes unsignalled.
func (w *Wakes) Join(space c3po.Space, agent c3po.AgentID, queues ...c3po.AgentID) *Waiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.of(space).join(append([]c3po.AgentID{agent}, queues...))
}

func (l *line) join(about []c3po.AgentID) *Waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &Waiter{line: l, about: about, woken: make(chan struct{}, 1)}
	for _, id := range about {
		l.waiters[id] = append(l.waiters[id], w)
	}
	w.nth = len(l.waiters[about[0]])
	l.wakes.waiters.Add(1)
	l.addUser()
	return w
}

// Leave ends the wait.
func (w *Waiter) Leave() {
	l := w.line
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passOn(w)
	for i, id := range w.about {
		rest := slices.DeleteFunc(l.waiters[id], func(other *Waiter) bool { return other == w })
		if len(rest) == 0 {
			delete(l.waiters, id)
			continue
		}
		l.waiters[id] = rest
		if i > 0 {
			// What it took may be news for another wait of its agent.
			wakeFirst(rest)
		}
	}
	for _, room := range w.rooms {
		if delete(l.rooms[room], w); len(l.rooms[room]) == 0 {
			delete(l.rooms, room)
		}
	}
	l.unfollow(w)
	l.wakes.waiters.Add(-1)
	l.removeUser()
}

// Took says that the wait ends with mail of a queue, whose wake is used up by that.
func (w *Waiter) Took(queue c3po.AgentID) {
	w.line.mu.Lock()
	defer w.line.mu.Unlock()
	if i := slices.Index(w.owed, queue); i >= 0 {
		w.owed = slices.Delete(w.owed, i, i+1)
	}
}

// PassOn wakes the next wait for each queue whose mail this one was woken for and did not
// take: perhaps it sent that mail, or its agent is paused.
func (w *Waiter) PassOn() {
	w.line.mu.Lock()
	defer w.line.mu.Unlock()
	w.line.passOn(w)
}

// passOn is called with the lock held.
func (l *line) passOn(w *Waiter) {
	for _, queue := range w.owed {
		all := l.waiters[queue]
		if next := wakeFirst(all[slices.Index(all, w)+1:]); next != nil {
			next.owed = append(next.owed, queue)
		}
	}
	w.owed = nil
}

// Listen makes broadcasts and posts in these rooms wake the wait too. It says
// whether a room is new to it.
func (w *Waiter) Listen(rooms []c3po.AgentID) bool {
	l := w.line
	l.mu.Lock()
	defer l.mu.Unlock()
	w.posts = true
	more := false
	for _, room := range rooms {
		if slices.Contains(w.rooms, room) {
			continue
		}
		if l.rooms[room] == nil {
			l.rooms[room] = map[*Waiter]struct{}{}
		}
		l.rooms[room][w] = struct{}{}
		w.rooms, more = append(w.rooms, room), true
	}
	return more
}

// Subscribed is closed once nothing that happens goes unsignalled.
func (w *Waiter) Subscribed() <-chan struct{} { return w.line.stands }

// Signals holds one signal when it is time to look.
func (w *Waiter) Signals() <-chan struct{} { return w.woken }

// Place is how many waits the agent had here when this one began, itself included.
func (w *Waiter) Place() int { return w.nth }

// StartEarly says that the wait will look before the subscription stands, so
// it must be signalled once it does.
func (w *Waiter) StartEarly() {
	w.line.mu.Lock()
	defer w.line.mu.Unlock()
	w.early = true
}

func (w *Waiter) signal() {
	select {
	case w.woken <- struct{}{}:
	default: // it has a signal it has not looked at yet
	}
}
