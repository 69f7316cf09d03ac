package bridge

import (
	"maps"
	"slices"
	"time"

	"github.com/c3po-dev/c3po"
)

const (
	// silentAfter is how long a session is idle before its askers hear that it has
	// left them without an answer: a person may go on at once.
	silentAfter = 2 * time.Second
	// maxAskedQuestions is how many questions of the session are remembered.
	maxAskedQuestions = 256
)

// hand says that the session has the text of a message.
func (s *session) hand(m c3po.Message) {
	s.memory = s.memory.Read(m.ID)
	delete(s.asked, m.MessageID)
	if m.ExpectsReply {
		s.owed[m.ID] = true
	}
}

// leave makes what the session owes an answer to something to be reported. Who
// waits for its person, or for an answer of its own, has not left anybody alone.
func (s *session) leave() {
	if len(s.owed) == 0 || len(s.asked) > 0 || s.paused.why != "" {
		return
	}
	s.silent = append(s.silent, slices.Collect(maps.Keys(s.owed))...)
	clear(s.owed)
}

// leaves looks whether the session has gone idle without answering what it has read.
func (b *Bridge) leaves() {
	off, now := b.off(), time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	since, idle := b.session.activity.Idle(now, len(b.session.monitors) > 0)
	if !idle || off || now.Sub(since) < silentAfter || len(b.session.waking) > 0 {
		return
	}
	b.session.leave()
	b.reportSoon()
}

// waitsFor says that the session has asked somebody, and has no answer yet.
func (b *Bridge) waitsFor(in c3po.SendInput, receipt c3po.Receipt) {
	asks := in.ExpectsReply == nil || *in.ExpectsReply
	ended := receipt.Wait != nil && receipt.Wait.Status != c3po.WaitTimeout && receipt.Wait.Status != c3po.WaitRetry
	if !asks || ended || receipt.Reply != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.session.asked) < maxAskedQuestions {
		b.session.asked[receipt.ID] = true
	}
}

func (b *Bridge) asksNoMore(id c3po.MessageID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.session.asked, id)
}

func (b *Bridge) answered(id c3po.MessageID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.session.owed, id)
}
