package hub_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po"
)

func (h *house) joinRoom(room c3po.RoomName, ids ...c3po.AgentID) {
	h.t.Helper()
	for _, id := range ids {
		if _, err := h.as(id).RoomJoin(h.t.Context(), c3po.RoomJoinInput{Room: room}); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *house) say(from c3po.AgentID, room c3po.RoomName, text string) c3po.PostReceipt {
	h.t.Helper()
	receipt, err := h.as(from).RoomPost(h.t.Context(), c3po.RoomPostInput{Room: room, Message: text})
	if err != nil {
		h.t.Fatal(err)
	}
	return receipt
}

// Claims: C2, C6
func TestAPostAnswersAWaitForMessagesAndWakesNobodyElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann", "bob")
		h.joinRoom("build", "ann", "bob")
		answered, idle := make(chan c3po.WaitResult, 1), make(chan c3po.PendingResult, 1)
		go func() {
			got, err := h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 60})
			if err != nil {
				t.Error(err)
			}
			answered <- got
		}()
		go func() {
			got, err := h.as("bob").Pending(t.Context(), c3po.PendingInput{Timeout: 60})
			if err != nil {
				t.Error(err)
			}
			idle <- got
		}()
		synctest.Wait()
		began := time.Now()
		said := h.say("ann", "build", "it is green")
		got := <-answered
		if got.ID != said.ID || got.Room != "build" || got.ToAgent != "bob#build" || got.ExpectsReply || time.Since(began) > 0 {
			t.Errorf("the wait was answered with %+v after %s", got, time.Since(began))
		}
		if waited := <-idle; waited.Count != 0 || waited.RoomUnread != 1 || time.Since(began) < 50*time.Second {
			t.Errorf("who waits for mail was told %+v after %s", waited, time.Since(began))
		}
	})
}

// Claims: C2
func TestMailAndPostsAreReadInTheOrderTheyCame(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("ann", "bob")
	h.joinRoom("build", "ann", "bob")
	h.send("ann", "bob", "1")
	h.say("ann", "build", "2")
	h.send("ann", "bob", "3")
	h.say("ann", "build", "4")
	var got string
	for cursor := ""; ; {
		page, err := h.as("bob").GetMessages(t.Context(), c3po.GetMessagesInput{Limit: 1, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		if page.Count != 4 && got == "" {
			t.Errorf("%d are counted", page.Count)
		}
		for _, m := range page.Messages {
			got += m.Message
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if got != "1234" {
		t.Errorf("read %q", got)
	}
}

// Claims: C1
func TestABroadcastNamesWhoIsLiveAndReachesThemWhileTheyWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann", "bob")
		answered := make(chan c3po.WaitResult, 1)
		go func() {
			got, err := h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 60})
			if err != nil {
				t.Error(err)
			}
			answered <- got
		}()
		synctest.Wait()
		receipt, err := h.as("ann").Broadcast(t.Context(), c3po.BroadcastInput{Message: "we move"})
		if err != nil || len(receipt.Live) != 1 || receipt.Live[0] != "bob" {
			t.Errorf("receipt %+v, %v", receipt, err)
		}
		if got := <-answered; got.ID != receipt.ID || got.Kind != c3po.KindBroadcast {
			t.Errorf("the wait was answered with %+v", got)
		}
	})
}
