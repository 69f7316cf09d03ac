package hub_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

func (h *testHub) joinRoom(room c3po.RoomName, ids ...c3po.AgentID) {
	h.t.Helper()
	for _, id := range ids {
		if _, err := h.as(id).RoomJoin(h.t.Context(), c3po.RoomJoinInput{Room: room}); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *testHub) say(from c3po.AgentID, room c3po.RoomName, text string) c3po.PostReceipt {
	h.t.Helper()
	receipt, err := h.as(from).RoomPost(h.t.Context(), c3po.RoomPostInput{Room: room, Message: text})
	if err != nil {
		h.t.Fatal(err)
	}
	return receipt
}

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

// A reader that gives the position of its last answer gets all that came, each once.
func TestAReaderThatSaysWhereItIsMissesNeitherMailNorPosts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann", "bob")
		h.joinRoom("build", "ann", "bob")
		must(h.as("bob").RoomJoin(t.Context(), c3po.RoomJoinInput{Room: "build", Notify: c3po.NotifyAll}))(t)
		h.say("ann", "build", "1")
		h.send("ann", "bob", "2")
		h.say("ann", "build", "3")
		must(h.as("ann").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "urgent", Priority: c3po.Urgent}))(t)
		h.say("ann", "build", "4")
		h.send("ann", "bob", "5")
		var got []string
		after := int64(0)
		for range 7 {
			next := must(h.asRun("bob", "r1").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1, After: &after}))(t)
			got, after = append(got, next.Text()), next.Cursor
		}
		same(t, "read", got, []string{"urgent", "1", "2", "3", "4", "5", ""})
	})
}

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

func TestABroadcastReachesWhoReturnsWithinItsLifeAndNobodyAfterwards(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann", "bob", "carl")
		must(h.as("bob").Unregister(t.Context(), c3po.None{}))(t)
		must(h.as("carl").Unregister(t.Context(), c3po.None{}))(t)
		receipt := must(h.as("ann").Broadcast(t.Context(), c3po.BroadcastInput{Message: "we move"}))(t)
		same(t, "live", len(receipt.Live), 0)
		pass(23 * time.Hour)
		same(t, "who returns within it", texts(h.inbox("bob")), []string{"we move"})
		h.enter("dora")
		same(t, "who came later", len(h.inbox("dora")), 0)
		pass(2 * time.Hour)
		same(t, "who returns after it", len(h.inbox("carl")), 0)
		same(t, "counted", must(h.as("carl").Pending(t.Context(), c3po.PendingInput{}))(t).RoomUnread, 0)
		h.balanced()
	})
}

func TestPruningTakesTheDeadOutOfRoomsAndLeavesTheirMail(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { l.MessageLife = 72 * time.Hour })
		h.enter("ann", "bob", "carl")
		h.joinRoom("build", "ann", "bob", "carl")
		h.joinRoom("attic", "bob")
		h.say("ann", "build", "a post")
		h.send("ann", "bob", "a letter")
		must(h.as("bob").Unregister(t.Context(), c3po.None{}))(t)
		pass(25 * time.Hour)
		h.enter("ann")
		h.enter("carl")
		prune := func(in c3po.RoomPruneInput) []c3po.Eviction {
			t.Helper()
			out := must(h.asPerson().RoomPrune(t.Context(), in))(t).Evicted
			for i := range out {
				out[i].LastSeen = time.Time{}
			}
			return out
		}
		members := func() []c3po.RoomName { t.Helper(); return h.agent("bob").Rooms }
		dry := prune(c3po.RoomPruneInput{DryRun: true})
		same(t, "a dry run", dry, []c3po.Eviction{{Room: "build", Agent: "bob"}, {Room: "attic", Agent: "bob"}})
		same(t, "and changes nothing", members(), []c3po.RoomName{"attic", "build"})
		same(t, "one room", prune(c3po.RoomPruneInput{Room: "build"}), []c3po.Eviction{{Room: "build", Agent: "bob"}})
		same(t, "the others", prune(c3po.RoomPruneInput{}), []c3po.Eviction{{Room: "attic", Agent: "bob"}})
		same(t, "rooms", len(members()), 0)
		same(t, "nobody is left to prune", len(prune(c3po.RoomPruneInput{})), 0)
		h.balanced()
		same(t, "its mail", texts(h.inbox("bob")), []string{"a letter"})
		h.joinRoom("build", "bob")
		same(t, "back", members(), []c3po.RoomName{"build"})
	})
}

func TestAGuestReadsARoomOnlyOnceItHasJoined(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann", "bob", "carl")
		must(h.as("ann").RoomJoin(t.Context(), c3po.RoomJoinInput{Room: "plans", Visibility: c3po.InviteOnly}))(t)
		said := h.say("ann", "plans", "at noon")
		must(h.as("ann").RoomInvite(t.Context(), c3po.RoomInviteInput{Room: "plans", Agent: "bob"}))(t)
		for _, id := range []c3po.AgentID{"bob", "carl"} {
			if got, err := h.as(id).RoomHistory(t.Context(), c3po.RoomHistoryInput{Room: "plans"}); err == nil {
				t.Errorf("%s reads %+v", id, got)
			}
		}
		h.joinRoom("plans", "bob")
		got := must(h.as("bob").RoomHistory(t.Context(), c3po.RoomHistoryInput{Room: "plans"}))(t)
		if len(got.Messages) != 1 || got.Messages[0].ID != said.ID {
			t.Errorf("who has joined reads %+v", got)
		}
	})
}

