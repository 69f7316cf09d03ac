package session

import (
	"maps"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// silentAfter is how long a session is idle before its askers hear that it has
	// left them without an answer: a person may go on at once.
	silentAfter = 2 * time.Second
	// maxAskedQuestions is how many questions of the session are remembered.
	maxAskedQuestions = 256
)

// hand says that the session has the text of a message.
func (c *conversation) hand(m c3po.Message) {
	c.memory = c.memory.Read(m.ID)
	delete(c.asked, m.MessageID)
	if m.ExpectsReply {
		c.owed[m.ID] = true
		c.meter.begins(m.ID, time.Now())
	}
}

// leave makes what the session owes an answer to something to be reported. A session that
// waits for its person, or for an answer to its own question, does not owe one yet.
func (c *conversation) leave() {
	if len(c.owed) == 0 || len(c.asked) > 0 || c.paused.why != "" {
		return
	}
	for id := range c.owed {
		c.meter.ends(id, time.Now())
	}
	c.silent = append(c.silent, slices.Collect(maps.Keys(c.owed))...)
	clear(c.owed)
}

// leaves looks whether the session has gone idle without answering what it has read.
func (s *Server) leaves() {
	off, now := s.off(), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	since, idle := s.conversation.activity.Idle(now, len(s.conversation.monitors) > 0)
	if !idle || off || now.Sub(since) < silentAfter || len(s.conversation.waking) > 0 || s.conversation.quota.out(now) {
		return
	}
	s.conversation.leave()
	s.reportSoon()
}

// counts looks whether the client has written down what the session has used.
func (s *Server) counts() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conversation.meter.due(time.Now()) {
		s.reportSoon()
	}
}

// waitsFor says that the session has asked somebody, and has no answer yet.
func (s *Server) waitsFor(in c3po.SendInput, receipt c3po.Receipt) {
	asks := in.ExpectsReply == nil || *in.ExpectsReply
	ended := receipt.Wait != nil && receipt.Wait.Status != c3po.WaitTimeout && receipt.Wait.Status != c3po.WaitRetry
	if !asks || ended || receipt.Reply != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conversation.asked) < maxAskedQuestions {
		s.conversation.asked[receipt.ID] = true
	}
}

func (s *Server) asksNoMore(id c3po.MessageID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conversation.asked, id)
}

func (s *Server) forgetOwed(id c3po.MessageID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conversation.owed, id)
	s.conversation.meter.ends(id, time.Now())
	s.reportSoon()
}
