package session

import (
	"context"
	"errors"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// A quota is what is known of the session's: that its model is refused to it until some
// time, and whether the coordinator knows. The zero value is a session whose model answers.
type quota struct {
	until    time.Time
	exact    bool // its provider has named that time
	evidence string
	report   bool // the coordinator is to be told
	looked   bool // its mail was looked at since that time came
}

// out says that the model is refused to the session.
func (q quota) out(now time.Time) bool { return now.Before(q.until) }

// refuse takes in that the session's turn was refused for its quota. Nothing starts another
// before again, or before the time that its provider has named. What the session had read
// and not answered is news to it then.
func (c *conversation) refuse(refusal hook.Refusal, again, now time.Time) {
	until, exact := refusal.Until, true
	switch {
	case !until.IsZero():
	case c.quota.exact && c.quota.out(now): // somebody has tried in between
		until = c.quota.until
	default:
		until, exact = again, false
	}
	c.quota = quota{until: until, exact: exact, evidence: refusal.Evidence, report: true}
	owed := c.inHand()
	c.memory = c.memory.Unread(owed...)
	c.rearm(owed)
	c.activity = c.activity.Fails(now, until)
}

// unnamedRefusal is for how long a session is out of quota whose client asks its model
// again by itself, and does not tell when.
const unnamedRefusal = 15 * time.Second

// minRefusal is the shortest time for which a refusal of the model is worth a word to
// others: clients try again by themselves after less.
const minRefusal = 5 * time.Second

// waitsOut takes in that the model is refused to the session for its quota, and that its
// client asks again by itself: the turn goes on.
func (c *conversation) waitsOut(refusal hook.Refusal, now time.Time) {
	until, exact := refusal.Until, true
	if until.IsZero() {
		until, exact = refusal.Again, false
	}
	if c.refusals++; until.IsZero() && c.refusals > 1 { // one alone may be a hiccup
		until = now.Add(unnamedRefusal)
	}
	known := c.quota.out(now) && (c.quota.exact || !until.After(c.quota.until))
	if until.Sub(now) < minRefusal || known && !exact {
		return
	}
	c.quota = quota{until: until, exact: exact, evidence: refusal.Evidence, report: true}
}

// refused is a request to the model that was refused, and that its client makes again.
func (s *Server) refused(event hook.Event) {
	now := time.Now()
	refusal, ok := event.RefusedForQuota(now)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conversation.waitsOut(refusal, now)
	s.reportSoon()
}

// answers takes in that the model has answered.
func (c *conversation) answers() {
	c.refusals = 0
	if !c.quota.until.IsZero() {
		c.quota = quota{report: true}
	}
}

// quotaReturns says, once, that the time has come at which the model answers again. What
// the mail is by then is to be looked at: others may have dealt with some of it.
func (s *Server) quotaReturns(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &s.conversation.quota
	if q.until.IsZero() || q.out(now) || q.looked {
		return false
	}
	q.looked = true
	return true
}

// sendQuota reports that the session is out of quota, or no longer is. A coordinator that
// is older than this refuses it.
func (s *Server) sendQuota(ctx context.Context) {
	s.mu.Lock()
	q := s.conversation.quota
	s.conversation.quota.report = false
	s.mu.Unlock()
	if !q.report {
		return
	}
	report := &c3po.QuotaReport{}
	if left := time.Until(q.until); left > 0 {
		report = &c3po.QuotaReport{RetryInMS: max(1, left.Milliseconds()), Exact: q.exact, Evidence: q.evidence}
	}
	_, err := s.to().Received(ctx, c3po.ReceivedInput{Quota: report})
	if err == nil || errors.Is(err, c3po.InvalidRequest) {
		return
	}
	s.log.InfoContext(ctx, "cannot report whether the session is out of quota", "err", err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conversation.quota.report = true
	time.AfterFunc(reportPause, s.reportAgain)
}
