package session

import (
	"math"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// takeCount takes in what a client says that it has used, in the place of a transcript.
func (s *Server) takeCount(event hook.Event) {
	if event.Used == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, now := &s.conversation.meter, time.Now()
	if event.Used.Request == "" {
		m.countTurn(usageOf(*event.Used))
	} else {
		m.count([]modelRequest{{event.Used.Request, afterMilli(event.Used.At), usageOf(*event.Used)}})
	}
	m.wanted = m.wanted || m.active(now)
	s.reportSoon()
}

// usageOf reads a client's numbers, of which none may be less than nothing.
func usageOf(u hook.Used) c3po.Usage {
	within := func(n int64) int64 { return min(max(0, n), c3po.MaxUsage) }
	return c3po.Usage{
		InputTokens: within(u.Input), OutputTokens: within(u.Output), CacheReadTokens: within(u.CacheRead), CacheWriteTokens: within(u.CacheWrite),
		MicroUSD: within(int64(math.Round(min(max(0, u.USD)*1e6, c3po.MaxUsage)))),
	}
}
