package hub_test

import (
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// quota reports that an agent is out of quota for so long, or with 0 that it is not.
func (h *testHub) quota(id c3po.AgentID, length time.Duration) {
	h.t.Helper()
	report := &c3po.QuotaReport{RetryInMS: length.Milliseconds(), Exact: true, Evidence: "rate_limit"}
	must(h.as(id).Received(h.t.Context(), c3po.ReceivedInput{Quota: report}))(h.t)
}

func TestAnAgentThatIsOutOfQuotaIsSaidToBeUntilItIsNot(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann", "bob")
		question := h.send("ann", "bob", "which port?")
		h.quota("bob", 30*time.Second)
		h.quota("bob", 30*time.Second) // its session was not sure that it arrived
		agent := h.agent("bob")
		same(t, "reachability", agent.Reachability, c3po.ReachQuota)
		if agent.OutOfQuota == nil || !agent.OutOfQuota.Exact || agent.OutOfQuota.Evidence != "rate_limit" || !agent.OutOfQuota.Until.Equal(time.Now().Add(30*time.Second)) {
			t.Errorf("it is said to be %+v", agent.OutOfQuota)
		}
		receipt := h.send("ann", "bob", "and which host?")
		same(t, "the receipt's reachability", receipt.Reachability, c3po.ReachQuota)
		if !strings.Contains(receipt.Notice, "out of quota until 00:00:30 UTC") {
			t.Errorf("the receipt says %q", receipt.Notice)
		}
		told := h.inbox("ann")
		if len(told) != 1 || told[0].MessageID != question.ID || !strings.Contains(told[0].Text(), "out of quota until 00:00:30 UTC") {
			t.Errorf("the asker was told %+v, want one notice of its question", told)
		}
		pass(30 * time.Second)
		same(t, "then", h.agent("bob").Reachability, c3po.ReachNextCall)
		h.quota("bob", time.Hour)
		h.quota("bob", 0)
		same(t, "taken back", h.agent("bob").OutOfQuota == nil, true)
	})
}

func TestNoTextOfAProviderKeepsAnAgentFromBeingOutOfQuota(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		for said, want := range map[string]string{
			"limit\u200b · 👩\u200d💻\n\x1b[0m": `limit\u200b · 👩\u200d💻 \x1b[0m`,
			strings.Repeat("ü", 101):          strings.Repeat("ü", 100),
		} {
			report := &c3po.QuotaReport{RetryInMS: 30_000, Exact: true, Evidence: said}
			must(h.as("bob").Received(t.Context(), c3po.ReceivedInput{Quota: report}))(t)
			if is := h.agent("bob").OutOfQuota; is == nil || is.Evidence != want {
				t.Errorf("it is said to be %+v, want the evidence %q", is, want)
			}
		}
	})
}

func TestWhatAnAgentOutOfQuotaHoldsOfAQueueIsAnotherMembersAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("asker")
		h.join("w1", "review")
		h.join("w2", "review")
		receipt := must(h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "look"}))(t)
		h.claim("w1", receipt.ID)
		waiting := h.waitFor("w2", c3po.WaitInput{Timeout: 60})
		after := h.where().Last
		sleeping := start(func() (c3po.PendingResult, error) {
			return h.as("w2").Pending(t.Context(), c3po.PendingInput{Timeout: 60, After: &after, State: c3po.SessionIdle})
		})
		pass(time.Second)
		h.quota("w1", 30*time.Second)
		same(t, "a wait for news", texts(sleeping.atOnce(t).Messages), []string{"look"})
		same(t, "the holder", waiting.atOnce(t).Claim.By, c3po.AgentID("w2"))
		_, err := h.as("w1").Reply(t.Context(), c3po.ReplyInput{MessageID: receipt.ID, Response: "late"})
		refused(t, err, c3po.Forbidden, "w2")
		h.reply("w2", receipt.ID, "done")
		same(t, "the asker's mail", texts(h.inbox("asker")), []string{"done"})
		h.quota("w1", 0)
		same(t, "fsck", must(h.as("asker").Fsck(t.Context(), c3po.None{}))(t).Problems, []string{})
	})
}

func TestNothingIsStartedForMailOfAnAgentThatIsOutOfQuota(t *testing.T) {
	for name, starter := range map[string]func(h *testHub) (actor, c3po.PendingInput){
		"its host": func(h *testHub) (actor, c3po.PendingInput) {
			must(h.as("bob").Unregister(h.t.Context(), c3po.None{}))(h.t)
			return h.as("bob"), c3po.PendingInput{Timeout: 60, State: c3po.SessionClosed}
		},
		"its runner": func(h *testHub) (actor, c3po.PendingInput) {
			return h.As(c3po.Caller{ID: "bob", Role: c3po.RoleRunner, Route: "rest"}), c3po.PendingInput{Timeout: 60}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := build(t)
				h.enter("ann", "bob")
				h.quota("bob", 30*time.Second)
				as, in := starter(h)
				began := time.Now()
				waiting := start(func() (c3po.PendingResult, error) { return as.Pending(t.Context(), in) })
				pass(time.Second)
				h.send("ann", "bob", "which port?")
				pass(28 * time.Second)
				if waiting.isDone() {
					t.Fatal("it hears of mail before the quota is back")
				}
				pass(2 * time.Second)
				if got := waiting.atOnce(t); got.Count != 1 {
					t.Errorf("it found %+v", got)
				}
				if late := time.Since(began) - 30*time.Second; late > 2*time.Second {
					t.Errorf("it heard of it %s late", late)
				}
			})
		})
	}
}

func TestAWaitThatEndsBeforeTheQuotaIsBackFindsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann", "bob")
		h.quota("bob", 3*time.Minute)
		must(h.as("bob").Unregister(t.Context(), c3po.None{}))(t)
		h.send("ann", "bob", "which port?")
		after, began := int64(0), time.Now()
		for {
			in := c3po.PendingInput{Timeout: 50, State: c3po.SessionClosed, After: &after}
			got := must(h.as("bob").Pending(t.Context(), in))(t)
			after = max(after, got.Seq)
			if len(got.Messages) > 0 {
				break
			}
			same(t, "its end", got.Outcome.Status, c3po.WaitTimeout)
		}
		if early := 3*time.Minute - time.Since(began); early > 0 || early < -2*time.Second {
			t.Errorf("it heard of its mail %s before its quota was back", early)
		}
	})
}

func TestAReportOfAQuotaIsHeldToWhatCanBeSo(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		for _, report := range []c3po.QuotaReport{{RetryInMS: -1}, {RetryInMS: c3po.MaxOutOfQuota.Milliseconds() + 1}} {
			_, err := h.as("bob").Received(t.Context(), c3po.ReceivedInput{Quota: &report})
			refused(t, err, c3po.InvalidRequest, "")
		}
		same(t, "none", h.agent("bob").OutOfQuota == nil, true)
	})
}
