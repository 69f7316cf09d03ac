package hub_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

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
		if receipt.Reachability != c3po.ReachWaitingForHuman || !strings.Contains(receipt.Notice, "when its user answers") {
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
		_, err := h.asPerson().HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: asked.MessageID, Response: "No."})
		refused(t, err, c3po.InvalidRequest, "has its answer already")
		if why := h.agent("api").Paused; why != nil {
			t.Errorf("still paused: %s", *why)
		}
		same(t, "open questions", must(h.asPerson().HumanList(t.Context(), c3po.GetMessagesInput{}))(t).Count, 0)
	})
}

// Attack: an agent dresses a question as a request for permission
func TestAQuestionOffersNoChoiceThatAllowsATool(t *testing.T) {
	t.Parallel()
	h := build(t)
	for _, choice := range []string{
		c3po.AllowOnce, "allow once", " Allow  Once. ", "1. Allow-once", "Аllow once", "Allow оnсе", "𝐀𝐥𝐥𝐨𝐰 once", "Allow once (recommended)", "Allow", "АLLOW!", c3po.Deny, "Dеny",
	} {
		_, err := h.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "Allow Bash in /src?", Choices: []string{"No", choice}})
		refused(t, err, c3po.InvalidRequest, "c3po itself offers", "allows no tool")
	}
	must(h.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "Open the port?", Choices: []string{"allow it for the office", "deny all", "Разрешить"}}))(t)
}

func TestAQuestionOffersChoices(t *testing.T) {
	t.Parallel()
	h := build(t)
	ask := func(text string) c3po.MessageID {
		return must(h.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{
			Reason: "Two tables match.", Question: text, Choices: []string{"the old one", "2", "neither"},
		}))(t).MessageID
	}
	answer := func(id c3po.MessageID, in c3po.AnswerInput) (string, error) {
		in.MessageID = id
		got, err := h.asPerson().HumanAnswer(t.Context(), in)
		return got.Response, err
	}
	id := ask("Which one?")
	q := must(h.asPerson().HumanList(t.Context(), c3po.GetMessagesInput{}))(t).Messages[0]
	same(t, "question", q.Message, "Which one?")
	same(t, "reason", q.Context, "Two tables match.")
	same(t, "choices", q.Choices, []string{"the old one", "2", "neither"})
	_, err := answer(id, c3po.AnswerInput{Choice: "the new one"})
	refused(t, err, c3po.InvalidRequest, "none of the choices")
	_, err = answer(id, c3po.AnswerInput{Choice: "4"})
	refused(t, err, c3po.InvalidRequest, "none of the choices")
	for _, oddly := range []string{"+1", "01", "1e0", "-1", "0", "1.0", "99999999999999999999"} {
		_, err = answer(id, c3po.AnswerInput{Choice: oddly})
		refused(t, err, c3po.InvalidRequest, "none of the choices")
	}
	_, err = answer(id, c3po.AnswerInput{Choice: "1", Response: "or not"})
	refused(t, err, c3po.InvalidRequest, "not both")
	_, err = answer(id, c3po.AnswerInput{})
	refused(t, err, c3po.InvalidRequest, "response is empty")
	same(t, "by number", must(answer(id, c3po.AnswerInput{Choice: "3"}))(t), "neither")
	same(t, "words before numbers", must(answer(ask("And here?"), c3po.AnswerInput{Choice: "2"}))(t), "2")
	same(t, "in own words", must(answer(ask("And there?"), c3po.AnswerInput{Response: "ask Eva"}))(t), "ask Eva")

	shown := must(h.asPerson().HumanShow(t.Context(), c3po.MessageInput{MessageID: id}))(t)
	if shown.State != c3po.TicketResponded || shown.Reply == nil || shown.Reply.Response != "neither" {
		t.Errorf("shown = %+v", shown)
	}
	plain := must(h.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "Open?"}))(t)
	_, err = answer(plain.MessageID, c3po.AnswerInput{Choice: "1"})
	refused(t, err, c3po.InvalidRequest, "no choices")
	h.enter("bob")
	_, err = h.asPerson().HumanShow(t.Context(), c3po.MessageInput{MessageID: h.send("api", "bob", "between us").ID})
	refused(t, err, c3po.Forbidden)
	_, err = h.as("api").HumanShow(t.Context(), c3po.MessageInput{MessageID: id})
	refused(t, err, c3po.Forbidden)
}

