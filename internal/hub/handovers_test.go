package hub_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestTheNextAgentReadsWhatTheOneBeforeSaidAndWhichFiles(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("alice", "bob", "carol", "dave")
	asked := h.send("alice", "bob", "mend a.go").ID
	files := json.RawMessage(`{"files":[{"path":"a.go"}]}`)
	must(h.as("bob").Reply(t.Context(), c3po.ReplyInput{MessageID: asked, Response: "half is done", Status: c3po.ReplyHandedOver, HandedTo: "carol", Metadata: files}))(t)
	carried := func(m c3po.Message, words, metadata string) {
		t.Helper()
		if m.Message != "mend a.go" || m.Handover == nil || m.Handover.Response != words || string(m.Handover.Metadata) != metadata {
			t.Errorf("the message is %+v, with %+v", m, m.Handover)
		}
	}
	carried(must(h.as("carol").Peek(t.Context(), c3po.GetMessagesInput{}))(t).Messages[0], "half is done", string(files))
	moved := must(h.as("carol").WaitForMessage(t.Context(), c3po.WaitInput{}))(t)
	carried(moved.Message, "half is done", string(files))
	carried(h.inbox("carol")[0], "half is done", string(files))

	spoken := func(who c3po.AgentID) (words []string) {
		for _, m := range must(h.as(who).GetThread(t.Context(), c3po.ThreadInput{Thread: string(asked)}))(t).Messages {
			words = append(words, m.Text())
		}
		return words
	}
	if words := spoken("carol"); !slices.Contains(words, "half is done") {
		t.Errorf("carol's thread is %q", words)
	}

	// Whoever has it next reads the words of the one before, and not those of the first.
	must(h.as("carol").Reply(t.Context(), c3po.ReplyInput{MessageID: moved.ID, Response: "the tests are left", Status: c3po.ReplyHandedOver, HandedTo: "dave"}))(t)
	carried(h.inbox("dave")[0], "the tests are left", "")
	if words := spoken("dave"); !slices.Contains(words, "the tests are left") || slices.Contains(words, "half is done") {
		t.Errorf("dave's thread is %q", words)
	}
	if words := spoken("bob"); slices.Contains(words, "the tests are left") {
		t.Errorf("bob's thread is %q", words)
	}
}
