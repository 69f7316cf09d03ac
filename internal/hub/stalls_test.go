package hub_test

import (
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
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
