package hub_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// lines shows who waits for whom as a person would draw it.
func lines(stuck c3po.Stuck) (all []string) {
	for _, h := range stuck.HoldUps {
		circle := ""
		if h.Circle {
			circle = " in a circle"
		}
		all = append(all, fmt.Sprintf("%s holds up %d%s", h.Agent, h.Behind, circle))
		for _, w := range h.Waits {
			all = append(all, fmt.Sprintf("%d %s waits for %s, %d behind", w.Depth, w.FromAgent, w.ToAgent, w.Behind))
		}
	}
	return all
}

func TestAChainOfWaitsEndsAtWhoHoldsItUp(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("api", "docs", "payments", "web", "build")
		stuck := func() c3po.Stuck { return must(h.asPerson().Stuck(t.Context(), c3po.None{}))(t) }
		same(t, "nobody waits", len(lines(stuck())), 0)

		asked := must(h.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "which?", Deadline: "10s"}))(t)
		pass(time.Second)
		h.send("docs", "api", "1")
		pass(time.Second)
		web := h.send("web", "docs", "2")
		pass(time.Second)
		h.send("payments", "build", "3")
		h.send("payments", "build", "4")
		same(t, "questions of one to one", stuck().HoldUps[1].Waits[0].Questions, 2)
		same(t, "chains", lines(stuck()), []string{
			"human holds up 3",
			"1 api waits for human, 2 behind",
			"2 docs waits for api, 1 behind",
			"3 web waits for docs, 0 behind",
			"build holds up 1",
			"1 payments waits for build, 0 behind",
		})
		same(t, "build reads its mail", stuck().HoldUps[1].Reachability, must(h.asPerson().GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "build"}))(t).Reachability)

		// A question to the person that is overdue is still waited for.
		pass(time.Minute)
		same(t, "overdue", lines(stuck())[1], "1 api waits for human, 2 behind")
		must(h.asPerson().HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: asked.MessageID, Response: "this"}))(t)
		same(t, "answered", lines(stuck())[:2], []string{"api holds up 2", "1 docs waits for api, 1 behind"})
		h.reply("docs", web.ID, "done")
		same(t, "freed", lines(stuck())[:2], []string{"api holds up 1", "1 docs waits for api, 0 behind"})
	})
}

func TestAQuestionThatIsHandedOverIsOneWaitForWhoHasIt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("a", "b", "c")
		asked := must(h.as("a").SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "why?", DeadlineMS: 60_000}))(t)
		must(h.as("b").Reply(t.Context(), c3po.ReplyInput{MessageID: asked.ID, Response: "ask c", Status: c3po.ReplyHandedOver, HandedTo: "c"}))(t)
		holdUps := must(h.asPerson().Stuck(t.Context(), c3po.None{}))(t).HoldUps
		same(t, "who has it", lines(c3po.Stuck{HoldUps: holdUps}), []string{"c holds up 1", "1 a waits for c, 0 behind"})
		same(t, "questions", holdUps[0].Waits[0].Questions, 1)
		same(t, "the question", holdUps[0].Waits[0].ID, asked.ID)
		pass(time.Minute)
		same(t, "nobody waits after its deadline", len(lines(must(h.asPerson().Stuck(t.Context(), c3po.None{}))(t))), 0)
	})
}

func TestTicketsThatHaveEndedAreNotReadForThoseThatAreOpen(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("a", "b")
	asked := h.send("a", "b", "why?")
	h.calls.failWith("Tickets", c3po.Errorf(c3po.InvalidRequest, "all tickets were read"))
	same(t, "who waits", lines(must(h.asPerson().Stuck(t.Context(), c3po.None{}))(t)), []string{"b holds up 1", "1 a waits for b, 0 behind"})
	open := must(h.asPerson().Tickets(t.Context(), c3po.TicketsInput{Which: c3po.TicketsAll, State: c3po.TicketsOpen}))(t)
	same(t, "open", open.Tickets[0].ID, asked.ID)
}

func TestAgentsThatWaitForEachOtherAreACircle(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("a", "b", "c")
		h.send("a", "b", "1")
		pass(time.Second)
		h.send("b", "a", "2")
		pass(time.Second)
		h.send("c", "a", "3")
		same(t, "from who was asked first", lines(must(h.asPerson().Stuck(t.Context(), c3po.None{}))(t)), []string{
			"b holds up 2 in a circle",
			"1 a waits for b, 2 behind",
			"2 b waits for a, 2 behind",
			"2 c waits for a, 0 behind",
		})
	})
}

func TestNobodyWaitsForWhatThePersonAsked(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("a")
	must(h.As(c3po.Caller{Role: c3po.RoleHuman, Route: "rest", ID: c3po.Human}).SendMessage(t.Context(), c3po.SendInput{Target: "a", Message: "how far?"}))(t)
	same(t, "nobody", len(lines(must(h.asPerson().Stuck(t.Context(), c3po.None{}))(t))), 0)
}
