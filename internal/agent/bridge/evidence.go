package bridge

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

const (
	// seeEvery is how often the client is looked at. Only a change costs anything.
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
}

// observe follows what is seen of the client, and the person's switch, which no hook
// tells of.
func (b *Bridge) observe(ctx context.Context) {
	tick := time.NewTicker(seeEvery)
	defer tick.Stop()
	var asked time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if b.sees != nil {
			seen := b.sees()
			b.mu.Lock()
			b.session.activity = b.session.activity.Stopped(seen.Stopped)
			if seen.Says != "" {
				b.session.activity = b.session.activity.Says(seen.Says, seen.Since)
			}
			b.mu.Unlock()
		}
		if b.switchedOn() {
			b.want()
		}
		if b.isUnanswered() && time.Since(asked) >= askEvery {
			asked = time.Now()
			b.relook(ctx, askEvery/2)
		}
		b.slept()
		b.wake()
		b.leaves()
	}
}

// hears notes whether the coordinator has answered. Until it does nothing starts a
// turn: that could read no mail, and another would follow it.
func (b *Bridge) hears(answered bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unanswered = !answered
}

// isUnanswered says that the agent is there, as far as is known, and its coordinator did
// not answer.
func (b *Bridge) isUnanswered() bool {
	if !b.isSettled() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	// A wait outlives a coordinator that is restarted, and hears nothing of the new one
	// until there is mail.
	return b.unanswered || b.client.Lost()
}

// switchedOn says, once, that c3po is on again and the session has asked for it
// meanwhile.
func (b *Bridge) switchedOn() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.wantedOff || b.off() {
		return false
	}
	b.wantedOff = false
	return true
}

// evidence takes in what a hook shows of the session.
func (b *Bridge) evidence(event hook.Event) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.session
	if event.SessionID != "" && event.SessionID != s.id {
		s.hinted, s.brought = 0, nil // another session shows nothing of what the last one took
	}
	switch event.Name {
	case hook.SessionStart:
		return // it neither begins nor ends a turn
	case hook.StopFailure:
		s.hinted, s.brought = 0, nil // the model was not asked
		return
	case hook.Notification:
		if event.Kind == "permission_prompt" || event.Kind == "elicitation_dialog" {
			s.activity = s.activity.Asks(now)
		}
		return
	case hook.DialogOpens:
		s.activity = s.activity.Asks(now)
		return
	case hook.UserPromptSubmit:
		s.turn()
	case hook.StopEvent, hook.SessionEnd:
	default:
		s.activity = s.activity.Works(now)
	}
	// A turn has begun after the line, or the line came with the result of a tool.
	// Other clients have no hook that tells the two apart.
	if begun := event.Name == hook.UserPromptSubmit || event.Name == hook.PostToolUse || !b.dialect.IsClaude(); begun {
		if len(s.waking) > 0 {
			s.hinted = max(s.hinted, s.heard())
			s.turnFor = append(s.turnFor, s.waking...)
		}
		s.waking, s.wokenAt, s.wakes, s.noticed = nil, time.Time{}, 0, time.Time{}
	}
	s.tookNotice()
	if event.Name == hook.UserPromptSubmit {
		s.comes(event.Prompt)
	}
	b.reportSoon()
}

// asksPerson answers a dialog that plan mode opens for a tool of ours, which the
// person has agreed to by installing them. In any other mode it opens because the
// person has a rule to be asked.
func (b *Bridge) asksPerson(event hook.Event) string {
	if !hook.Ours(event.ToolName) || event.Mode != hook.PlanMode {
		return "{}"
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.session.activity = b.session.activity.Works(time.Now())
	return hook.AllowDialog()
}

// failed is the end of a turn in which the model could not be asked: what it was
// told has not been heard. Its mail starts another after a while.
func (b *Bridge) failed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.session
	now, mail := time.Now(), s.turnFor
	s.turnFor = nil
	again, waits := s.activity.Again(now)
	switch {
	case s.rearm(mail):
		again = now.Add(failedPauses[min(s.failures, len(failedPauses)-1)])
		s.failures++
		s.again = append(s.again, mail...)
	case waits: // the person's own turn failed meanwhile
		again = later(again, now.Add(failedPauses[0]))
	default:
		s.activity = s.activity.Rests(now, 0)
		return
	}
	s.activity = s.activity.Fails(now, again) // then observe wakes it
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// putOff is the end of a turn while the coordinator is away: mail that is known
// waits for its return.
func (b *Bridge) putOff() {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.session
	var unread []c3po.MessageID
	for _, l := range s.audible() {
		if !s.memory.HasRead(l.ID) {
			unread = append(unread, l.ID)
		}
	}
	s.turnFor, s.failures = nil, 0
	s.rest(nil)
	s.rearm(unread)
}
