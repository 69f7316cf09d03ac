package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// pausing are the two ways to pause an agent called api.
func pausing() map[string]c3po.PauseInput {
	return map[string]c3po.PauseInput{"the agent": {AgentID: "api", Reason: "lunch"}, "everybody": {All: true, Reason: "lunch"}}
}

func TestAWaitOfAPausedAgentBringsItsPersonsWordsAlone(t *testing.T) {
	t.Parallel()
	for name, whom := range pausing() {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := build(t)
				h.enter("web")
				h.join("api", "review")
				before := h.waitFor("api", c3po.WaitInput{Timeout: 600})
				pass(time.Second)
				h.send("web", "api", "before the pause")
				same(t, "before", before.atOnce(t).Text(), "before the pause")

				waiting := h.waitFor("api", c3po.WaitInput{Timeout: 600})
				pass(time.Second)
				h.send("web", "api", "sent in time")
				same(t, "in time", waiting.atOnce(t).Text(), "sent in time")
				waiting = h.waitFor("api", c3po.WaitInput{Timeout: 600})
				pass(time.Second)
				must(h.asPerson().Pause(t.Context(), whom))(t)
				told := waiting.atOnce(t).Outcome
				same(t, "why it ended", told.Status, c3po.WaitPaused)
				same(t, "in words", told.Message, "your user has paused you: lunch")

				waiting = h.waitFor("api", c3po.WaitInput{Timeout: 600})
				pass(time.Minute)
				same(t, "it says so once", waiting.isDone(), false)
				if !whom.All {
					h.send("web", "api", "work")
					must(h.as("web").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "task"}))(t)
				}
				pass(time.Minute)
				same(t, "others' words", waiting.isDone(), false)
				must(h.asPerson().SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "stop"}))(t)
				same(t, "the person's words", waiting.atOnce(t).Text(), "stop")

				end := h.waitFor("api", c3po.WaitInput{Timeout: 5}).result(t)
				same(t, "a wait whose time is over", end.Outcome.Message, "No message received within 5 seconds: your user has paused you: lunch")

				waiting = h.waitFor("api", c3po.WaitInput{Timeout: 600})
				pass(time.Second)
				must(h.asPerson().Resume(t.Context(), whom))(t)
				if !whom.All {
					same(t, "resumed", waiting.atOnce(t).Text(), "work")
					same(t, "then", h.waitFor("api", c3po.WaitInput{Timeout: 600}).atOnce(t).Text(), "task")
				} else {
					h.send("web", "api", "work")
					same(t, "resumed", waiting.atOnce(t).Text(), "work")
				}
			})
		})
	}
}

func TestAnAnswerReachesAPausedAskerOnceItIsResumed(t *testing.T) {
	t.Parallel()
	for name, whom := range pausing() {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := build(t)
				h.enter("api", "web")
				asked := h.send("api", "web", "Which port?")
				waiting := h.waitFor("api", c3po.WaitInput{MessageID: asked.ID, Timeout: 600})
				pass(time.Second)
				must(h.asPerson().Pause(t.Context(), whom))(t)
				pass(time.Second)
				must(h.as("web").Reply(t.Context(), c3po.ReplyInput{MessageID: asked.ID, Response: "8420"}))(t)
				outcome := waiting.atOnce(t).Outcome
				if whom.All {
					// web was paused with it, which ends the wait first.
					same(t, "why", outcome.Message, "'web' was paused before it answered: lunch")
				} else {
					same(t, "why", outcome.Message, "your user has paused you: lunch")
				}
				waiting = h.waitFor("api", c3po.WaitInput{MessageID: asked.ID, Timeout: 600})
				if whom.All {
					same(t, "why", waiting.atOnce(t).Outcome.Message, "your user has paused you: lunch")
					waiting = h.waitFor("api", c3po.WaitInput{MessageID: asked.ID, Timeout: 600})
				}
				pass(time.Minute)
				same(t, "still paused", waiting.isDone(), false)
				must(h.asPerson().Resume(t.Context(), whom))(t)
				same(t, "resumed", waiting.atOnce(t).Text(), "8420")
			})
		})
	}
}

func TestAPausedAgentStillWaitsForItsPersonsAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("api")
		asked := must(h.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "Delete it?"}))(t)
		waiting := h.waitFor("api", c3po.WaitInput{MessageID: asked.MessageID, Timeout: 600})
		pass(time.Minute)
		same(t, "it waits", waiting.isDone(), false)
		must(h.asPerson().HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: asked.MessageID, Response: "no"}))(t)
		same(t, "answer", waiting.atOnce(t).Text(), "no")
	})
}

