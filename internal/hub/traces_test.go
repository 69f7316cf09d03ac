package hub_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
)

func TestAThreadIsReadBackByItsNameOrAnyOfItsMessages(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("bob")
	first := h.send("alice", "bob", "question")
	answer := h.reply("bob", first.ID, "answer")
	h.reply("alice", answer.ID, "thanks")
	h.send("alice", "bob", "another matter")
	want := []string{"question", "answer", "thanks"}
	for _, name := range []string{first.Thread, string(first.ID), string(answer.ID)} {
		list := must(h.as("bob").GetThread(t.Context(), c3po.ThreadInput{Thread: name}))(t)
		same(t, "thread "+name, texts(list.Messages), want)
		if m := list.Messages[1]; m.FromAgent != "bob" || m.ToAgent != "alice" || m.MessageID != first.ID {
			t.Errorf("a thread shows %+v", m)
		}
	}
	var got []string
	for cursor := ""; ; {
		page := must(h.as("bob").GetThread(t.Context(), c3po.ThreadInput{Thread: first.Thread, Limit: 2, Cursor: cursor}))(t)
		got = append(got, texts(page.Messages)...)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	same(t, "in pages", got, want)
}

func TestAThreadIsForThoseWhoHaveAPartInIt(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("bob")
	first := h.send("alice", "bob", "secret")
	for _, name := range []string{first.Thread, "no-such-thread", "a::b::00000000"} {
		_, err := h.as("carol").GetThread(t.Context(), c3po.ThreadInput{Thread: name})
		refused(t, err, c3po.InvalidRequest, fmt.Sprintf("there is no thread '%s'", name))
	}
	_, err := h.as("bob").GetThread(t.Context(), c3po.ThreadInput{})
	refused(t, err, c3po.InvalidRequest)
	list := must(h.asPerson().GetThread(t.Context(), c3po.ThreadInput{Thread: first.Thread}))(t)
	same(t, "a person reads", texts(list.Messages), []string{"secret"})
	_, err = h.asPerson().GetThread(t.Context(), c3po.ThreadInput{Thread: "no-such-thread"})
	refused(t, err, c3po.InvalidRequest)
}

func TestAThreadIsPagedByBytes(t *testing.T) {
	t.Parallel()
	h := build(t, func(l *c3po.Limits) { l.PageBytes = 4500 })
	h.enter("bob")
	for i := range 4 {
		must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Thread: "long", Message: strings.Repeat(fmt.Sprint(i), 2000)}))(t)
	}
	page := must(h.as("bob").GetThread(t.Context(), c3po.ThreadInput{Thread: "long"}))(t)
	if len(page.Messages) != 2 || page.Next == "" {
		t.Errorf("a page has %d messages of 2000 bytes, next %q", len(page.Messages), page.Next)
	}
}

func TestATraceIsTheWholeLifeOfAMessage(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		sent := h.send("alice", "bob", "question")
		began := sent.Timestamp
		fresh := h.trace(sent.ID)
		same(t, "a fresh message", fresh, c3po.Trace{
			ID: sent.ID, Seq: sent.Seq, Kind: c3po.KindMessage, Thread: sent.Thread, Priority: c3po.Normal, ExpectsReply: true,
			TraceID: c3po.ChainTrace("main", sent.Thread, sent.ID).Trace.String(),
			Bytes:   fresh.Bytes, State: c3po.StatePending, Accepted: c3po.Fact{At: began, Durability: c3po.OnDisk},
			Notified: []c3po.Fact{}, Served: []c3po.Fact{}, Answered: []c3po.Answered{}, Reachability: c3po.ReachNextCall, Expires: "in 1 d 0 h",
		})
		pass(10 * time.Second)
		h.inbox("bob")
		pass(10 * time.Second)
		reply := h.reply("bob", sent.ID, "answer")
		trace := h.trace(sent.ID)
		same(t, "the trace of the answer", h.trace(reply.ID).TraceID, trace.TraceID)
		same(t, "state", trace.State, c3po.StateAcked)
		same(t, "served", trace.Served, []c3po.Fact{{At: began.Add(10 * time.Second), Session: "anonymous", Route: "rest", Times: 1}})
		same(t, "ended", trace.Ended, &c3po.Fact{At: began.Add(20 * time.Second)})
		same(t, "answered", trace.Answered, []c3po.Answered{{ID: reply.ID, At: began.Add(20 * time.Second)}})
		same(t, "expires", trace.Expires, "")
		same(t, "what the answer answers", h.trace(reply.ID).MessageID, sent.ID)
		_, err := h.asPerson().Trace(t.Context(), c3po.MessageInput{MessageID: "a::b::00000000"})
		refused(t, err, c3po.InvalidRequest)
		_, err = h.asPerson().Trace(t.Context(), c3po.MessageInput{})
		refused(t, err, c3po.InvalidRequest)
	})
}

