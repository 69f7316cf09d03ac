package session

import (
	"context"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// Kept is what a closed session can be resumed by.
type Kept struct {
	ID    string       // as its client calls it
	Agent c3po.AgentID // empty while it is not registered
	Model string       // empty if the client did not say
	Mode  string       // of permissions; empty if the client did not say
	Said  bool         // something was said in it
}

// shows takes in what a hook says of the session.
func (c *conversation) shows(event hook.Event) {
	if event.Model != "" {
		c.kept.Model = event.Model
	}
	if event.Mode != "" {
		c.kept.Mode = event.Mode
	}
	if event.Name == hook.UserPromptSubmit || event.Name == hook.SessionStart && event.Source == "resume" {
		c.kept.Said = true
	}
}

func (s *Server) keepSoon() {
	select {
	case s.keepable <- struct{}{}:
	default: // it will be looked at
	}
}

// keepSession records what is known of the session whenever that has changed. A session
// that a script runs for its output is the script's, and is not kept.
func (s *Server) keepSession(ctx context.Context) {
	var last Kept
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.keepable:
		}
		s.mu.Lock()
		now, alone := s.conversation.kept, s.conversation.alone
		if s.conversation.place.ID != "" {
			now.Agent = s.conversation.place.ID
		}
		s.mu.Unlock()
		if alone || now.ID == "" || now == last {
			continue
		}
		s.keep(now)
		last = now
	}
}
