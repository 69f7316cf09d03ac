package node

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// A Stall is a question that the agent that has read it makes no step with.
type Stall struct {
	Space    c3po.Space
	Question c3po.MessageID
	From     c3po.AgentID // who asked
	Agent    c3po.AgentID // who makes no step
	AskedAt  time.Time
}

// A dueStall is one that a channel has not told of yet.
type dueStall struct {
	Stall
	after time.Time // it is not tried before then
	tries int
}

// stallNotice is the name of the notice among the facts of the question. It differs from
// that of a question to the person, so that each is sent once.
func stallNotice(channel string, question c3po.MessageID) store.Notice {
	return store.Notice{ID: question, Channel: channel + " stalled"}
}

// TellStall tells the person of a question that stalls, once on each channel however often it
// is called. It never blocks. What a channel has not told of when the coordinator ends is
// not told: the mark of the question stays.
func (n *Notices) TellStall(stall Stall) {
	for _, c := range n.channels {
		c.mu.Lock()
		c.stalls = append(c.stalls, dueStall{Stall: stall})
		c.mu.Unlock()
		c.signal()
	}
}

// tellStalls sends one notice of all stalls that are due.
func (n *Notices) tellStalls(ctx context.Context, c *noticeChannel) {
	var mine []dueStall
	for _, s := range c.takeStalls(time.Now()) {
		ok, err := n.store.ClaimNotice(ctx, s.Space, stallNotice(c.name, s.Question))
		n.complain(ctx, c, s.Space, err)
		if ok {
			mine = append(mine, s)
		}
	}
	if len(mine) == 0 {
		return
	}
	first := mine[0]
	word := c3po.Notification{
		Kind: c3po.NotifyStalled, Space: first.Space, MessageID: first.Question, FromAgent: first.From, ToAgent: first.Agent, AskedAt: first.AskedAt,
	}
	if len(mine) > 1 {
		word.Count = len(mine)
		c.rest = time.Now().Add(noticeRest)
	}
	limited, cancel := context.WithTimeout(ctx, noticeTimeout)
	defer cancel()
	if err := n.notifier.Notify(limited, c.name, word); err != nil {
		n.complain(ctx, c, first.Space, err)
		c.putBack(mine)
		return
	}
	// It was sent, so that is recorded even if this coordinator is about to stop.
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), GoodbyeTimeout)
	defer cancel()
	n.log.InfoContext(ctx, "the person was told of questions that stall", "channel", c.name, "space", first.Space, "message_id", first.Question, "questions", len(mine))
	for _, s := range mine {
		n.complain(ctx, c, s.Space, n.store.NoticeSent(done, s.Space, stallNotice(c.name, s.Question)))
	}
}

// takeStalls takes out what may be tried now.
func (c *noticeChannel) takeStalls(now time.Time) (due []dueStall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var later []dueStall
	for _, s := range c.stalls {
		if now.Before(s.after) {
			later = append(later, s)
		} else {
			due = append(due, s)
		}
	}
	c.stalls = later
	return due
}

// putBack keeps what could not be sent until the store lets it be tried again.
func (c *noticeChannel) putBack(failed []dueStall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range failed {
		if s.tries++; s.tries < store.NoticeTries {
			s.after = time.Now().Add(min(store.NoticePause<<(s.tries-1), store.MaxNoticePause))
			c.stalls = append(c.stalls, s)
		}
	}
}
