package clients_test

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// The scripted model says of each request that it has read 10 tokens and written 5. The
// reply is the one request between reading the mail and having answered it. Copilot CLI is
// not among them: what it writes down is not found every time (docs/guides/cost.md).
func TestAnAnswerCostsWhatItsClientSaysItHasUsed(t *testing.T) {
	t.Parallel()
	for client, want := range map[string]c3po.Usage{
		"codex":    {InputTokens: 10, OutputTokens: 5},
		"gemini":   {InputTokens: 10, OutputTokens: 5},
		"kimi":     {InputTokens: 10, OutputTokens: 5},
		"opencode": {InputTokens: 10, OutputTokens: 5, MicroUSD: 10*3 + 5*15},
	} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			r := newTestAgent(t, client, llm.Following(llm.Answers("port 8080"), llm.On("do some work", llm.Call("get_messages", nil)), llm.Else(done)))
			r.c.Exists("api")
			asked := r.ask("Which port?")
			r.Prompt("do some work")
			r.answered(asked, 1)
			// A session reports every ten seconds or so, and when its turn ends.
			var cost *c3po.Cost
			faultrig.Within(time.Minute, func() bool {
				trace, err := r.c.As("web").Trace(t.Context(), c3po.MessageInput{MessageID: asked.ID})
				if err != nil {
					t.Error(err)
				}
				cost = trace.Cost
				return cost != nil
			})
			if cost == nil || cost.Usage != want {
				t.Errorf("it has cost %+v, want %+v", cost, want)
			}
		})
	}
}