func TestPendingShowsAPausedAgentItsPersonsWordsOnceAndTheRestWhenItIsResumed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("web")
		h.enter("api")
		after := int64(0)
		look := func() *later[c3po.PendingResult] {
			seq := after
			return start(func() (c3po.PendingResult, error) {
				actor := h.as("api")
				got, err := actor.Pending(t.Context(), c3po.PendingInput{Timeout: 600, After: &seq})
				actor.Delivered()
				return got, err
			})
		}
		said := func(got c3po.PendingResult) (all []string) {
			after = got.Seq
			for _, m := range got.Messages {
				all = append(all, m.Text())
			}
			return all
		}
		must(h.asPerson().Pause(t.Context(), c3po.PauseInput{AgentID: "api", Reason: "lunch"}))(t)
		got := look().atOnce(t)
		same(t, "why", *got.Paused, "lunch")
		same(t, "with it", fmt.Sprint(said(got)), "[]")
		waiting := look()
		h.send("web", "api", "one")
		pass(time.Minute)
		same(t, "others' words", waiting.isDone(), false)
		must(h.asPerson().SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "stop"}))(t)
		got = waiting.atOnce(t)
		same(t, "count", got.Count, 1)
		same(t, "the person's words", fmt.Sprint(said(got)), "[stop]")
		waiting = look()
		h.send("web", "api", "two")
		pass(time.Minute)
		same(t, "the person's words again", waiting.isDone(), false)
		must(h.asPerson().Resume(t.Context(), c3po.PauseInput{AgentID: "api"}))(t)
		same(t, "resumed", fmt.Sprint(said(waiting.atOnce(t))), "[one two]")
	})
}

func TestWhoKeepsSilentWhilePausedIsShownThatThereIsMailAndNotWhatItSays(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("api", "web")
		must(h.asPerson().Pause(t.Context(), c3po.PauseInput{AgentID: "api", Reason: "lunch"}))(t)
		h.send("web", "api", "work")
		must(h.asPerson().SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "stop"}))(t)
		known := "lunch"
		got := must(h.as("api").Pending(t.Context(), c3po.PendingInput{Timeout: 60, Paused: &known}))(t)
		same(t, "messages", len(got.Messages), 2)
		same(t, "web's", got.Messages[0].Text(), "")
		same(t, "the person's", got.Messages[1].Text(), "stop")
	})
}

func TestASendOfAPausedAgentSaysSoAndIsRefusedWhenEverybodyIsPaused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("api", "web")
		must(h.as("api").RoomJoin(t.Context(), c3po.RoomJoinInput{Room: "ops"}))(t)
		must(h.asPerson().Pause(t.Context(), c3po.PauseInput{AgentID: "api"}))(t)
		send := func() (string, error) {
			got, err := h.as("api").SendMessage(t.Context(), c3po.SendInput{Target: "web", Message: "work " + time.Now().String()})
			return got.Notice, err
		}
		post := func() (string, error) {
			got, err := h.as("api").RoomPost(t.Context(), c3po.RoomPostInput{Room: "ops", Message: "hello " + time.Now().String()})
			return got.Notice, err
		}
		cast := func() (string, error) {
			got, err := h.as("api").Broadcast(t.Context(), c3po.BroadcastInput{Message: "all " + time.Now().String()})
			return got.Notice, err
		}
		for name, say := range map[string]func() (string, error){"send": send, "post": post, "broadcast": cast} {
			pass(time.Minute)
			notice := must(say())(t)
			if !strings.Contains(notice, "your user has paused you; this was sent all the same") {
				t.Errorf("%s of a paused agent says %q", name, notice)
			}
			must(h.asPerson().Pause(t.Context(), c3po.PauseInput{All: true}))(t)
			pass(time.Minute)
			_, err := say()
			refused(t, err, c3po.AgentUnavailable, "everybody is paused: your user has stopped all agents")
			must(h.asPerson().Resume(t.Context(), c3po.PauseInput{All: true}))(t)
		}
	})
}

func TestAnAgentThatLooksIntoItsInboxReadsThatItIsPaused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("api")
		same(t, "at work", must(h.as("api").GetMessages(t.Context(), c3po.GetMessagesInput{}))(t).Paused, "")
		must(h.asPerson().Pause(t.Context(), c3po.PauseInput{All: true, Reason: "fire drill"}))(t)
		same(t, "paused", must(h.as("api").GetMessages(t.Context(), c3po.GetMessagesInput{}))(t).Paused, "fire drill")
		same(t, "the person", must(h.asPerson().GetMessages(t.Context(), c3po.GetMessagesInput{}))(t).Paused, "")
	})
}
