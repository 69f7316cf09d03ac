package claude_test

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
)

// Three sessions of Claude Code pass a question on. What each has used to answer is
// scripted, and the sum of the conversation is exactly that.
func TestAConversationOfThreeSessionsCostsExactlyWhatTheModelsSayTheyUsed(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	costly := func(answer string, used int) brain {
		return following(
			on(unread.String(), call("get_messages", nil)),
			rule{toAnswer.String(), func(_ request, match []string) step {
				replies := call("reply", map[string]any{"message_id": match[1], "response": answer})
				replies.Used = used
				return replies
			}},
		)
	}
	for _, id := range []c3po.AgentID{"api", "db", "log"} {
		if _, err := w.as(id).Ping(t.Context(), c3po.None{}); err != nil {
			t.Fatal(err)
		}
	}
	first := w.send("web", "api", "Which port?")
	h := w.host("pi")
	h.agent("api", costly("Ask the next one.", 1_000)).print("hello")
	var sum c3po.Usage
	for i, step := range []struct {
		agent c3po.AgentID
		used  int
	}{{"db", 2_000}, {"log", 4_000}} {
		next, err := w.as("web").SendMessage(t.Context(), c3po.SendInput{Target: string(step.agent), Message: "Which port?", Thread: first.Thread})
		if err != nil {
			t.Fatal(i, err)
		}
		h.agent(string(step.agent), costly("Ask the next one.", step.used)).print("hello")
		want := c3po.Usage{InputTokens: 10, OutputTokens: int64(step.used)}
		eventually(t, 20*time.Second, "the cost of the answer is known", func() bool {
			trace, err := w.as("web").Trace(t.Context(), c3po.MessageInput{MessageID: next.ID})
			return err == nil && trace.Cost != nil && trace.Cost.Usage == want
		})
		sum = sum.Plus(want)
	}
	sum = sum.Plus(c3po.Usage{InputTokens: 10, OutputTokens: 1_000})
	trace, err := w.as("web").Trace(t.Context(), c3po.MessageInput{MessageID: first.ID})
	if err != nil || trace.ChainCost == nil || trace.ChainCost.Usage != sum || trace.ChainCost.Messages != 3 {
		t.Errorf("the conversation has cost %+v, want %+v; %v", trace.ChainCost, sum, err)
	}
}
