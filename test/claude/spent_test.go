package claude_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// Three sessions of Claude Code pass a question on. What each has used to answer is
// scripted, and the sum of the conversation is exactly that.
// The next message after the last token of its budget is refused, and the person is asked.
func TestAConversationOfThreeSessionsCostsExactlyWhatTheModelsSayTheyUsed(t *testing.T) {
	t.Parallel()
	claudeBinary(t)
	redis := redistest.New(t)
	w := &testCoordinator{t: t, redis: redis, coordinator: faultrig.StartWith(t, redis.URL(), "limits:\n  chain_tokens: 7030\n", "--budgets", "on")} // what the three use, to the last
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
	if sum.Tokens() != 7_030 {
		t.Fatalf("this test uses %d tokens", sum.Tokens())
	}
	trace, err := w.as("web").Trace(t.Context(), c3po.MessageInput{MessageID: first.ID})
	if err != nil || trace.ChainCost == nil || trace.ChainCost.Usage != sum || trace.ChainCost.Messages != 3 {
		t.Errorf("the conversation has cost %+v, want %+v; %v", trace.ChainCost, sum, err)
	}
	_, err = w.as("web").SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "And which host?", Thread: first.Thread})
	if !errors.Is(err, c3po.BudgetSpent) {
		t.Errorf("the message after the last token: %v", err)
	}
	if asked := w.asked(); !strings.Contains(asked.Text(), "It has cost 7,030 tokens") {
		t.Errorf("the person is asked %q", asked.Text())
	}
}

// A run that is killed in the middle of an answer has reported what it used; the run after it
// adds its own.
func TestAResumedRunThatIsKilledCostsOnceWhatItHasUsed(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	var reads, steps atomic.Int32
	c := w.closed(func(r request) step {
		switch fresh := r.Fresh(); {
		case toAnswer.MatchString(fresh):
			id := toAnswer.FindStringSubmatch(fresh)[1]
			if reads.Add(1) > 1 {
				replies := call("reply", map[string]any{"message_id": id, "response": "9100"})
				replies.Used = 2_000
				return replies
			}
			looks := call("list_agents", nil)
			looks.Used = 1_000
			return looks
		case strings.Contains(fresh, resumedFor):
			return call("get_messages", nil)
		case reads.Load() == 1 && steps.Add(1) == 1:
			return step{Hangs: true}
		}
		return say("done")
	})
	question := w.send("web", "api", "Which port has the printer?")
	costs := func(want c3po.Usage) func() bool {
		return func() bool {
			cost := c.trace(question.ID).Cost
			return cost != nil && cost.Usage == want
		}
	}
	first := c3po.Usage{InputTokens: 10, OutputTokens: 1_000}
	eventually(t, 90*time.Second, "the first run has reported its step", costs(first))
	for _, pid := range c.processes("--resume " + c.id) {
		kill(t, pid)
	}
	eventually(t, 60*time.Second, "the next one has answered", func() bool { return len(c.trace(question.ID).Answered) == 1 })
	c.quietAgain()
	whole := first.Plus(c3po.Usage{InputTokens: 10, OutputTokens: 2_000})
	eventually(t, 20*time.Second, "both runs count, each once", costs(whole))
	if chain := c.trace(question.ID).ChainCost; chain == nil || chain.Usage != whole {
		t.Errorf("the conversation has cost %+v, want %+v", chain, whole)
	}
}
