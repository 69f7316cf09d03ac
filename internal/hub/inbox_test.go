package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

func TestReadingTakesNothingAwayAndSaysWhatWasReadBefore(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		id := h.send("alice", "bob", "hi").ID
		for n, redelivered := range []bool{false, true, true} {
			got := h.inbox("bob")[0]
			if got.Redelivered != redelivered || got.Deliveries != n+1 {
				t.Errorf("reading %d: redelivered %v, deliveries %d", n+1, got.Redelivered, got.Deliveries)
			}
			if n > 0 {
				pass(3 * time.Second) // from here on the store knows
			} else {
				pass(time.Millisecond)
			}
		}
		other := must(h.asRun("bob", "r2").GetMessages(t.Context(), c3po.GetMessagesInput{}))(t).Messages[0]
		if !other.Redelivered || other.Deliveries != 4 {
			t.Errorf("another session reads: %+v", other)
		}
		pass(2 * time.Second)
		trace := h.trace(id)
		if trace.State != c3po.StatePending || trace.Deliveries != 4 || len(trace.Served) != 2 || trace.Received != nil || trace.Ended != nil {
			t.Errorf("trace = %+v", trace)
		}
	})
}

func TestPeekingLeavesNoTrace(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		id := h.send("alice", "bob", "hi").ID
		for range 3 {
			peeked := must(h.as("bob").Peek(t.Context(), c3po.GetMessagesInput{}))(t)
			same(t, "peeked", texts(peeked.Messages), []string{"hi"})
			pending := must(h.as("bob").Pending(t.Context(), c3po.PendingInput{}))(t)
			same(t, "pending", texts(pending.Messages), []string{"hi"})
			waited := must(h.as("bob").Pending(t.Context(), c3po.PendingInput{Timeout: 5}))(t)
			same(t, "waited", waited.Count, 1)
		}
		pass(3 * time.Second)
		if served := h.trace(id).Served; len(served) != 0 {
			t.Errorf("peeking counted as served: %v", served)
		}
		if got := h.inbox("bob")[0]; got.Redelivered || got.Deliveries != 1 {
			t.Errorf("the first reading is shown as a repeat: %+v", got)
		}
	})
}

func TestAnInboxIsPagedUrgentMailFirst(t *testing.T) {
	t.Parallel()
	h := build(t, func(l *c3po.Limits) { l.SendsPerMinute, l.PageBytes = 0, 4000 })
	h.enter("bob")
	var want []string
	for i := range 7 {
		text := fmt.Sprintf("%d", i)
		in := c3po.SendInput{Target: "bob", Message: text}
		if i == 6 {
			in.Priority = c3po.Urgent
		}
		must(h.as("alice").SendMessage(t.Context(), in))(t)
		want = append(want, text)
	}
	want = append([]string{"6"}, want[:6]...)
	var got []string
	pages := 0
	for cursor := ""; ; {
		list := must(h.as("bob").GetMessages(t.Context(), c3po.GetMessagesInput{Cursor: cursor, Limit: 3}))(t)
		got = append(got, texts(list.Messages)...)
		same(t, "count", list.Count, 7)
		pages++
		if cursor = list.Next; cursor == "" {
			break
		}
	}
	same(t, "order", got, want)
	same(t, "pages", pages, 3)

	must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: strings.Repeat("x", 5000), Priority: c3po.Urgent}))(t)
	first := must(h.as("bob").Peek(t.Context(), c3po.GetMessagesInput{Limit: 100}))(t)
	if len(first.Messages) != 2 && len(first.Messages) != 1 || first.Next == "" {
		t.Errorf("a page of %d messages is larger than its bytes allow", len(first.Messages))
	}
	_, err := h.as("bob").Peek(t.Context(), c3po.GetMessagesInput{Cursor: "nonsense"})
	refused(t, err, c3po.InvalidRequest)
	_, err = h.as("bob").Peek(t.Context(), c3po.GetMessagesInput{Limit: -1})
	refused(t, err, c3po.InvalidRequest)
}

func TestAckingSaysWhatBecameOfEachID(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("bob", "carol")
	mine, theirs := h.send("alice", "bob", "1").ID, h.send("alice", "carol", "2").ID
	ack := func(ids ...c3po.MessageID) (c3po.AckResult, error) {
		return h.as("bob").AckMessages(t.Context(), c3po.AckInput{MessageIDs: ids})
	}
	const unknown = "alice::bob::00000000"
	same(t, "first", must(ack(mine, theirs, unknown))(t), c3po.AckResult{
		Acked: []c3po.MessageID{mine}, Already: []c3po.MessageID{}, Unknown: []c3po.MessageID{unknown}, NotYours: []c3po.MessageID{theirs},
	})
	same(t, "again", must(ack(mine))(t).Already, []c3po.MessageID{mine})
	same(t, "inbox", texts(h.inbox("bob")), []string{})
	_, err := ack()
	refused(t, err, c3po.InvalidRequest)
	_, err = ack("")
	refused(t, err, c3po.InvalidRequest)
	_, err = ack(make([]c3po.MessageID, 201)...)
	refused(t, err, c3po.InvalidRequest, "200")
}

