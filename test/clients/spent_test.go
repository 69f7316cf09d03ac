package clients_test

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// The scripted model says of each request that it has read 10 tokens and written 5. The
// reply is the one request between reading the mail and having answered it.
func TestAnAnswerCostsWhatItsClientWritesDownOrIsUnknown(t *testing.T) {
	t.Parallel()
	for client, want := range map[string]*c3po.Usage{
		"codex":  {InputTokens: 10, OutputTokens: 5},
		"gemini": {InputTokens: 10, OutputTokens: 5},
		"kimi":   nil,
	} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			r := newTestAgent(t, client, answering)
			r.c.Exists("api")
			asked := r.ask("Which port?", clientrig.Urgent)
			r.Prompt("do some work")
			r.answered(asked, 1)
			// A session reports every ten seconds or so, and when its turn ends.
			most := 15 * time.Second
			if want != nil {
				most = time.Minute
			}
			var cost *c3po.Cost
			faultrig.Within(most, func() bool {
				trace, err := r.c.As("web").Trace(t.Context(), c3po.MessageInput{MessageID: asked.ID})
				if err != nil {
					t.Error(err)
				}
				cost = trace.Cost
				return cost != nil
			})
			switch {
			case want == nil && cost != nil:
				t.Errorf("it has cost %+v, of which its client says nothing", cost)
			case want != nil && (cost == nil || cost.Usage != *want):
				t.Errorf("it has cost %+v, want %+v", cost, *want)
			}
		})
	}
}
