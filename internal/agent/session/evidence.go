package session

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

const (
	// seeEvery is how often the client is checked. Only a change costs anything.
	seeEvery = 500 * time.Millisecond
	// askEvery is how often a coordinator that did not answer is asked again, if it
	// cannot be seen to be away.
	askEvery = 2 * time.Second
)

// failedPauses are how long after a turn that failed its mail starts another; the last
// is repeated for as long as turns fail.
var failedPauses = []time.Duration{5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute}

// A Sight is what is seen of a client from outside.
type Sight struct {
	Stopped bool      // its process is halted
	Says    string    // what it says that it does; empty if it does not
	Since   time.Time // since when
	Typed   time.Time // when somebody last typed at its terminal; zero if that is not known
}

// observe follows what is seen of the client, and the person's switch, which no hook
// tells of.
func (s *Server) observe(ctx context.Context) {
	tick := time.NewTicker(seeEvery)
	defer tick.Stop()
	var asked time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.sees != nil {
			seen := s.sees()
			s.mu.Lock()
			s.conversation.activity = s.conversation.activity.Stopped(seen.Stopped)
			if seen.Says != "" {
				s.conversation.activity = s.conversation.activity.Says(seen.Says, seen.Since)
			}
			s.sawDecided(seen)
			s.sawTyping(seen, time.Now())
			s.mu.Unlock()
			if seen.Says == saysIdle {
				s.leases.sawIdle(seen.Since)
			}
		}
		s.leavesToTerminal()
		if s.switchedOn() {
			s.want()
		}
		if s.isUnanswered() && time.Since(asked) >= askEvery {
			asked = time.Now()
			s.relook(ctx, askEvery/2)
		}
		if s.quotaReturns(time.Now()) {
			s.relook(ctx, askEvery/2)
		}
		s.slept()
		s.reminds(time.Now())
		s.wake()
		s.leaves()
		s.watchTranscript(time.Now())
		s.stalls()
		s.counts()
	}
}

// hears notes whether the coordinator has answered. Until it does nothing starts a
// turn: that could read no mail, and another would follow it.
func (s *Server) hears(answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unanswered = !answered
}

// isUnanswered says that the agent is there, as far as is known, and its coordinator did
// not answer.
func (s *Server) isUnanswered() bool {
	if !s.isSettled() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// A wait outlives a coordinator that is restarted, and hears nothing of the new one
	// until there is mail.
	return s.unanswered || s.client.Lost()
}

// switchedOn says, once, that c3po is on again and the session has asked for it
// meanwhile.
func (s *Server) switchedOn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.wantedOff || s.off() {
		return false
	}
	s.wantedOff = false
	return true
}

// evidence takes in what a hook shows of the session.
func (s *Server) evidence(event hook.Event) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settles(event)
	c := &s.conversation
	switch {
	case event.ByPerson():
		c.meter.holds(now)
		c.toolless = false
	case event.Name == hook.StopEvent || event.Name == hook.StopFailure:
		c.meter.releases(now)
	}
	if event.Name == hook.StopEvent || event.Name == hook.PostToolUse {
		c.answers()
	}
	if event.SessionID != "" && event.SessionID != c.id {
		c.hinted, c.brought = 0, nil // another session shows nothing of what the last one took
	}
	switch event.Name {
	case hook.SessionStart:
		return // it neither begins nor ends a turn
	case hook.StopFailure:
		c.hinted, c.brought = 0, nil // the model was not asked
		return
	case hook.Refused:
		c.activity = c.activity.Works(now)
		return
	case hook.Notification:
		if event.Kind == "permission_prompt" || event.Kind == "elicitation_dialog" || event.Kind == "ToolPermission" {
			c.activity = c.activity.Asks(now)
		}
		return
	case hook.DialogOpens:
		c.activity = c.activity.Asks(now)
		return
	case hook.UserPromptSubmit:
		c.turn()
	case hook.StopEvent, hook.SessionEnd:
	case hook.StillBusy:
		c.activity = c.activity.StillWorks(now)
	default:
		c.activity = c.activity.Works(now)
	}
	// A turn has begun after the line, or the line came with the result of a tool.
	// Other clients have no hook that tells the two apart.
	if begun := event.Name == hook.UserPromptSubmit || event.Name == hook.PostToolUse || !s.dialect.IsClaude(); begun {
		if len(c.waking) > 0 {
			c.hinted = max(c.hinted, c.knownUpTo())
			c.turnFor = append(c.turnFor, c.waking...)
		}
		c.waking, c.wokenAt, c.wakes, c.noticed = nil, time.Time{}, 0, time.Time{}
	}
	c.tookNotice()
	if event.Name == hook.UserPromptSubmit {
		c.comes(event.Prompt)
	}
	s.reportSoon()
}

// asksPerson answers a dialog that plan mode opens for a tool of ours, which the
// person has agreed to by installing them. In any other mode it opens because the
// person has a rule to be asked.
func (s *Server) asksPerson(event hook.Event) string {
	if !hook.Ours(event.ToolName) || event.Mode != hook.PlanMode {
		return "{}"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conversation.activity = s.conversation.activity.Works(time.Now())
	return hook.AllowDialog()
}

// failTurn is the end of a turn in which the model could not be asked: what it was
// told has not been heard. Its mail starts another after a while.
func (s *Server) failTurn(event hook.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.conversation
	now, mail := time.Now(), c.turnFor
	c.turnFor = nil
	again, waits := c.activity.Again(now)
	refusal, refused := event.RefusedForQuota(now)
	switch {
	case c.rearm(mail) || refused:
		again = now.Add(failedPauses[min(c.failures, len(failedPauses)-1)])
		c.failures++
		c.again = append(c.again, mail...)
	case waits: // the person's own turn failed meanwhile
		again = later(again, now.Add(failedPauses[0]))
	default:
		c.activity = c.activity.Rests(now, 0)
		return
	}
	c.activity = c.activity.Fails(now, again) // then observe wakes it
	if refused {
		c.refuse(refusal, again, now)
		s.reportSoon()
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// putOff is the end of a turn while the coordinator is away: mail that is known
// waits for its return.
func (s *Server) putOff() {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.conversation
	var unread []c3po.MessageID
	for _, l := range c.audible() {
		if !c.memory.HasRead(l.ID) {
			unread = append(unread, l.ID)
		}
	}
	c.turnFor, c.failures = nil, 0
	c.endTurn(nil)
	c.rearm(unread)
}
