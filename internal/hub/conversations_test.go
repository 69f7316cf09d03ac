package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

func TestAConversationIsListedWithItsFirstAndLastLine(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("api", "web", "docs")
	asked := h.send("web", "api", "\n---\n## Which fields?\n\nI need two.")
	h.reply("api", asked.ID, "```json\nid and total\nand more")
	h.send("docs", "api", strings.Repeat("long ", 100))
	list := must(h.asPerson().Conversations(t.Context(), c3po.ConversationsInput{}))(t).Conversations
	same(t, "how many", len(list), 2)
	same(t, "one without an answer", []any{list[0].FromAgent, list[0].Turns, list[0].Last, list[0].State}, []any{c3po.AgentID("docs"), 1, "", c3po.TicketPending})
	same(t, "its subject is cut", len([]rune(list[0].Subject)), 160)
	same(t, "one with", []any{list[1].Subject, list[1].Last, list[1].LastFrom, list[1].Turns, list[1].State}, []any{"## Which fields?", "id and total", c3po.AgentID("api"), 2, c3po.TicketResponded})

	open := must(h.asPerson().Conversations(t.Context(), c3po.ConversationsInput{State: c3po.TicketsOpen}))(t).Conversations
	same(t, "open", len(open), 1)
	first := must(h.asPerson().Conversations(t.Context(), c3po.ConversationsInput{Limit: 1}))(t)
	next := must(h.asPerson().Conversations(t.Context(), c3po.ConversationsInput{Limit: 1, Cursor: first.Next}))(t)
	same(t, "pages", []string{first.Conversations[0].Thread, next.Conversations[0].Thread}, []string{list[0].Thread, list[1].Thread})
}

func TestConversationsOfASlowStoreAreOnMorePages(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, unlimited)
		h.enter("bob")
		want := map[string]int{}
		for i := range 25 {
			thread := h.send("alice", "bob", fmt.Sprint("question ", i)).Thread
			want[thread] = 1
			if i%3 == 0 {
				must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: fmt.Sprint("and ", i), Thread: thread}))(t)
			}
		}
		h.calls.slow = 100 * time.Millisecond
		got, pages := map[string]int{}, 0
		for in := (c3po.ConversationsInput{Limit: 100}); ; pages++ {
			began := time.Now()
			page := must(h.asPerson().Conversations(t.Context(), in))(t)
			if took := time.Since(began); took > 4*time.Second {
				t.Errorf("a page took %s", took)
			}
			for _, c := range page.Conversations {
				got[c.Thread] = 1
				if c.Subject == "" || c.Turns == 0 {
					t.Errorf("incomplete: %+v", c)
				}
			}
			if in.Cursor = page.Next; page.Next == "" {
				break
			}
		}
		same(t, "the threads", got, want)
		if pages == 0 {
			t.Error("all of them were on one page")
		}
	})
}
