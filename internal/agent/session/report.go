package session

import (
	"context"
	"errors"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// reportTimeout is how long one report may take.
	reportTimeout = 10 * time.Second
	// reportPause is how long after a failed report the next is made: the session may be
	// left alone for hours.
	reportPause = 5 * time.Second
)

// report tells the coordinator what the client has provably taken and been told.
func (s *Server) report(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.reportable:
		}
		limited, cancel := context.WithTimeout(ctx, reportTimeout)
		s.sendReport(limited)
		cancel()
	}
}

// reportSoon is called with the lock held.
func (s *Server) reportSoon() {
	if len(s.conversation.proved) == 0 && len(s.conversation.silent) == 0 && !s.conversation.quota.report && !s.conversation.stall.due() && s.conversation.told == 0 && !s.conversation.meter.due(time.Now()) {
		return
	}
	select {
	case s.reportable <- struct{}{}:
	default:
	}
}

// reportAgain is for an agent that is there. Of one that is not, settle reports.
func (s *Server) reportAgain() {
	if s.isSettled() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reportSoon()
	}
}

// sendReport makes one attempt. What fails is sent with the next.
func (s *Server) sendReport(ctx context.Context) {
	s.sendTaken(ctx)
	s.sendQuota(ctx)
	s.sendStall(ctx)
	s.sendSilent(ctx)
	s.sendUsed(ctx)
}

// sendUsed reports what the session has used for the messages that it works on. What it
// has used only grows, so a report that fails is made good by the next. A coordinator that
// is older than this refuses it.
func (s *Server) sendUsed(ctx context.Context) {
	now := time.Now()
	s.mu.Lock()
	m := &s.conversation.meter
	due := m.due(now)
	m.wanted = false
	s.mu.Unlock()
	if !due {
		return
	}
	s.readTranscript()
	s.mu.Lock()
	m.looked = now
	used := m.report(now)
	s.mu.Unlock()
	if len(used) == 0 {
		return
	}
	_, err := s.to().Received(ctx, c3po.ReceivedInput{Used: used})
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil || errors.Is(err, c3po.InvalidRequest):
		m.sent(used)
	default:
		s.log.InfoContext(ctx, "cannot report what was used", "err", err)
		m.wanted = true
		time.AfterFunc(reportPause, s.reportAgain)
	}
}

// sendSilent reports what was left unanswered. A coordinator that is older than this
// refuses it, and is not asked again.
func (s *Server) sendSilent(ctx context.Context) {
	s.mu.Lock()
	ids := s.conversation.silent[:min(len(s.conversation.silent), c3po.DefaultLimits().BatchIDs)]
	s.conversation.silent = s.conversation.silent[len(ids):]
	s.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	_, err := s.to().Received(ctx, c3po.ReceivedInput{Silent: ids})
	if err == nil || errors.Is(err, c3po.InvalidRequest) {
		return
	}
	s.log.InfoContext(ctx, "cannot report what was left unanswered", "err", err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conversation.silent = append(ids, s.conversation.silent...)
	time.AfterFunc(reportPause, s.reportAgain)
}

// sendTaken reports what the client has taken and been told.
func (s *Server) sendTaken(ctx context.Context) {
	s.mu.Lock()
	in := c3po.ReceivedInput{MessageIDs: s.conversation.proved, Notified: s.conversation.told}
	if most := c3po.DefaultLimits().BatchIDs; len(in.MessageIDs) > most {
		in.MessageIDs = in.MessageIDs[:most]
	}
	s.conversation.proved, s.conversation.told = s.conversation.proved[len(in.MessageIDs):], 0
	s.mu.Unlock()
	if len(in.MessageIDs) == 0 && in.Notified == 0 {
		return
	}
	done, err := s.to().Received(ctx, in)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.log.InfoContext(ctx, "cannot report what was received", "err", err)
		s.conversation.proved = append(in.MessageIDs, s.conversation.proved...)
		s.conversation.told = max(s.conversation.told, in.Notified)
		time.AfterFunc(reportPause, s.reportAgain)
		return
	}
	s.conversation.proved = append(done.Undecided, s.conversation.proved...)
	s.conversation.drop(done.Acked) // an answer is acked by being received
	s.reportSoon()
}

// acks says that answers in the result of a call are acked once the client has it:
// it has named the call, and its hooks run, so that one of them will say so.
func (s *Server) acks(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return useOf(ctx) != "" && s.ran.Event != ""
}
