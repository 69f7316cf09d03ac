package hub_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// used reports what an agent has used for a message.
func (h *testHub) used(id c3po.AgentID, message c3po.MessageID, usage c3po.Usage) {
	h.t.Helper()
	must(h.as(id).Received(h.t.Context(), c3po.ReceivedInput{Used: []c3po.Used{{MessageID: message, Usage: usage}}}))(h.t)
}

func TestTheCostOfAChainOfThreeAgentsIsTheExactSumOfWhatTheyReport(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, unlimited)
		h.enter("ann", "bob", "cyd")
		first := h.send("ann", "bob", "who knows?")
		second := must(h.as("bob").SendMessage(t.Context(), c3po.SendInput{Target: "cyd", Message: "do you?", Thread: first.Thread}))(t)
		third := must(h.as("cyd").SendMessage(t.Context(), c3po.SendInput{Target: "ann", Message: "which one?", Thread: first.Thread}))(t)
		sum := c3po.Usage{}
		for i, part := range []struct {
			agent c3po.AgentID
			id    c3po.MessageID
		}{{"bob", first.ID}, {"cyd", second.ID}, {"ann", third.ID}} {
			usage := c3po.Usage{InputTokens: int64(1_000 + i), OutputTokens: int64(10 * i), CacheReadTokens: 77, CacheWriteTokens: int64(i), MicroUSD: 1_234}
			h.used(part.agent, part.id, c3po.Usage{InputTokens: 500}) // half way
			h.used(part.agent, part.id, usage)
			h.used(part.agent, part.id, usage) // its client was not sure that it arrived
			sum = sum.Plus(usage)
			same(t, "cost", must(h.as("ann").Trace(t.Context(), c3po.MessageInput{MessageID: part.id}))(t).Cost.Usage, usage)
		}
		for _, id := range []c3po.MessageID{first.ID, second.ID, third.ID} {
			same(t, "of the chain", must(h.as("ann").Trace(t.Context(), c3po.MessageInput{MessageID: id}))(t).ChainCost, &c3po.Cost{Usage: sum, Messages: 3})
		}
	})
}

func TestTheMessageAfterTheLastTokenIsRefusedAndThePersonAsked(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { unlimited(l); l.ChainTokens = 1_000 })
		h.enter("ann", "bob", "cyd")
		agents := []c3po.AgentID{"ann", "bob", "cyd"}
		sent := h.send("ann", "bob", "0")
		refused := 0
		for i := 1; refused == 0 && i < 10; i++ {
			from, to := agents[i%3], agents[(i+1)%3]
			h.used(from, sent.ID, c3po.Usage{OutputTokens: 200}) // each answer costs 200
			next, err := h.as(from).SendMessage(t.Context(), c3po.SendInput{Target: string(to), Message: fmt.Sprint(i), Thread: sent.Thread})
			if errors.Is(err, c3po.BudgetSpent) {
				refused = i
				break
			}
			sent = must(next, err)(t)
		}
		same(t, "refused message", refused, 5)
		questions := h.questions()
		same(t, "questions", len(questions), 1)
		text := questions[0].Message
		if !strings.Contains(text, "It has cost 1,000 tokens, as far as its agents report.") {
			t.Errorf("the person reads %q", text)
		}
		_, chain, _ := strings.Cut(text, "c3po thread resume ")
		same(t, "resumed", must(h.asPerson().ThreadResume(t.Context(), c3po.ThreadResumeInput{Thread: chain}))(t).Resumed, true)
		must(h.as("cyd").SendMessage(t.Context(), c3po.SendInput{Target: "ann", Message: "on", Thread: sent.Thread}))(t)
	})
}

func TestReceiptsWarnFromFourFifthsOfTheTokensOn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { unlimited(l); l.ChainTokens = 1_000 })
		h.enter("ann", "bob")
		sent := h.send("ann", "bob", "0")
		warning := func(used int64, text string) string {
			t.Helper()
			h.used("bob", sent.ID, c3po.Usage{OutputTokens: used})
			return must(h.as("bob").SendMessage(t.Context(), c3po.SendInput{Target: "ann", Message: text, Thread: sent.Thread}))(t).Warning
		}
		same(t, "before", warning(799, "1"), "")
		if said := warning(800, "2"); !strings.Contains(said, "have used 80 % of its tokens of an hour") {
			t.Errorf("the warning is %q", said)
		}
		pass(time.Hour)
		same(t, "in the next hour", warning(801, "3"), "")
	})
}

func TestNobodyReportsForAnotherOrLessThanNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, unlimited)
		h.enter("ann", "bob", "cyd")
		sent := h.send("ann", "bob", "why?")
		h.used("cyd", sent.ID, c3po.Usage{OutputTokens: 1_000_000})
		h.used("ann", sent.ID, c3po.Usage{OutputTokens: 1_000_000})
		for _, usage := range []c3po.Usage{{OutputTokens: -1}, {MicroUSD: c3po.MaxUsage + 1}} {
			_, err := h.as("bob").Received(t.Context(), c3po.ReceivedInput{Used: []c3po.Used{{MessageID: sent.ID, Usage: usage}}})
			if !errors.Is(err, c3po.InvalidRequest) {
				t.Errorf("%+v: %v", usage, err)
			}
		}
		trace := must(h.as("ann").Trace(t.Context(), c3po.MessageInput{MessageID: sent.ID}))(t)
		if trace.Cost != nil || trace.ChainCost != nil {
			t.Errorf("cost %+v, of the chain %+v", trace.Cost, trace.ChainCost)
		}
	})
}
