package session

import (
	"context"
	"errors"
	"time"

	"github.com/c3po-dev/c3po"
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

// answers takes in that the model has answered.
func (c *conversation) answers() {
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
