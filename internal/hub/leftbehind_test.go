package hub_test

import (
	"strings"
	"testing"

	"github.com/c3po-dev/c3po"
)

// Claims: A6
func TestTheFirstSessionIsOfferedTheMailOfASecondThatHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		first, second := h.asRun("api", "r1"), h.asRun("api", "r2")
		here := c3po.RegisterInput{Cwd: "/src/api", Host: "box"}
		must(first.RegisterAgent(t.Context(), here))(t)
		same(t, "the second", must(second.RegisterAgent(t.Context(), here))(t).ID, c3po.AgentID("api-2"))
		h.enter("web")
		question, note := h.send("web", "api-2", "Which port?"), h.send("web", "api-2", "by the way")
		left := func() []c3po.LeftBehind { return must(first.WhoAmI(t.Context(), c3po.None{}))(t).LeftBehind }
		var nothing []c3po.LeftBehind
		theirs := c3po.GetMessagesInput{LeftBy: "api-2"}

		same(t, "left while it runs", left(), nothing)
		_, err := first.GetMessages(t.Context(), theirs)
		refused(t, err, c3po.Forbidden)
		_, err = first.Reply(t.Context(), c3po.ReplyInput{MessageID: question.ID, Response: "mine"})
		if err == nil {
			t.Error("mail of a session that runs was answered by another")
		}

		must(second.Unregister(t.Context(), c3po.None{}))(t)
		same(t, "left", left(), []c3po.LeftBehind{{ID: "api-2", Unread: 2}})
		list := must(first.GetMessages(t.Context(), theirs))(t)
		same(t, "read", []c3po.MessageID{list.Messages[0].ID, list.Messages[1].ID}, []c3po.MessageID{question.ID, note.ID})
		same(t, "its own mail", len(h.inbox("api")), 0)
		answer := must(first.Reply(t.Context(), c3po.ReplyInput{MessageID: question.ID, Response: "8080"}))(t)
		same(t, "from", answer.FromAgent, c3po.AgentID("api-2"))
		same(t, "web reads", h.inbox("web")[0].Response, "8080")
		acked := must(first.AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{note.ID}}))(t)
		same(t, "acked", acked.Acked, []c3po.MessageID{note.ID})
		same(t, "left afterwards", left(), nothing)
		same(t, "the second", h.agent("api-2").Status, c3po.Offline)
	})
}

// Claims: A6
func TestMailOfAnotherFolderIsOfferedToNobody(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for what, there := range map[string]c3po.RegisterInput{
			"another folder": {Cwd: "/other/api", Host: "box"},
			"another host":   {Cwd: "/src/api", Host: "nas"},
		} {
			h := build(t)
			first, second := h.asRun("api", "r1"), h.asRun("api", "r2")
			must(first.RegisterAgent(t.Context(), c3po.RegisterInput{Cwd: "/src/api", Host: "box"}))(t)
			must(second.RegisterAgent(t.Context(), there))(t)
			h.enter("web", "api-3x", "web-2")
			sent := h.send("web", "api-2", "Which port?")
			must(second.Unregister(t.Context(), c3po.None{}))(t)
			same(t, what, len(must(first.WhoAmI(t.Context(), c3po.None{}))(t).LeftBehind), 0)
			for _, id := range []string{"api-2", "web-2", "api-3x", "api", "nobody"} {
				_, err := first.GetMessages(t.Context(), c3po.GetMessagesInput{LeftBy: id})
				refused(t, err, c3po.Forbidden)
			}
			if _, err := first.Reply(t.Context(), c3po.ReplyInput{MessageID: sent.ID, Response: "x"}); err == nil {
				t.Error(what, "was answered")
			}
			acked := must(first.AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{sent.ID}}))(t)
			same(t, what, len(acked.Acked), 0)
			if page := h.inbox("api-2"); len(page) != 1 || !strings.Contains(page[0].Message, "port") {
				t.Errorf("%s: it has %v", what, page)
			}
		}
	})
}