// Who asks somebody else because it was asked begins another thread.
func TestATraceSaysWhichThreadAMessageFollowsFrom(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("bob")
	h.enter("carol")
	first := h.send("alice", "bob", "question")
	h.inbox("bob")
	second := h.send("bob", "carol", "question")
	answer := h.reply("carol", second.ID, "answer")
	third := h.send("bob", "carol", "another matter")
	for id, want := range map[c3po.MessageID]string{first.ID: "", second.ID: first.Thread, answer.ID: first.Thread, third.ID: ""} {
		same(t, string(id)+" follows", h.trace(id).Follows, want)
	}
}

func TestWhatAnAgentSendsFollowsFromAQuestionUntilItHasAnswered(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := configured(t, func(c *hub.Config) { c.Ended = func(c3po.Space, c3po.EventKind, c3po.MessageID) {} })
		h.enter("alice", "bob", "carol")
		first, second := h.send("alice", "bob", "first"), h.send("alice", "bob", "second")
		traceOf := func(id c3po.MessageID) string { return h.trace(id).TraceID }
		given := func(want c3po.MessageID) {
			t.Helper()
			same(t, "given", must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{}))(t).ID, want)
		}
		given(first.ID)
		same(t, "the trace while it works on the first", traceOf(h.send("bob", "carol", "what of this?").ID), traceOf(first.ID))
		given(second.ID)
		h.reply("bob", first.ID, "done")
		same(t, "the trace while the second is not answered", traceOf(h.send("bob", "carol", "what of that?").ID), traceOf(second.ID))
		h.reply("bob", second.ID, "done")
		after := traceOf(h.send("bob", "carol", "another matter").ID)
		if after == traceOf(first.ID) || after == traceOf(second.ID) {
			t.Errorf("what it sends after its answers is in the trace %s of a question", after)
		}
	})
}

func TestOneGoesThroughTheBooksAtATime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		h.calls.await = make(chan struct{})
		first := make(chan error, 1)
		go func() {
			_, err := h.asPerson().Fsck(t.Context(), c3po.None{})
			first <- err
		}()
		synctest.Wait()
		brief, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range 16 {
			_, err := h.asPerson().Fsck(brief, c3po.None{})
			refused(t, err, c3po.RateLimited)
		}
		close(h.calls.await)
		if err := <-first; err != nil {
			t.Error(err)
		}
		must(h.asPerson().Fsck(t.Context(), c3po.None{}))(t)
	})
}

func TestTheBooksBalance(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		answered := h.send("alice", "bob", "one")
		h.reply("bob", answered.ID, "yes")
		h.send("alice", "bob", "two")
		h.send("alice", c3po.Human, "help")
		got := must(h.asPerson().Fsck(t.Context(), c3po.None{}))(t)
		same(t, "audit", got, c3po.Audit{
			Space: "main", Epoch: 1, Sent: 4, Pending: 3, Acked: 1, Found: 3, Bytes: got.FoundBytes, FoundBytes: got.FoundBytes, Agents: 2, Balanced: true, Problems: []string{},
		})
		h.calls.failWith("Counters", errors.New("miscount"))
		bad := must(h.asPerson().Fsck(t.Context(), c3po.None{}))(t)
		if bad.Balanced || len(bad.Problems) != 1 || !strings.Contains(bad.Problems[0], "5 messages were sent") {
			t.Errorf("a wrong count gives %+v", bad)
		}
		if n := h.calls.of("Counters"); n != 3 {
			t.Errorf("the books were read %d times, want once, and twice when they do not balance", n)
		}
	})
}

func TestNamingAThreadGivesNoRightToReadWhatOthersSaidInIt(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("ann", "bob", "eve")
	in := func(from, to c3po.AgentID, text string) {
		t.Helper()
		must(h.as(from).SendMessage(t.Context(), c3po.SendInput{Target: string(to), Message: text, Thread: "uuid-1"}))(t)
	}
	in("ann", "bob", "private")
	in("eve", "bob", "let me in")
	list := must(h.as("eve").GetThread(t.Context(), c3po.ThreadInput{Thread: "uuid-1"}))(t)
	if len(list.Messages) != 1 || list.Messages[0].Message != "let me in" {
		t.Errorf("eve reads %+v", list.Messages)
	}
	// With pages of one, what is hidden is no page.
	first := must(h.as("eve").GetThread(t.Context(), c3po.ThreadInput{Thread: "uuid-1", Limit: 1}))(t)
	if len(first.Messages) != 1 || first.Next != "" {
		t.Errorf("eve's first page is %+v", first)
	}
	same(t, "what bob reads", len(must(h.as("bob").GetThread(t.Context(), c3po.ThreadInput{Thread: "uuid-1"}))(t).Messages), 2)
	same(t, "what a person reads", len(must(h.asPerson().GetThread(t.Context(), c3po.ThreadInput{Thread: "uuid-1"}))(t).Messages), 2)
}
