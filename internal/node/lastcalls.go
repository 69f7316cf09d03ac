package node

import (
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// lateMargin is how long before the store would take an agent for offline it hears
	// of a later call: a flush, and a slow step.
	lateMargin = 3 * time.Second
)

// LastCalls remembers when agents last called here. The store hears of a call now and
// then, and of the last one just before it would take the agent for offline: so a
// state that depends on it is never wrong, and reads cost no write each.
type LastCalls struct {
	limits c3po.Limits
	// elapsed is the time that has passed for this process. The wall clock can be set back.
	elapsed func() time.Duration
	mu      sync.Mutex
	of      map[agentKey]*lastCall
	// due holds agents by the second at which the store must hear of what it has not.
	due   map[int64][]agentKey
	asked int64 // every second up to this was looked at
}

type lastCall struct {
	shown  time.Time // at, by the wall clock
	at     time.Duration
	stored time.Duration // the call the store knows of
	lasts  time.Duration
}

// NewLastCalls remembers no call yet.
func NewLastCalls(limits c3po.Limits) *LastCalls {
	began := time.Now()
	return &LastCalls{
		limits: limits, elapsed: func() time.Duration { return time.Since(began) },
		of: map[agentKey]*lastCall{}, due: map[int64][]agentKey{},
	}
}

// Record notes a call, and whether the store hears of it anyway.
func (c *LastCalls) Record(space c3po.Space, id c3po.AgentID, heartbeat int, stored bool) {
	key := agentKey{space, id}
	c.mu.Lock()
	defer c.mu.Unlock()
	now, lasts := c.elapsed(), store.OnlineFor(c.limits, heartbeat)
	call := c.of[key]
	if call == nil {
		call = &lastCall{stored: now}
		c.of[key] = call
		c.plan(key, now+lasts)
	}
	call.shown, call.at, call.lasts = time.Now(), now, lasts
	if stored {
		call.stored = now
	}
}

// plan is called with the lock held: by then the store must know.
func (c *LastCalls) plan(key agentKey, end time.Duration) {
	second := max(latest(end), c.asked+1)
	c.due[second] = append(c.due[second], key)
}

// latest is the last second at which the store can hear that an agent is online beyond end.
func latest(end time.Duration) int64 { return int64((end - lateMargin) / time.Second) }

// last is when an agent last called here; zero if that is forgotten.
func (c *LastCalls) last(key agentKey) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.of[key]; call != nil {
		return call.shown
	}
	return time.Time{}
}

// takeDue takes the calls that the store must hear of now, by how long ago they were; with
// all, every one it has not heard of.
func (c *LastCalls) takeDue(all bool) map[agentKey]time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, late := c.elapsed(), map[agentKey]time.Duration{}
	if all {
		for key, call := range c.of {
			if call.at > call.stored {
				late[key], call.stored = now-call.at, call.at
			}
		}
		return late
	}
	for ; c.asked < int64(now/time.Second); c.asked++ {
		second := c.asked + 1
		for _, key := range c.due[second] {
			call := c.of[key]
			if call == nil {
				continue
			}
			switch end := call.stored + call.lasts; {
			case latest(end) > second:
				c.plan(key, end) // the store heard of a later call meanwhile
			case call.at > call.stored:
				late[key], call.stored = now-call.at, call.at
				c.plan(key, call.at+call.lasts)
			default:
				delete(c.of, key) // silent for so long that its next call is noted at once
			}
		}
		delete(c.due, second)
	}
	return late
}