func TestAQuestionNobodyCouldAnswerIsRefused(t *testing.T) {
	t.Parallel()
	h := build(t)
	for _, in := range []c3po.EscalateInput{
		{Reason: "r", Question: " "},
		{Reason: "r", Choices: []string{"a", ""}},
		{Reason: "r", Choices: []string{"a", "b", "a"}},
		{Reason: "r", Choices: []string{"two\nlines"}},
		{Reason: "r", Choices: []string{strings.Repeat("x", 201)}},
		{Reason: "r", Choices: strings.Split("0123456789", "")},
		{Reason: "r", Deadline: "soon"},
		{Reason: "r", Deadline: "0s"},
		{Reason: "r", Deadline: "-5m"},
		{Reason: "r", Deadline: "31d"},
	} {
		_, err := h.as("api").EscalateToHuman(t.Context(), in)
		refused(t, err, c3po.InvalidRequest)
	}
	if why := h.agent("api").Paused; why != nil {
		t.Errorf("paused by a refused question: %s", *why)
	}
}

// A person interrupts an agent, which asks, is left alone until it is answered,
// and goes on; nothing that came meanwhile is lost.
func TestAnAgentThatWasInterruptedAsksAndGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		const run = "box:7:8"
		api := func() actor { return h.asRun("api", run) }
		must(api().Ping(t.Context(), c3po.None{}))(t)
		waits, interrupt := context.WithCancel(t.Context())
		cut := start(func() (c3po.WaitResult, error) { return api().WaitForMessage(waits, c3po.WaitInput{Timeout: 600}) })
		pass(time.Second)
		interrupt()
		pass(time.Millisecond)
		if !cut.isDone() {
			t.Fatal("the wait goes on after it was interrupted")
		}

		// What watches for the agent hears of the pause, and then only what is new.
		none := ""
		watch := start(func() (c3po.PendingResult, error) {
			return api().Pending(t.Context(), c3po.PendingInput{Timeout: 600, Paused: &none})
		})
		pass(time.Second)
		asked := must(api().EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "They stopped me. Which way?", Choices: []string{"left", "right"}}))(t)
		told := watch.atOnce(t)
		same(t, "why it is paused", *told.Paused, c3po.PausedForHuman)
		waiting := c3po.PausedForHuman
		watch = start(func() (c3po.PendingResult, error) {
			return api().Pending(t.Context(), c3po.PendingInput{Timeout: 600, Paused: &waiting, After: &told.Seq})
		})
		pass(time.Minute)
		if watch.isDone() {
			t.Fatal("it was disturbed while it waits")
		}
		receipt := h.send("bob", "api", "are you there?")
		same(t, "what a sender is told", receipt.Reachability, c3po.ReachWaitingForHuman)
		arrived := watch.atOnce(t)
		same(t, "still paused", *arrived.Paused, c3po.PausedForHuman)

		watch = start(func() (c3po.PendingResult, error) {
			return api().Pending(t.Context(), c3po.PendingInput{Timeout: 600, Paused: &waiting, After: &arrived.Seq})
		})
		answer := start(func() (c3po.WaitResult, error) {
			return api().WaitForMessage(t.Context(), c3po.WaitInput{MessageID: asked.MessageID, Timeout: 600})
		})
		pass(time.Second)
		must(h.asPerson().HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: asked.MessageID, Choice: "right"}))(t)
		same(t, "the answer", answer.atOnce(t).Response, "right")
		resumed := watch.atOnce(t)
		same(t, "it goes on", *resumed.Paused, "")
		same(t, "with what it was answered", texts(resumed.Messages), []string{"right"})

		// It minds a pause of everybody as its own.
		for _, why := range []string{"fire drill", ""} {
			known := *resumed.Paused
			watch = start(func() (c3po.PendingResult, error) {
				return api().Pending(t.Context(), c3po.PendingInput{Timeout: 600, Paused: &known, After: &resumed.Seq})
			})
			pass(time.Second)
			if why != "" {
				must(h.asPerson().Pause(t.Context(), c3po.PauseInput{All: true, Reason: why}))(t)
			} else {
				must(h.asPerson().Resume(t.Context(), c3po.PauseInput{All: true}))(t)
			}
			resumed = watch.atOnce(t)
			same(t, "why everybody is paused", *resumed.Paused, why)
			same(t, "what a person sees of it", must(h.asPerson().ServerInfo(t.Context(), c3po.None{}))(t).Paused, why)
		}
		same(t, "reachability", h.send("bob", "api", "again").Reachability == c3po.ReachWaitingForHuman, false)
		same(t, "nothing is lost", texts(h.inbox("api")), []string{"are you there?", "right", "again"})
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

func TestAnAdminCanActAsThePerson(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("api")
	admin := h.As(c3po.Caller{ID: c3po.Human, Role: c3po.RoleAdmin, Route: "rest"})
	sent := must(admin.SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "How far are you?"}))(t)
	same(t, "who wrote", sent.FromAgent, c3po.Human)
}
