package session

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// DefaultStalledAfter is how long a session may work on a question without a step before
// who asked hears of it.
const DefaultStalledAfter = 15 * time.Minute

// A stall is the questions that the session has read and makes no step with.
type stall struct {
	marked  map[c3po.MessageID]bool // reported as stalled, or about to be
	stalled []c3po.MessageID        // to be reported
	moves   []c3po.MessageID        // likewise: the session goes on with them
}

// due says that there is something to report.
func (s stall) due() bool { return len(s.stalled)+len(s.moves) > 0 }

// stuck marks what the session owes an answer to. One that waits for its person, or for an
// answer to its own question, is not stuck.
func (c *conversation) stuck() {
	if len(c.asked) > 0 || c.paused.why != "" {
		return
	}
	if c.stall.marked == nil {
		c.stall.marked = map[c3po.MessageID]bool{}
	}
	for _, id := range c.inHand() {
		if !c.stall.marked[id] {
			c.stall.marked[id] = true
			c.stall.stalled = append(c.stall.stalled, id)
		}
	}
}

// inHand is the questions whose text the session has, in its prompt too, and that it has
// not answered.
func (c *conversation) inHand() []c3po.MessageID {
	ids := slices.Collect(maps.Keys(c.owed))
	for _, m := range c.brought {
		if m.ExpectsReply && !c.owed[m.ID] {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// moves takes in that the session has made a step.
func (c *conversation) moves() {
	for id := range c.stall.marked {
		c.stall.moves = append(c.stall.moves, id)
	}
	clear(c.stall.marked)
}

// stalls looks whether the session makes steps. What its client writes down is one too. Of
// a client without hooks nobody can tell.
func (s *Server) stalls() {
	s.mu.Lock()
	since, runs := s.conversation.activity.SilentTurn()
	runs = runs && s.ran.Event != ""
	owes := len(s.conversation.inHand())+len(s.conversation.stall.marked) > 0
	s.mu.Unlock()
	if !owes {
		return
	}
	silent := runs && time.Since(since) >= s.stalledAfter
	if silent {
		s.counting.Lock()
		path := s.transcript.path
		s.counting.Unlock()
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) < s.stalledAfter {
			silent = false
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if silent {
		s.conversation.stuck()
	} else {
		s.conversation.moves()
	}
	s.reportSoon()
}

// sendStall reports what the session makes no step with, and what it goes on with. A
// coordinator that is older than this refuses it.
func (s *Server) sendStall(ctx context.Context) {
	s.mu.Lock()
	most := c3po.DefaultLimits().BatchIDs
	stall := &s.conversation.stall
	in := c3po.ReceivedInput{Stalled: stall.stalled[:min(len(stall.stalled), most)], Moves: stall.moves[:min(len(stall.moves), most)]}
	stall.stalled, stall.moves = stall.stalled[len(in.Stalled):], stall.moves[len(in.Moves):]
	s.mu.Unlock()
	if len(in.Stalled)+len(in.Moves) == 0 {
		return
	}
	_, err := s.to().Received(ctx, in)
	if err == nil || errors.Is(err, c3po.InvalidRequest) {
		return
	}
	s.log.InfoContext(ctx, "cannot report whether the session makes steps", "err", err)
	s.mu.Lock()
	defer s.mu.Unlock()
	stall.stalled, stall.moves = append(in.Stalled, stall.stalled...), append(in.Moves, stall.moves...)
	time.AfterFunc(reportPause, s.reportAgain)
}
