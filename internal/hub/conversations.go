package hub

import (
	"context"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// excerptRunes is how much of a message a list of conversations shows.
const excerptRunes = 160

const (
	// spansAtOnce keeps one read of the store short: one that takes longer than a step can
	// fails as if Redis could not be reached.
	spansAtOnce = 10
	// maxSpanTime is how long a page is completed before it ends early.
	maxSpanTime = 2 * time.Second
)

// Conversations lists threads by their newest question, with how each begins and
// ends. A thread that is on an earlier page may come again with an older question. If the
// store is slow, a page is shorter than asked for.
func (a *Actor) Conversations(ctx context.Context, in c3po.ConversationsInput) (c3po.ConversationList, error) {
	tickets, err := a.Tickets(ctx, c3po.TicketsInput{Which: c3po.TicketsAll, State: in.State, Cursor: in.Cursor, Limit: in.Limit})
	if err != nil {
		return c3po.ConversationList{}, err
	}
	list := c3po.ConversationList{Conversations: []c3po.Conversation{}, Next: tickets.Next}
	seen := map[string]bool{}
	var threads []string
	var before []int64 // the ticket that comes before a thread's first
	last := int64(0)
	for _, t := range tickets.Tickets {
		previous := last
		if last = t.Seq; seen[t.Thread] {
			continue
		}
		seen[t.Thread] = true
		threads, before = append(threads, t.Thread), append(before, previous)
		list.Conversations = append(list.Conversations, c3po.Conversation{
			Thread: t.Thread, FromAgent: t.FromAgent, ToAgent: t.ToAgent, State: t.State, LastAt: t.CreatedAt,
		})
	}
	began := time.Now()
	for done := 0; done < len(threads); {
		if done > 0 && time.Since(began) >= maxSpanTime {
			list.Conversations, list.Next = list.Conversations[:done], formatCursor(ticketCursor, before[done])
			break
		}
		spans, err := a.hub.store.ThreadSpans(ctx, a.space, threads[done:min(done+spansAtOnce, len(threads))])
		if err != nil {
			return c3po.ConversationList{}, err
		}
		for i, span := range spans {
			showSpan(&list.Conversations[done+i], span)
		}
		done += len(spans)
	}
	return list, nil
}

// showSpan adds how a conversation begins and ends. What was trimmed shows nothing.
func showSpan(c *c3po.Conversation, span store.ThreadSpan) {
	c.Turns = span.Count
	if span.First != nil {
		c.Subject = excerpt(span.First.Message.Text())
	}
	if span.Last == nil {
		return
	}
	c.LastAt, c.LastFrom = span.Last.Message.Timestamp, span.Last.Message.FromAgent
	if span.Count > 1 {
		c.Last = excerpt(span.Last.Message.Text())
	}
}

// excerpt is the first line of a text that says something, cut short.
func excerpt(text string) string {
	found := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.Trim(line, "`#*->_=~ ") == "" {
			continue
		}
		// What begins a block of code says only its language.
		if code := strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"); !code || found == "" {
			found = line
			if !code {
				break
			}
		}
	}
	if runes := []rune(found); len(runes) > excerptRunes {
		return string(runes[:excerptRunes-1]) + "…"
	}
	return found
}
