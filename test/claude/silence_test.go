package claude_test

import (
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// Two sessions of Claude Code: the one that asks hears, once, that the other has read
// its question and gone idle; and still gets an answer that comes later.
func TestAnAskerIsWokenOnceWhenItsQuestionIsReadAndLeft(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	asked := w.host("nas").agent("api", following(
		on("answer web now", call("get_messages", nil)),
		on(unread.String(), call("get_messages", nil)),
		rule{toAnswer.String(), func(r request, match []string) step {
			if strings.Contains(r.All(), "answer web now") {
				return call("reply", map[string]any{"message_id": match[1], "response": "port 8080"})
			}
			return say("NOT-NOW")
		}},
	))
	asker := w.host("pi").agent("web", following(
		on("ask api", call("send_message", map[string]any{"target": "api", "message": "Which port?"})),
		on(unread.String(), call("get_messages", nil)),
		rule{`reply .* from api`, func(r request, _ []string) step { return say("API-SAYS %s", written(r.Fresh())) }},
		on("ended without an answer", say("API-IS-SILENT")),
	))
	sleeps, asks := asked.open(), asker.open()
	for _, term := range []*terminal{sleeps, asks} {
		term.idle()
	}
	w.awaitOnline("api")
	w.awaitOnline("web")
	silences := func() int {
		n := 0
		for _, r := range asker.model.Seen() {
			n += strings.Count(r.Fresh(), "ended without an answer")
		}
		return n
	}

	asks.enter("ask api")
	sleeps.see("NOT-NOW")
	asks.see("API-IS-SILENT")
	tickets, err := w.as("web").Tickets(t.Context(), c3po.TicketsInput{})
	if err != nil || len(tickets.Tickets) != 1 || tickets.Tickets[0].SilentAt.IsZero() {
		t.Fatalf("the ticket does not say so: %+v, %v", tickets, err)
	}
	question := tickets.Tickets[0]
	if trace, err := w.as("web").Trace(t.Context(), c3po.MessageInput{MessageID: question.ID}); err != nil || trace.Silent == nil || trace.Silent.At != question.SilentAt {
		t.Errorf("the trace does not say so: %+v, %v", trace, err)
	}

	// Another turn without an answer is no news.
	sleeps.enter("something else")
	sleeps.see("NOTHING-MORE")
	sleeps.rest()
	faultrig.Pass(t.Context(), 4*time.Second) // as long as the first notice took, and more
	sleeps.enter("answer web now")
	asks.see("API-SAYS port 8080")
	if n := silences(); n != 1 {
		t.Errorf("the asker heard %d times of the silence, want once", n)
	}
}
