package session

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// wakePauses are how long a line waits for the turn it should start, before it is
// sent again. Claude Code drops lines that come too quickly one after the other,
// and ends a monitor that goes on regardless.
var wakePauses = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

// rousePauses are the same for a client that is roused: Codex looks for what was
// queued every ten seconds, and a line that is sent again is another turn.
var rousePauses = []time.Duration{time.Minute, 10 * time.Minute}

// rouseTimeout is how long a client may take to be told.
const rouseTimeout = 30 * time.Second

// rousing starts turns of an idle session, as a monitor of our own.
func (s *Server) rousing(ctx context.Context) {
	lines := make(chan string, 8)
	s.listen(lines, false)
	defer s.unlisten(lines)
	for {
		select {
		case <-ctx.Done():
			return
		case line := <-lines:
			s.mu.Lock()
			session := s.conversation.id
			s.mu.Unlock()
			limited, cancel := context.WithTimeout(ctx, rouseTimeout)
			if err := s.rouse(limited, session, line); err != nil {
				s.log.WarnContext(ctx, "cannot wake the session", "err", err)
			}
			cancel()
		}
	}
}

// listen makes a channel one that lines are sent to. One of a turn is closed when
// the next begins.
func (s *Server) listen(lines chan string, ofTurn bool) {
	s.mu.Lock()
	s.conversation.monitors[lines] = ofTurn
	s.mu.Unlock()
	s.slept()
	s.wake() // what came before somebody listened
}

func (s *Server) unlisten(lines chan string) {
	defer s.slept()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conversation.monitors, lines)
}

// wake tells the monitors of mail that has arrived, if the session is idle.
func (s *Server) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conversation.arrived) == 0 || len(s.conversation.monitors) == 0 || s.conversation.alone || s.conversation.toolless || s.off() {
		return
	}
	if s.unanswered || s.trouble != nil {
		return // a turn could read nothing
	}
	if s.rouse != nil && s.conversation.id == "" {
		return // there is no session to be roused yet
	}
	now := time.Now()
	if s.conversation.activity.Alone(now) {
		if s.conversation.activity.Busy(now) {
			s.hurry()
		}
		return // observe looks again
	}
	var arrived []hook.Letter
	for _, l := range s.conversation.audible() {
		if s.conversation.arrived[l.ID] {
			arrived = append(arrived, l)
		}
	}
	clear(s.conversation.arrived)
	decision, memory := hook.Wake(s.conversation.memory, arrived, now)
	s.conversation.memory = memory
	if decision.Context == "" {
		return
	}
	s.expectTurn(arrived, now)
	s.tellMonitors(s.bring(decision))
}

// hurry tells of urgent mail in the middle of a turn by way of the monitors, if
// the client does not listen to hooks then. It is called with the lock held.
func (s *Server) hurry() {
	if !s.dialect.Deaf() {
		return
	}
	var decision hook.Decision
	if decision, s.conversation.memory = hook.Step(s.conversation.memory, s.conversation.audible(), time.Now()); decision.Context != "" {
		s.tellMonitors(decision.Context)
	}
}

// tellMonitors is called with the lock held.
func (s *Server) tellMonitors(line string) {
	for lines := range s.conversation.monitors {
		select {
		case lines <- line:
		default: // it has not read the last eight: it is woken already
		}
	}
}

// expectTurn looks later whether the line has started a turn. Mail that comes before
// that is waited for together with what was sent first. It is called with the lock held.
func (s *Server) expectTurn(letters []hook.Letter, sent time.Time) {
	more := len(s.conversation.waking) > 0
	for _, l := range letters {
		s.conversation.waking = append(s.conversation.waking, l.ID)
	}
	if more {
		return
	}
	s.conversation.wokenAt = sent
	if s.conversation.noticed.IsZero() {
		s.conversation.noticed = sent
	}
	pauses := wakePauses
	if s.rouse != nil || s.dialect == hook.OpenCode { // its plugin sends again by itself
		pauses = rousePauses
	}
	if s.conversation.wakes < len(pauses) {
		time.AfterFunc(pauses[s.conversation.wakes], func() { s.wakeAgain(sent) })
	}
	s.conversation.wakes++
}

// wakeAgain repeats a line that nothing has followed.
func (s *Server) wakeAgain(sent time.Time) {
	s.mu.Lock()
	taken := !s.conversation.wokenAt.Equal(sent)
	if !taken {
		s.conversation.rearm(s.conversation.waking)
		s.conversation.waking = nil
	}
	s.mu.Unlock()
	if !taken {
		s.wake()
		s.slept()
	}
}
