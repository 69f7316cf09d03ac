package hub

import (
	"context"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// excerptRunes is how much of a message a list of conversations shows.
const excerptRunes = 160

// Conversations lists threads by their newest question, with how each begins and
// ends. A thread that is on an earlier page may come again with an older question.
func (a *Actor) Conversations(ctx context.Context, in c3po.ConversationsInput) (c3po.ConversationList, error) {
	tickets, err := a.Tickets(ctx, c3po.TicketsInput{Which: c3po.TicketsAll, State: in.State, Cursor: in.Cursor, Limit: in.Limit})
	if err != nil {
		return c3po.ConversationList{}, err
	}
	list := c3po.ConversationList{Conversations: []c3po.Conversation{}, Next: tickets.Next}
	seen := map[string]bool{}
	var threads []string
	for _, t := range tickets.Tickets {
		if seen[t.Thread] {
			continue
		}
		seen[t.Thread] = true
		threads = append(threads, t.Thread)
		list.Conversations = append(list.Conversations, c3po.Conversation{
			Thread: t.Thread, FromAgent: t.FromAgent, ToAgent: t.ToAgent, State: t.State, LastAt: t.CreatedAt,
		})
	}
	spans, err := a.hub.store.ThreadSpans(ctx, a.space, threads)
	if err != nil {
		return c3po.ConversationList{}, err
	}
	for i, span := range spans {
		showSpan(&list.Conversations[i], span)
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
