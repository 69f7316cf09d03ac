package session

import (
	"context"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// typedLately is how long before a prompt its user must have typed, where that is known: a
// prompt of another plugin looks like one of theirs.
const typedLately = 20 * time.Second

// mayBeTyped reports whether somebody may have typed the prompt that has just come.
func (s *Server) mayBeTyped() bool {
	if s.sees == nil {
		return true
	}
	at := s.sees().Typed
	return at.IsZero() || time.Since(at) < typedLately
}

// personWrites notes that the user writes in the session, and says whether that settles
// the agent's questions to them: the person who was asked is here.
func (s *Server) personWrites(event hook.Event) bool {
	typed := s.mayBeTyped()
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.conversation
	if !event.ByPerson() || !typed || c.scripted || c.paused.why != c3po.PausedForHuman {
		return false
	}
	news := c.unsettled == nil
	c.unsettled = map[c3po.MessageID]bool{}
	s.settleSoon()
	return news
}

// personSwitches lets the person switch c3po on and off in the session itself. The
// commands are a person's and are refused where an agent runs, and here it is the
// prompt that says who asks: no script, and no model.
func (s *Server) personSwitches(event hook.Event) {
	s.mu.Lock()
	scripted := s.conversation.scripted
	s.mu.Unlock()
	words := strings.Fields(event.Prompt)
	if !event.ByPerson() || scripted || len(words) < 2 || words[0] != "/c3po:coordinate" || words[1] != "on" && words[1] != "off" {
		return
	}
	if err := s.switched(words[1] == "on", len(words) > 2 && words[2] == "all"); err != nil {
		s.log.Warn("cannot switch c3po", "to", words[1], "err", err)
	}
}

// settleSoon is called with the lock held.
func (s *Server) settleSoon() {
	select {
	case s.settling <- struct{}{}:
	default:
	}
}

// settleAsks withdraws the questions to the user who has come to the session, also
// those of an earlier session of the agent, as soon as the coordinator can be had.
func (s *Server) settleAsks(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.settling:
		}
		limited, cancel := context.WithTimeout(ctx, reportTimeout)
		err := s.withdrawAsks(limited)
		cancel()
		if err == nil || ctx.Err() != nil {
			continue
		}
		s.log.InfoContext(ctx, "cannot withdraw a question that is settled", "err", err)
		time.AfterFunc(reportPause, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.settleSoon()
		})
	}
}

func (s *Server) withdrawAsks(ctx context.Context) error {
	in := c3po.TicketsInput{Which: c3po.TicketsAsked, State: c3po.TicketsOpen}
	for {
		page, err := s.to().Tickets(ctx, in)
		if err != nil {
			return err
		}
		for _, t := range page.Tickets {
			if t.ToAgent != c3po.Human || s.askedSince(t.ID) {
				continue
			}
			// Other mail to the person does not keep the agent waiting.
			trace, err := s.to().Trace(ctx, c3po.MessageInput{MessageID: t.ID})
			if err != nil {
				return err
			}
			if trace.Kind != c3po.KindEscalation {
				continue
			}
			if _, err := s.to().Cancel(ctx, c3po.MessageInput{MessageID: t.ID}); err != nil {
				return err
			}
		}
		if page.Next == "" {
			s.mu.Lock()
			s.conversation.unsettled = nil
			s.mu.Unlock()
			return nil
		}
		in.Cursor = page.Next
	}
}

// askedSince says that a question was asked after the user came.
func (s *Server) askedSince(id c3po.MessageID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conversation.unsettled[id]
}

// asks says that the agent waits for its person from now on: its turn may end
// before the coordinator has said so.
func (s *Server) asks(done c3po.Escalation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conversation.paused.why = done.Paused
	if s.conversation.unsettled != nil {
		s.conversation.unsettled[done.MessageID] = true
	}
	s.conversation.asking = done.MessageID
}

// showAsk tells the person, once, that the agent has asked them.
func (s *Server) showAsk(d hook.Decision) hook.Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conversation.asking != "" && !s.conversation.scripted {
		d.Person = hook.AsksYou(s.conversation.asking)
	}
	s.conversation.asking = ""
	return d
}
