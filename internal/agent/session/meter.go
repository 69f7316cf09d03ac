package session

import (
	"maps"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// usedEvery is how often a session that works on an answer reports what it has used.
	usedEvery = 10 * time.Second
	// countEvery is how often the transcript is looked at while there may be more.
	countEvery = 2 * time.Second
	// countAfter is how long after an answer the client may still write down what it was.
	countAfter = 10 * time.Second
	// maxSpans, maxRequests and maxTallies are how much is remembered of what was counted.
	maxSpans, maxRequests, maxTallies = 256, 1024, 256
)

// A meter adds up what the session uses for the messages that it works on: from when it
// was given one until it has answered. Each request counts once; messages that are open at
// the same time share it.
type meter struct {
	open     map[c3po.MessageID]bool
	held     map[c3po.MessageID]bool // left alone while the person's own turn goes on
	spans    []workSpan
	requests map[string]*counted
	order    []string // of requests
	tallies  map[c3po.MessageID]*tally

	ended    time.Time // when the last was answered
	looked   time.Time // when the transcript was last read
	reported time.Time
	wanted   bool // it should be read now
}

// A workSpan is from when on which messages were worked on.
type workSpan struct {
	from time.Time
	open []c3po.MessageID
}

// counted is a request and the messages that it was for.
type counted struct {
	usage c3po.Usage
	to    []c3po.MessageID
}

type tally struct {
	used, sent c3po.Usage
	shared     bool
}

func (m *meter) begins(id c3po.MessageID, now time.Time) {
	if m.open == nil {
		m.open, m.held = map[c3po.MessageID]bool{}, map[c3po.MessageID]bool{}
		m.requests, m.tallies = map[string]*counted{}, map[c3po.MessageID]*tally{}
	}
	delete(m.held, id)
	m.open[id] = true
	m.mark(now)
}

func (m *meter) ends(id c3po.MessageID, now time.Time) {
	if m.open[id] || m.held[id] {
		m.ended, m.wanted = now, true
	}
	delete(m.open, id)
	delete(m.held, id)
	m.mark(now)
}

// holds is the begin of a turn that the person has started.
func (m *meter) holds(now time.Time) {
	if len(m.open) > 0 {
		maps.Copy(m.held, m.open)
		clear(m.open)
		m.mark(now)
	}
}

// releases is the end of any turn.
func (m *meter) releases(now time.Time) {
	m.wanted = m.active(now)
	if len(m.held) > 0 {
		maps.Copy(m.open, m.held)
		clear(m.held)
		m.mark(now)
	}
}

func (m *meter) mark(now time.Time) {
	if len(m.spans) >= maxSpans {
		m.spans = slices.Delete(m.spans, 0, maxSpans/2)
	}
	m.spans = append(m.spans, workSpan{now, slices.Sorted(maps.Keys(m.open))})
}

// active says that there may be more to count.
func (m *meter) active(now time.Time) bool {
	return len(m.open) > 0 || !m.ended.IsZero() && now.Sub(m.ended) < countAfter
}

// due says that the transcript should be read.
func (m *meter) due(now time.Time) bool {
	return m.wanted || m.active(now) && now.Sub(m.looked) >= countEvery
}

// during is what was worked on at a time.
func (m *meter) during(at time.Time) []c3po.MessageID {
	for _, span := range slices.Backward(m.spans) {
		if !at.Before(span.from) {
			return span.open
		}
	}
	return nil
}

// count takes in requests. One that is known may have grown.
func (m *meter) count(requests []modelRequest) {
	for _, r := range requests {
		c := m.requests[r.id]
		if c == nil {
			c = &counted{to: m.during(r.at)}
			if len(c.to) == 0 {
				continue
			}
			m.remember(r.id, c)
		}
		before := c.usage
		c.usage = before.Plus(r.usage.Minus(before))
		for i, id := range c.to {
			t := m.tallies[id]
			if t == nil {
				t = &tally{}
				m.tallies[id] = t
			}
			t.used = t.used.Plus(part(c.usage, i, len(c.to)).Minus(part(before, i, len(c.to))))
			t.shared = t.shared || len(c.to) > 1
		}
	}
	if len(m.tallies) > maxTallies {
		maps.DeleteFunc(m.tallies, func(id c3po.MessageID, t *tally) bool { return !m.open[id] && !m.held[id] && t.used == t.sent })
	}
}

// countTurn takes in what a whole turn has used, of a client that says no more: it was for
// all messages that the turn has begun. Where requests were counted it is known better.
func (m *meter) countTurn(usage c3po.Usage) {
	if len(m.requests) > 0 {
		return
	}
	all := map[c3po.MessageID]bool{}
	for _, span := range m.spans {
		for _, id := range span.open {
			all[id] = true
		}
	}
	ids := slices.Sorted(maps.Keys(all))
	for i, id := range ids {
		m.tallies[id] = &tally{used: part(usage, i, len(ids)), shared: len(ids) > 1}
	}
}

func (m *meter) remember(id string, c *counted) {
	if len(m.order) >= maxRequests {
		for _, old := range m.order[:maxRequests/2] {
			delete(m.requests, old)
		}
		m.order = slices.Delete(m.order, 0, maxRequests/2)
	}
	m.requests[id] = c
	m.order = append(m.order, id)
}

// part is the share of one of n messages. All of them add up to the whole.
func part(u c3po.Usage, i, n int) c3po.Usage {
	of := func(whole int64) int64 { return (whole + int64(n-1-i)) / int64(n) }
	return c3po.Usage{
		InputTokens: of(u.InputTokens), OutputTokens: of(u.OutputTokens), CacheReadTokens: of(u.CacheReadTokens),
		CacheWriteTokens: of(u.CacheWriteTokens), MicroUSD: of(u.MicroUSD),
	}
}

// report is what should be reported now. While the session works on an answer that is not
// said for each step of it.
func (m *meter) report(now time.Time) []c3po.Used {
	if len(m.open) > 0 && now.Sub(m.reported) < usedEvery {
		return nil
	}
	var all []c3po.Used
	for _, id := range slices.Sorted(maps.Keys(m.tallies)) {
		if t := m.tallies[id]; t.used != t.sent && len(all) < c3po.DefaultLimits().BatchIDs {
			all = append(all, c3po.Used{MessageID: id, Usage: t.used, Shared: t.shared})
		}
	}
	if len(all) > 0 {
		m.reported = now
	}
	return all
}

// sent says that a report has arrived.
func (m *meter) sent(all []c3po.Used) {
	for _, u := range all {
		if t := m.tallies[u.MessageID]; t != nil {
			t.sent = u.Usage
		}
	}
}
