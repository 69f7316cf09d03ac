package hub_test

import (
	"strings"
	"testing"

	"github.com/c3po-dev/c3po"
)

// Claims: A1
func TestAnEscalationPausesUntilThePersonAnswers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		asked := must(h.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "May I delete it?", ClientKey: "k"}))(t)
		if !asked.Success || asked.Paused != c3po.PausedForHuman || asked.MessageID == "" || asked.Message == "" {
			t.Fatalf("escalation = %+v", asked)
		}
		again := must(h.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "May I delete it?", ClientKey: "k"}))(t)
		same(t, "asked twice with one key", again.MessageID, asked.MessageID)

		questions := must(h.asPerson().HumanList(t.Context(), c3po.GetMessagesInput{}))(t)
		same(t, "questions", texts(questions.Messages), []string{"May I delete it?"})
		if q := questions.Messages[0]; q.FromAgent != "api" || q.Kind != c3po.KindEscalation || !q.ExpectsReply {
			t.Errorf("question = %+v", q)
		}
		receipt := h.send("bob", "api", "are you there?")
		if receipt.Reachability != c3po.ReachWaitingForHuman || !strings.Contains(receipt.Notice, "waits for its person") {
			t.Errorf("a sender is told %+v", receipt)
		}

		wait := h.waitFor("api", c3po.WaitInput{MessageID: asked.MessageID})
		person := h.asPerson()
		answer := must(person.HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: asked.MessageID, Response: "Yes."}))(t)
		same(t, "acted as", person.ID(), c3po.Human)
		if answer.FromAgent != c3po.Human || answer.ToAgent != "api" {
			t.Errorf("answer = %+v", answer)
		}
		same(t, "what the agent reads", wait.atOnce(t).Response, "Yes.")
		if why := h.agent("api").Paused; why != nil {
			t.Errorf("still paused: %s", *why)
		}
		same(t, "open questions", must(h.asPerson().HumanList(t.Context(), c3po.GetMessagesInput{}))(t).Count, 0)
	})
}

func TestAnEmptyEscalationIsRefused(t *testing.T) {
	t.Parallel()
	h := build(t)
	_, err := h.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "\n"})
	refused(t, err, c3po.InvalidRequest, "reason is empty")
	if why := h.agent("api").Paused; why != nil {
		t.Errorf("paused by a refused question: %s", *why)
	}
}

func TestOnlyAPersonActsForThePerson(t *testing.T) {
	t.Parallel()
	h := build(t)
	asked := must(h.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "May I?"}))(t)
	agent := h.as("api")
	_, err := agent.HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: asked.MessageID, Response: "Sure, me"})
	refused(t, err, c3po.Forbidden)
	_, err = agent.HumanList(t.Context(), c3po.GetMessagesInput{})
	refused(t, err, c3po.Forbidden)
	_, err = agent.Pause(t.Context(), c3po.PauseInput{All: true})
	refused(t, err, c3po.Forbidden)
	_, err = agent.Resume(t.Context(), c3po.PauseInput{AgentID: "api"})
	refused(t, err, c3po.Forbidden)
	same(t, "still paused", *h.agent("api").Paused, c3po.PausedForHuman)

	// A person answers what was asked of them, nothing else.
	h.enter("bob")
	private := h.send("api", "bob", "between us")
	_, err = h.asPerson().HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: private.ID, Response: "no"})
	refused(t, err, c3po.Forbidden)
}

func TestAPersonPausesOneAgentOrAll(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("api", "web")
	got := must(h.asPerson().Pause(t.Context(), c3po.PauseInput{AgentID: "api"}))(t)
	same(t, "paused", *got.Paused, "paused by a person")
	same(t, "web", h.agent("web").Paused, (*string)(nil))
	all := must(h.asPerson().Pause(t.Context(), c3po.PauseInput{All: true, Reason: "fire drill"}))(t)
	if !all.All || *all.Paused != "fire drill" || *h.agent("web").Paused != "fire drill" {
		t.Errorf("after pausing all: %+v", all)
	}
	held := must(h.asPerson().Resume(t.Context(), c3po.PauseInput{AgentID: "api"}))(t)
	same(t, "api, resumed while all are paused", *held.Paused, "fire drill")
	free := must(h.asPerson().Resume(t.Context(), c3po.PauseInput{All: true}))(t)
	same(t, "all", free, c3po.PauseResult{All: true})
	same(t, "api", h.agent("api").Paused, (*string)(nil))

	for _, in := range []c3po.PauseInput{{}, {AgentID: "api", All: true}, {AgentID: "api", Reason: c3po.PausedForHuman}, {AgentID: "api", Reason: "a\nb"}, {AgentID: "-"}} {
		_, err := h.asPerson().Pause(t.Context(), in)
		refused(t, err, c3po.InvalidRequest)
	}
	_, err := h.asPerson().Pause(t.Context(), c3po.PauseInput{AgentID: "nobody"})
	refused(t, err, c3po.AgentNotFound)
}
