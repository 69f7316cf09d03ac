package hub_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// storm has agents that react to all they are given until every one of them was
// refused, and says how many messages came through.
func storm(t *testing.T, h *testHub, agents []c3po.AgentID, react func(c3po.AgentID, c3po.Message) error) (messages int) {
	t.Helper()
	for range 200 {
		moved := false
		for _, id := range agents {
			got := must(h.as(id).WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1}))(t)
			if got.Outcome != nil || got.FromAgent == c3po.System {
				continue
			}
			err := react(id, got.Message)
			if err != nil && !errors.Is(err, c3po.BudgetSpent) {
				t.Fatal(err)
			}
			must(h.as(id).AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{got.ID}}))(t)
			moved = true
			if err == nil {
				messages++
			}
		}
		if !moved {
			return messages + 1 // the one it began with
		}
	}
	t.Fatalf("it went on: %d messages", messages)
	return 0
}

func unlimited(l *c3po.Limits) { l.SendsPerMinute = 0 }

func (h *testHub) questions() []c3po.Message {
	h.t.Helper()
	return must(h.asPerson().HumanList(h.t.Context(), c3po.GetMessagesInput{}))(h.t).Messages
}

// notices counts what the system told an agent.
func (h *testHub) notices(id c3po.AgentID) (n int) {
	h.t.Helper()
	for _, m := range h.inbox(id) {
		if m.Kind == c3po.KindNotice && m.FromAgent == c3po.System {
			n++
		}
	}
	return n
}

func TestTwoAgentsThatAnswerEachOthersAnswersStopAndAPersonIsAskedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, unlimited)
		h.enter("a", "b")
		n := 0
		h.send("a", "b", "hello")
		messages := storm(t, h, []c3po.AgentID{"a", "b"}, func(id c3po.AgentID, m c3po.Message) error {
			n++
			_, err := h.as(id).Reply(t.Context(), c3po.ReplyInput{MessageID: m.ID, Response: fmt.Sprint("no, you first ", n), ExpectsReply: true})
			return err
		})
		t.Logf("%d messages", messages)
		if messages > 40 {
			t.Errorf("%d messages, more than 40", messages)
		}
		questions := h.questions()
		same(t, "questions", len(questions), 1)
		same(t, "notices", []int{h.notices("a"), h.notices("b")}, []int{1, 1})
		text := questions[0].Message
		_, thread, found := strings.Cut(text, "c3po thread resume ")
		if !found || !strings.Contains(text, "a → b") {
			t.Fatalf("the person reads: %s", text)
		}

		_, err := h.as("a").SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "still there?", Thread: thread})
		refused(t, err, c3po.BudgetSpent, "paused")
		pass(2 * time.Hour)
		_, err = h.as("a").SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "still there?", Thread: thread})
		refused(t, err, c3po.BudgetSpent, "paused")
		h.send("a", "b", "something else")
		same(t, "still one question", len(h.questions()), 1)

		_, err = h.as("a").ThreadResume(t.Context(), c3po.ThreadResumeInput{Thread: thread})
		refused(t, err, c3po.Forbidden)
		done := must(h.asPerson().ThreadResume(t.Context(), c3po.ThreadResumeInput{Thread: thread}))(t)
		same(t, "resumed", done.Resumed, true)
		same(t, "the question is dealt with", len(h.questions()), 0)
		must(h.as("a").SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "still there?", Thread: thread}))(t)
		again := must(h.asPerson().ThreadResume(t.Context(), c3po.ThreadResumeInput{Thread: thread}))(t)
		same(t, "twice", again.Resumed, false)
	})
}

func TestASpentBudgetIsToldThoughAnAgentIsRenamedBetweenTwoTries(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, unlimited, func(l *c3po.Limits) { l.ChainMessages = 1 })
		h.enter("a", "b")
		first := h.send("a", "b", "hello")
		more := func(from c3po.AgentID) {
			t.Helper()
			_, err := h.as(from).SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "and more", Thread: first.Thread})
			refused(t, err, c3po.BudgetSpent)
		}
		h.calls.failWith("Told", c3po.Errorf(c3po.RedisUnavailable, "Redis cannot be reached"))
		more("a")
		h.calls.failWith("Told", nil)
		must(h.as("a").Rename(t.Context(), c3po.RenameInput{NewID: "anna"}))(t)
		more("anna")
		more("anna")
		same(t, "how often it is recorded that they were told", h.calls.of("Told"), 2)
		if h.notices("anna") == 0 || h.notices("b") == 0 {
			t.Errorf("of two sides %d and %d notices", h.notices("anna"), h.notices("b"))
		}
	})
}

func TestATriangleOfAgentsStopsWhetherOrNotItKeepsToAThread(t *testing.T) {
	for name, inThread := range map[string]bool{"in one thread": true, "in a new thread each time": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := build(t, unlimited)
				h.enter("a", "b", "c")
				next := map[c3po.AgentID]string{"a": "b", "b": "c", "c": "a"}
				n := 0
				h.send("a", "b", "pass it on")
				messages := storm(t, h, []c3po.AgentID{"a", "b", "c"}, func(id c3po.AgentID, m c3po.Message) error {
					n++
					in := c3po.SendInput{Target: next[id], Message: fmt.Sprint("pass it on, ", n)}
					if inThread {
						in.Thread = m.Thread
					}
					_, err := h.as(id).SendMessage(t.Context(), in)
					return err
				})
				t.Logf("%d messages", messages)
				if messages > 40 {
					t.Errorf("%d messages, more than 40", messages)
				}
				same(t, "questions", len(h.questions()), 1)
			})
		})
	}
}

func TestWhoHandsWorkOutOrAsksManyQuestionsIsNotALoop(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, unlimited)
		h.enter("boss", "lead", "w")
		h.send("boss", "lead", "get it done")
		must(h.as("lead").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1}))(t)
		for i := range 60 {
			receipt := h.send("lead", "w", fmt.Sprint("part ", i))
			got := must(h.as("w").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1}))(t)
			h.reply("w", got.ID, "done")
			must(h.as("lead").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1, MessageID: receipt.ID}))(t)
		}
		same(t, "questions", len(h.questions()), 0)
	})
}

func TestTheSameTextIsRefusedTheThirdTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, unlimited)
		h.enter("a", "b")
		send := func(key string) error {
			_, err := h.as("a").SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "are you there?", ClientKey: key})
			return err
		}
		for _, key := range []string{"1", "2"} {
			if err := send(key); err != nil {
				t.Fatal(err)
			}
		}
		third := send("3")
		refused(t, third, c3po.BudgetSpent, "10 minutes")
		if advice := c3po.AsError(third).Suggestion; strings.Contains(advice, "received") || !strings.Contains(advice, "already stored") {
			t.Errorf("of mail that nobody has read it says %q", advice)
		}
		same(t, "nobody is asked", len(h.questions()), 0)
		pass(10 * time.Minute)
		if err := send("4"); err != nil {
			t.Fatal(err)
		}
	})
}

func TestThanksForAnAnswerEndsNoWait(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("a", "b")
		question := h.send("a", "b", "why?")
		answer := h.reply("b", question.ID, "because")
		waiting := h.waitFor("b", c3po.WaitInput{Timeout: 60, Kind: ""})
		pass(time.Second)
		_ = waiting.isDone()
		must(h.as("b").AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{question.ID}}))(t)
		h.reply("a", answer.ID, "thanks")
		same(t, "it is there", texts(h.inbox("b")), []string{"thanks"})
		pass(30 * time.Second)
		same(t, "woken", waiting.isDone(), false)
	})
}