func TestWhoWantsAllOfARoomIsWokenByEveryPost(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann", "bob", "carl", "dora")
		h.joinRoom("build", "ann", "carl")
		join := func(id c3po.AgentID, notify c3po.Notify) c3po.RoomJoined {
			t.Helper()
			return must(h.as(id).RoomJoin(t.Context(), c3po.RoomJoinInput{Room: "build", Notify: notify}))(t)
		}
		same(t, "told so", join("bob", c3po.NotifyAll).Notify, c3po.NotifyAll)
		join("dora", c3po.NotifyNone)
		woken, took := map[c3po.AgentID]c3po.PendingResult{}, map[c3po.AgentID]time.Duration{}
		began := time.Now()
		var mu sync.Mutex
		var waits sync.WaitGroup
		for _, id := range []c3po.AgentID{"bob", "carl", "dora"} {
			waits.Go(func() {
				got, err := h.as(id).Pending(t.Context(), c3po.PendingInput{Timeout: 30})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				woken[id], took[id] = got, time.Since(began)
			})
		}
		synctest.Wait()
		said := h.say("ann", "build", "the build is red")
		waits.Wait()
		got := woken["bob"]
		if got.Outcome != nil || got.Count != 1 || len(got.Messages) != 1 || got.Messages[0].ID != said.ID || got.RoomUnread != 0 {
			t.Errorf("who wants all got %+v", got)
		}
		if took["bob"] > time.Second {
			t.Errorf("who wants all heard of the post after %v", took["bob"])
		}
		for _, id := range []c3po.AgentID{"carl", "dora"} {
			if got := woken[id]; got.Outcome == nil || got.Count != 0 || got.RoomUnread != 1 {
				t.Errorf("%s got %+v", id, got)
			}
		}
		must(h.as("bob").AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{said.ID}}))(t)
		same(t, "once it is acked", must(h.as("bob").Pending(t.Context(), c3po.PendingInput{}))(t).Count, 0)

		// A mention is mail, but for who wants none.
		receipt := h.say("ann", "build", "@carl @dora please look")
		same(t, "mailed", receipt.Mailed, []c3po.AgentID{"carl"})
		same(t, "in the room it is read", texts(h.inbox("dora")), []string{"the build is red", "@carl @dora please look"})

		// Who changes its mind while it waits hears of it at once.
		waits.Go(func() {
			got, err := h.as("carl").Pending(t.Context(), c3po.PendingInput{Timeout: 30, After: &receipt.Seq})
			if err != nil || len(got.Messages) != 1 {
				t.Errorf("who changed its mind got %+v, %v", got, err)
			}
		})
		synctest.Wait()
		same(t, "set", join("carl", c3po.NotifyAll).Notify, c3po.NotifyAll)
		synctest.Wait()
		h.say("ann", "build", "green again")
		waits.Wait()
		own := must(h.as("carl").RoomList(t.Context(), c3po.RoomListInput{}))(t).Rooms
		same(t, "listed", own[0].Notify, c3po.NotifyAll)
		_, err := h.as("carl").RoomJoin(t.Context(), c3po.RoomJoinInput{Room: "build", Notify: "loud"})
		refused(t, err, c3po.InvalidRequest, "notify")

		// Nor does what is said there end a wait of who wants none.
		result := must(h.as("dora").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 2}))(t)
		if result.Outcome == nil {
			t.Errorf("who wants none got %+v", result)
		}
		// Membership that ends takes the wish along.
		must(h.as("bob").RoomLeave(t.Context(), c3po.RoomInput{Room: "build"}))(t)
		same(t, "joined anew", join("bob", "").Notify, c3po.NotifyMentions)
		h.balanced()
	})
}

func TestTheListOfAllRoomsSaysWhatIsUnreadInOnesOwn(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.joinRoom("build", "ann")
	h.joinRoom("build", "bob")
	receipt := must(h.as("ann").RoomPost(t.Context(), c3po.RoomPostInput{Room: "build", Message: "@nobody, @bob: it is green"}))(t)
	if !strings.Contains(receipt.Notice, "@nobody") || strings.Contains(receipt.Notice, "bob") {
		t.Errorf("of a mention of nobody the receipt says %q", receipt.Notice)
	}
	must(h.as("ann").RoomPost(t.Context(), c3po.RoomPostInput{Room: "build", Message: "still green"}))(t)
	own := must(h.as("bob").RoomList(t.Context(), c3po.RoomListInput{}))(t).Rooms
	all := must(h.as("bob").RoomList(t.Context(), c3po.RoomListInput{All: true}))(t).Rooms
	if len(own) != 1 || own[0].Unread == 0 || own[0].Notify == "" {
		t.Fatalf("bob's own rooms are %+v", own)
	}
	same(t, "in the list of all", all, own)
}