func TestWhatAClientReportsBecomesFacts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		question := h.send("alice", "bob", "question")
		future := must(h.as("bob").Received(t.Context(), c3po.ReceivedInput{MessageIDs: []c3po.MessageID{question.ID}, Notified: 1 << 40}))(t)
		same(t, "an incoming message is not acked by it", future.Already, []c3po.MessageID{question.ID})
		answer := h.reply("bob", question.ID, "answer")
		got := must(h.as("alice").Received(t.Context(), c3po.ReceivedInput{MessageIDs: []c3po.MessageID{answer.ID}}))(t)
		same(t, "an answer is acked by it", got.Acked, []c3po.MessageID{answer.ID})
		late := h.send("alice", "bob", "later")
		pass(2 * time.Second)
		trace := h.trace(question.ID)
		if trace.Received == nil || len(trace.Notified) != 1 || trace.Notified[0].Session != "anonymous" {
			t.Errorf("trace = %+v", trace)
		}
		if told := h.trace(late.ID).Notified; len(told) != 0 {
			t.Errorf("the session is said to know of mail that did not exist then: %v", told)
		}
		_, err := h.as("bob").Received(t.Context(), c3po.ReceivedInput{Notified: -1})
		refused(t, err, c3po.InvalidRequest)
	})
}

func TestADamagedMessageIsBuriedAndItsSenderTold(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		id := h.send("alice", "bob", "precious").ID
		h.send("alice", "bob", "sound")
		h.model.Spoil("main", id)
		list := must(h.as("bob").GetMessages(t.Context(), c3po.GetMessagesInput{}))(t)
		same(t, "mail", texts(list.Messages), []string{"sound"})
		same(t, "count", list.Count, 1)
		trace := h.trace(id)
		same(t, "end", trace.State+" "+trace.Reason, "dead corrupt")
		bounce := h.inbox("alice")
		if len(bounce) != 1 || bounce[0].Kind != c3po.KindBounce || !strings.Contains(bounce[0].Message, string(id)) {
			t.Errorf("the sender reads %v", bounce)
		}

		second := h.send("alice", "bob", "precious too").ID
		h.model.Spoil("main", second)
		h.send("alice", "bob", "behind it")
		for _, want := range []string{"sound", "behind it"} {
			// The first was handed to get_messages; to this session it is new.
			got := must(h.asRun("bob", "r").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 5}))(t)
			same(t, "next", got.Text(), want)
		}
		same(t, "end", h.trace(second).State, c3po.StateDead)
	})
}

func TestNotesWaitForAStoreThatIsAway(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		id := h.send("alice", "bob", "hi").ID
		h.calls.failWith("WriteNotes", c3po.Errorf(c3po.RedisUnavailable, "away"))
		h.inbox("bob")
		pass(5 * time.Second)
		same(t, "noted while it is away", h.trace(id).Deliveries, 0)
		same(t, "deliveries", h.inbox("bob")[0].Deliveries, 2)
		h.calls.failWith("WriteNotes", nil)
		h.stop()
		same(t, "noted when the coordinator stopped", h.trace(id).Deliveries, 2)
	})
}

func TestWhatWasReceivedStaysReceivedIfAReportBesideItFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann", "bob")
		id := h.send("ann", "bob", "look").ID
		h.calls.failWith("SetQuota", c3po.Errorf(c3po.RedisUnavailable, "Redis cannot be reached").Suggest("Try again."))
		quota := &c3po.QuotaReport{RetryInMS: 30_000}
		_, err := h.as("bob").Received(t.Context(), c3po.ReceivedInput{Quota: quota})
		refused(t, err, c3po.RedisUnavailable)
		out, err := h.as("bob").Received(t.Context(), c3po.ReceivedInput{MessageIDs: []c3po.MessageID{id}, Quota: quota})
		if err != nil || len(out.Acked)+len(out.Already) != 1 || !strings.Contains(out.Notice, "Redis cannot be reached") {
			t.Errorf("received %+v, %v", out, err)
		}
	})
}
