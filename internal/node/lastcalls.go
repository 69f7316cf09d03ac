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
	mu     sync.Mutex
	of     map[agentKey]*lastCall
	// due holds agents by the second at which the store must hear of what it has not.
	due   map[int64][]agentKey
	asked int64 // every second up to this was looked at
}

type lastCall struct {
	at     time.Time
	stored time.Time // the call the store knows of
	lasts  time.Duration
}

// NewLastCalls remembers no call yet.
func NewLastCalls(limits c3po.Limits) *LastCalls {
	return &LastCalls{limits: limits, of: map[agentKey]*lastCall{}, due: map[int64][]agentKey{}, asked: time.Now().Unix()}
}

// Record notes a call, and whether the store hears of it anyway.
func (c *LastCalls) Record(space c3po.Space, id c3po.AgentID, heartbeat int, stored bool) {
	key := agentKey{space, id}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.of[key]
	if call == nil {
		call = &lastCall{stored: now}
		c.of[key] = call
		c.plan(key, now.Add(store.OnlineFor(c.limits, heartbeat)))
	}
	call.at, call.lasts = now, store.OnlineFor(c.limits, heartbeat)
	if stored {
		call.stored = now
	}
}

// plan is called with the lock held: by then the store must know.
func (c *LastCalls) plan(key agentKey, end time.Time) {
	second := max(end.Add(-lateMargin).Unix(), c.asked+1)
	c.due[second] = append(c.due[second], key)
}

// last is when an agent last called here; zero if that is forgotten.
func (c *LastCalls) last(key agentKey) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.of[key]; call != nil {
		return call.at
	}
	return time.Time{}
}

// takeDue takes the calls that the store must hear of now; with all, every one it has
// not heard of.
func (c *LastCalls) takeDue(now time.Time, all bool) map[agentKey]time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	late := map[agentKey]time.Time{}
	if all {
		for key, call := range c.of {
			if call.at.After(call.stored) {
				late[key], call.stored = call.at, call.at
			}
		}
		return late
	}
	for ; c.asked < now.Unix(); c.asked++ {
		second := c.asked + 1
		for _, key := range c.due[second] {
			call := c.of[key]
			if call == nil {
				continue
			}
			switch end := call.stored.Add(call.lasts); {
			case end.Add(-lateMargin).Unix() > second:
				c.plan(key, end) // the store heard of a later call meanwhile
			case call.at.After(call.stored):
				late[key], call.stored = call.at, call.at
				c.plan(key, call.at.Add(call.lasts))
			default:
				delete(c.of, key) // silent for so long that its next call is noted at once
			}
		}
		delete(c.due, second)
	}
	return late
}
