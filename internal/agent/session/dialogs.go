package session

import "time"

// awayAfter is how long after the last key the person counts as away from the terminal.
const awayAfter = time.Minute

// isThere says that the person sits at the terminal, as far as can be seen. Their dialog
// must not wait.
func (s *Server) isThere() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.typed.IsZero() && time.Since(s.typed) < awayAfter
}

// sawTyping takes in when somebody has last typed at the terminal, which ends the waits that
// keep a dialog closed. It is called with the lock held.
func (s *Server) sawTyping(seen Sight, now time.Time) {
	before := s.typed
	s.typed = seen.Typed
	c := &s.conversation
	switch {
	case s.dialect.Blocks() && len(s.requests) > 0:
		c.activity = c.activity.StillAsks(now)
		for r := range s.requests {
			switch {
			case r.typed.IsZero(): // it was not known yet
				r.typed = seen.Typed
			case seen.Typed.After(r.typed):
				r.settled()
				c.activity = c.activity.Works(now) // the key may have interrupted the turn
			}
		}
	case s.dialect.TellsClosing():
		c.activity = c.activity.StillAsks(now)
	default:
		c.activity = c.activity.Typed(seen.Typed, before, now)
	}
}
