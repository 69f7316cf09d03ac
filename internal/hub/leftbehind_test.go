package hub_test

import (
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

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

// Names belong to conversations: the second session's may be the one that goes on.
func TestASecondSessionThatGoesOnAloneIsOfferedTheMailOfTheFirst(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		here := c3po.RegisterInput{Cwd: "/src/api", Host: "box"}
		run := func(run, conversation string) actor {
			return h.As(c3po.Caller{ID: "api", Run: run, Session: conversation, Role: c3po.RoleAgent, Route: "mcp"})
		}
		first, second, third := run("r1", "about fish"), run("r2", "about birds"), run("r3", "about cats")
		for i, session := range []actor{first, second, third} {
			same(t, "session", must(session.RegisterAgent(t.Context(), here))(t).ID, []c3po.AgentID{"api", "api-2", "api-3"}[i])
		}
		for _, session := range []actor{first, second, third} {
			must(session.Unregister(t.Context(), c3po.None{}))(t)
		}
		h.enter("web")
		question := h.send("web", "api", "Which port?")

		again, beside := run("r4", "about birds"), run("r5", "about cats")
		self := must(again.RegisterAgent(t.Context(), here))(t)
		same(t, "it goes on as", self.ID, c3po.AgentID("api-2"))
		same(t, "and is told", self.Notice, "'api' is the name of another session; you are 'api-2'")
		same(t, "beside it", must(beside.RegisterAgent(t.Context(), here))(t).ID, c3po.AgentID("api-3"))
		left := func(session actor) []c3po.LeftBehind {
			return must(session.WhoAmI(t.Context(), c3po.None{}))(t).LeftBehind
		}
		same(t, "offered", left(again), []c3po.LeftBehind{{ID: "api", Unread: 1}})
		same(t, "offered to one that stands behind it", left(beside), []c3po.LeftBehind(nil))
		_, err := beside.GetMessages(t.Context(), c3po.GetMessagesInput{LeftBy: "api"})
		refused(t, err, c3po.Forbidden)
		list := must(again.GetMessages(t.Context(), c3po.GetMessagesInput{LeftBy: "api"}))(t)
		same(t, "read", list.Messages[0].ID, question.ID)
		answer := must(again.Reply(t.Context(), c3po.ReplyInput{MessageID: question.ID, Response: "8080"}))(t)
		same(t, "from", answer.FromAgent, c3po.AgentID("api"))
		same(t, "left afterwards", left(again), []c3po.LeftBehind(nil))

		must(run("r6", "about fish").RegisterAgent(t.Context(), here))(t)
		h.send("web", "api", "And which host?")
		same(t, "offered while the first runs", left(again), []c3po.LeftBehind(nil))
	})
}

func TestMailOfASiblingThatTheTokenDoesNotCoverIsNotOffered(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		in := c3po.RegisterInput{Cwd: "/src/api", Host: "box"}
		second := h.asRun("api", "r2")
		must(h.asRun("api", "r1").RegisterAgent(t.Context(), in))(t)
		must(second.RegisterAgent(t.Context(), in))(t)
		h.send("web", "api-2", "Which port?")
		must(second.Unregister(t.Context(), c3po.None{}))(t)
		first := c3po.Caller{ID: "api", Run: "r1", Session: "session of r1", Role: c3po.RoleAgent, Route: "mcp"}
		offered := func() int { return len(must(h.As(first).WhoAmI(t.Context(), c3po.None{}))(t).LeftBehind) }
		same(t, "offered to a token for any name", offered(), 1)
		first.Agents = "api"
		same(t, "offered to a token for one name", offered(), 0)
		_, err := h.As(first).GetMessages(t.Context(), c3po.GetMessagesInput{LeftBy: "api-2"})
		refused(t, err, c3po.Forbidden)
	})
}

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
