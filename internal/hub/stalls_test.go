package hub_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

func TestAStalledTicketIsMarkedAndItsAskerToldOnceUntilItMoves(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann", "bob")
		question := h.send("ann", "bob", "which port?")
		h.inbox("bob")
		pass(2 * time.Second)
		said := time.Now()
		stalled := func() {
			must(h.as("bob").Received(t.Context(), c3po.ReceivedInput{Stalled: []c3po.MessageID{question.ID}}))(t)
		}
		ticket := func() c3po.Ticket { return must(h.as("ann").Tickets(t.Context(), c3po.TicketsInput{}))(t).Tickets[0] }
		stalled()
		stalled() // its session was not sure that it arrived
		if at := ticket().StalledAt; !at.Equal(said) {
			t.Errorf("the ticket is stalled since %s, want %s", at, said)
		}
		same(t, "trace", h.trace(question.ID).Stalled.At.Equal(said), true)
		same(t, "who is stuck", must(h.as("ann").Stuck(t.Context(), c3po.None{}))(t).HoldUps[0].Waits[0].Stalled, true)
		must(h.as("bob").Received(t.Context(), c3po.ReceivedInput{Moves: []c3po.MessageID{question.ID}}))(t)
		same(t, "it moves", ticket().StalledAt.IsZero(), true)
		stalled()
		told := h.inbox("ann")
		if len(told) != 1 || !strings.Contains(told[0].Text(), "no step") || told[0].MessageID != question.ID {
			t.Errorf("the asker was told %+v, want once", told)
		}
		h.reply("bob", question.ID, "8080")
		same(t, "answered", ticket().StalledAt.IsZero(), true)
	})
}

func TestAQueuesTicketWhoseHolderIsStalledMayBeTakenOver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("asker")
		h.join("w1", "review")
		h.join("w2", "review")
		receipt := must(h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "look"}))(t)
		h.claim("w1", receipt.ID)
		_, err := h.as("w2").Received(t.Context(), c3po.ReceivedInput{Stalled: []c3po.MessageID{receipt.ID}})
		must(struct{}{}, err)(t)
		same(t, "of another's ticket", h.trace(receipt.ID).Stalled == nil, true)
		must(h.as("w1").Received(t.Context(), c3po.ReceivedInput{Stalled: []c3po.MessageID{receipt.ID}}))(t)
		same(t, "the holder", h.claim("w2", receipt.ID).Claim.By, c3po.AgentID("w2"))
		same(t, "no longer stalled", h.trace(receipt.ID).Stalled == nil, true)
		h.reply("w2", receipt.ID, "done")
		same(t, "the asker's notices", h.notices("asker"), 1)
	})
}

func TestThePersonHearsOnceOfAQuestionThatStallsIfTheyWantTo(t *testing.T) {
	for name, wants := range map[string]bool{"they want to": true, "they do not": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				c := &crier{channels: []string{"ntfy", "broken"}, fails: 1}
				first, second := town(t, c, func(h *testHub) { h.stalls = wants })
				first.enter("ann", "bob")
				question := first.send("ann", "bob", "which port?")
				first.inbox("bob")
				report := func(h *testHub, in c3po.ReceivedInput) { must(h.as("bob").Received(t.Context(), in))(t) }
				stalled, moves := c3po.ReceivedInput{Stalled: []c3po.MessageID{question.ID}}, c3po.ReceivedInput{Moves: []c3po.MessageID{question.ID}}
				report(first, stalled)
				report(second, stalled) // its session was not sure that it arrived
				pass(time.Minute)
				report(second, moves)
				report(second, stalled)
				pass(time.Hour)
				said := c.all()
				slices.Sort(said)
				if want := []string{"broken: fails", "broken: stalled of ann: ", "ntfy: stalled of ann: "}; wants {
					same(t, "told", said, want)
				} else {
					same(t, "told", len(said), 0)
				}
			})
		})
	}
}

func TestASessionThatHasEndedIsNotStalled(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann", "bob")
		question := h.send("ann", "bob", "which port?")
		h.inbox("bob")
		must(h.as("bob").Received(t.Context(), c3po.ReceivedInput{Stalled: []c3po.MessageID{question.ID}}))(t)
		stalled := func() bool { return must(h.as("ann").Stuck(t.Context(), c3po.None{}))(t).HoldUps[0].Waits[0].Stalled }
		same(t, "while it is there", stalled(), true)
		must(h.as("bob").Unregister(t.Context(), c3po.None{}))(t)
		same(t, "after its end", stalled(), false)
		same(t, "its ticket", must(h.as("ann").Tickets(t.Context(), c3po.TicketsInput{}))(t).Tickets[0].StalledAt.IsZero(), true)
	})
}
