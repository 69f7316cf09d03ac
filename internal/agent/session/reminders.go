package session

import (
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// reminderPauses are how long mail that the session was told of and did not read waits before
// it is told again. A pause after the last it counts as left unread.
var reminderPauses = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}

// A reminder is mail that a turn left unread.
type reminder struct {
	told int       // times it was told again
	due  time.Time // zero when it was told for the last time
}

// remembers notes, at the end of a turn, the mail that the session was told of and left unread.
func (c *conversation) remembers(now time.Time) {
	for _, l := range c.audible() {
		if _, known := c.reminders[l.ID]; !known && c.memory.ToldOf(l) {
			c.reminders[l.ID] = reminder{due: now.Add(reminderPauses[0])}
		}
	}
}

// remind makes mail news again whose time has come, and reports the questions among it that
// were told often enough.
func (c *conversation) remind(now time.Time) {
	for id, r := range c.reminders {
		l, here := c.mail[id]
		switch {
		case !here || c.memory.HasRead(id):
			delete(c.reminders, id)
		case r.due.IsZero() || now.Before(r.due):
		case r.told == len(reminderPauses):
			c.reminders[id] = reminder{told: r.told}
			if l.ExpectsReply {
				c.silent = append(c.silent, id)
			}
		default:
			r.told++
			r.due = now.Add(reminderPauses[min(r.told, len(reminderPauses)-1)])
			c.reminders[id] = r
			c.rearm([]c3po.MessageID{id})
		}
	}
}

// reminds looks whether the idle session is due to be told again.
func (s *Server) reminds(now time.Time) {
	off := s.off()
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.conversation
	_, idle := c.activity.Idle(now, len(c.monitors) > 0)
	if len(c.reminders) == 0 || off || !idle || len(c.monitors) == 0 || len(c.waking) > 0 || c.toolless || c.quota.out(now) {
		return
	}
	c.remind(now)
	s.reportSoon()
}

// lacksTools notes, at the end of a turn, whether the session was told of mail until the turn
// could not end, and none of our tools has ever been called there: its user has denied them.
// It says so once; no other turn is started until a call comes or the user writes.
func (c *conversation) lacksTools() (says string) {
	if c.called || c.toolless || c.alone {
		return ""
	}
	for _, id := range c.turnFor {
		if _, here := c.mail[id]; here && c.memory.Blocked(id) && !c.memory.HasRead(id) {
			c.toolless = true
			return hook.ToolsDenied
		}
	}
	return ""
}
