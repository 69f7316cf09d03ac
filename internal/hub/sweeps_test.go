package hub_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

func (h *testHub) sweep(in c3po.SweepInput) c3po.SweepResult {
	h.t.Helper()
	return must(h.asPerson().Sweep(h.t.Context(), in))(h.t)
}

func (h *testHub) balanced() {
	h.t.Helper()
	if audit := must(h.asPerson().Fsck(h.t.Context(), c3po.None{}))(h.t); !audit.Balanced {
		h.t.Errorf("the books do not balance: %+v", audit)
	}
}

func (h *testHub) known(id c3po.AgentID) bool {
	h.t.Helper()
	list := must(h.asPerson().ListAgents(h.t.Context(), c3po.ListAgentsInput{}))(h.t)
	return slices.ContainsFunc(list.Agents, func(a c3po.Agent) bool { return a.ID == id })
}

func TestASweptAgentThatComesBackGetsItsMailAgainOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { l.SendsPerMinute, l.MessageLife = 0, 72*time.Hour })
		h.enter("bob")
		var want []string
		for i := range 100 {
			text := fmt.Sprintf("letter %d", i)
			h.send("alice", "bob", text)
			want = append(want, text)
		}
		pass(25 * time.Hour)
		h.enter("alice")
		dry := h.sweep(c3po.SweepInput{DryRun: true})
		if len(dry.Swept) != 1 || dry.Swept[0].ID != "bob" || dry.Swept[0].Letters != 100 || !h.known("bob") {
			t.Fatalf("a dry run says %+v", dry)
		}
		swept := h.sweep(c3po.SweepInput{})
		if len(swept.Swept) != 1 || swept.Swept[0].Letters != 100 || h.known("bob") || !h.known("alice") {
			t.Fatalf("swept %+v", swept)
		}
		h.balanced()
		_, err := h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "hello?"})
		refused(t, err, c3po.AgentNotFound)
		same(t, "bounces", len(h.inbox("alice")), 100)

		back := must(h.asRun("bob", "another run").RegisterAgent(t.Context(), c3po.RegisterInput{}))(t)
		same(t, "unread", back.Unread, 100)
		got := must(h.asRun("bob", "another run").GetMessages(t.Context(), c3po.GetMessagesInput{Limit: 1000}))(t)
		same(t, "delivered again, in order", texts(got.Messages), want)
		h.balanced()
		same(t, "letters", len(must(h.asPerson().DeadLetters(t.Context(), c3po.LettersInput{}))(t).Letters), 0)
		told := must(h.as("alice").GetMessages(t.Context(), c3po.GetMessagesInput{Limit: 1000}))(t).Messages
		if len(told) != 200 || told[199].Kind != c3po.KindNotice {
			t.Errorf("the sender has %d messages, the last %+v", len(told), told[len(told)-1])
		}
		must(h.asRun("bob", "a third run").RegisterAgent(t.Context(), c3po.RegisterInput{}))(t)
		pass(5 * time.Minute)
		same(t, "only once", must(h.asRun("bob", "another run").Peek(t.Context(), c3po.GetMessagesInput{}))(t).Count, 100)
	})
}

func TestTheBackgroundRetiresTheSilentAndMovesNoMail(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		pass(6*24*time.Hour + 23*time.Hour)
		if !h.known("bob") {
			t.Fatal("bob is retired before its time")
		}
		h.send("alice", "bob", "are you there?")
		pass(2 * time.Hour)
		if h.known("bob") {
			t.Fatal("bob is still registered")
		}
		same(t, "letters", len(must(h.asPerson().DeadLetters(t.Context(), c3po.LettersInput{}))(t).Letters), 0)
		h.balanced()
		same(t, "its mail is there", texts(h.inbox("bob")), []string{"are you there?"})
	})
}

func TestAnAgentThatARunnerWaitsForIsNeverRetired(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { l.RetireAfter = 4 * time.Hour })
		h.enter("bob")
		runner := h.As(c3po.Caller{Space: c3po.DefaultSpace, ID: "bob", Run: "bob:run", Role: c3po.RoleRunner})
		for range 6 {
			must(runner.Pending(t.Context(), c3po.PendingInput{Timeout: 3600}))(t)
		}
		if !h.known("bob") {
			t.Error("bob was retired although its runner waits for it")
		}
	})
}

func TestAPersonReplaysAndPurgesDeadLetters(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob", "carl")
		one, two, three := h.send("alice", "bob", "one").ID, h.send("alice", "carl", "two").ID, h.send("alice", "bob", "three").ID
		pass(24*time.Hour + 5*time.Minute)
		person := h.asPerson()
		letters := must(person.DeadLetters(t.Context(), c3po.LettersInput{AgentID: "bob", Reason: c3po.ReasonExpired, Since: "1h", Limit: 1}))(t)
		if len(letters.Letters) != 1 || letters.Letters[0].ID != one || letters.Next == "" {
			t.Fatalf("first page %+v", letters)
		}
		letters = must(person.DeadLetters(t.Context(), c3po.LettersInput{AgentID: "bob", Cursor: letters.Next}))(t)
		if len(letters.Letters) != 1 || letters.Letters[0].ID != three || letters.Next != "" {
			t.Fatalf("second page %+v", letters)
		}
		same(t, "its text", must(person.DeadLetter(t.Context(), c3po.MessageInput{MessageID: one}))(t).Message.Message, "one")

		out := must(person.DeadLetterReplay(t.Context(), c3po.LetterSelection{MessageIDs: []c3po.MessageID{one, "alice::bob::00000000"}}))(t)
		if !slices.Equal(out.Done, []c3po.MessageID{one}) || len(out.Left) != 1 {
			t.Errorf("replayed %+v", out)
		}
		same(t, "bob reads", texts(h.inbox("bob")), []string{"one"})
		out = must(person.DeadLetterPurge(t.Context(), c3po.LetterSelection{AgentID: "carl"}))(t)
		same(t, "purged", out.Done, []c3po.MessageID{two})
		out = must(person.DeadLetterReplay(t.Context(), c3po.LetterSelection{All: true}))(t)
		same(t, "the rest", out.Done, []c3po.MessageID{three})
		same(t, "bob reads in order", texts(h.inbox("bob")), []string{"one", "three"})
		same(t, "carl reads", texts(h.inbox("carl")), []string{})
		h.balanced()
		_, err := person.DeadLetterReplay(t.Context(), c3po.LetterSelection{})
		refused(t, err, c3po.InvalidRequest)
		_, err = person.DeadLetterPurge(t.Context(), c3po.LetterSelection{All: true, AgentID: "bob"})
		refused(t, err, c3po.InvalidRequest)
	})
}

func TestAliveIsSaidOnlyWhenItIsKnown(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob", "carl")
		yes, no := true, false
		same(t, "it has called, and may have ended since", h.agent("bob").Alive, (*bool)(nil))
		waiting, leave := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = h.as("bob").WaitForMessage(waiting, c3po.WaitInput{Timeout: 60})
		}()
		pass(time.Second)
		same(t, "it waits", h.agent("bob").Alive, &yes)
		leave()
		<-ended
		must(h.as("carl").Unregister(t.Context(), c3po.None{}))(t)
		same(t, "it said goodbye", h.agent("carl").Alive, &no)
		pass(2 * time.Minute)
		same(t, "silent", h.agent("bob").Alive, (*bool)(nil))
		pass(24 * time.Hour)
		same(t, "silent for long", h.agent("bob").Alive, (*bool)(nil))
		h.enter("carl")
		same(t, "back", h.agent("carl").Alive, (*bool)(nil))
	})
}

func TestARenamedAgentKeepsItsRoomsWhichAreTold(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann", "bob")
		must(h.as("bob").RoomJoin(t.Context(), c3po.RoomJoinInput{Room: "dev"}))(t)
		must(h.as("ann").RoomJoin(t.Context(), c3po.RoomJoinInput{Room: "dev"}))(t)
		asked := h.send("bob", "ann", "which port?").ID
		must(h.as("bob").Rename(t.Context(), c3po.RenameInput{NewID: "robert"}))(t)
		same(t, "rooms", h.agent("robert").Rooms, []c3po.RoomName{"dev"})
		posts := must(h.as("ann").RoomHistory(t.Context(), c3po.RoomHistoryInput{Room: "dev"}))(t).Messages
		if len(posts) != 1 || posts[0].Message != "peer_renamed: 'bob' is called 'robert' now." {
			t.Errorf("the room reads %+v", posts)
		}
		h.reply("ann", asked, "8420")
		got := must(h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: asked, Timeout: 1}))(t)
		same(t, "an answer to what bob asked", got.Response, "8420")
		h.balanced()
	})
}

func TestASweptAgentIsThereAgainWithItsNextRead(t *testing.T) {
	for _, where := range []string{"where it was swept", "at another coordinator"} {
		t.Run(where, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := build(t)
				reads := h
				if where != "where it was swept" {
					reads = h.neighbour()
				}
				reads.inbox("bob")
				h.send("alice", "bob", "hello")
				pass(2 * time.Minute)
				swept := h.sweep(c3po.SweepInput{Older: "1m"})
				if h.known("bob") {
					t.Fatalf("swept %+v", swept)
				}
				same(t, "mail", texts(reads.inbox("bob")), []string{"hello"})
				if !h.known("bob") {
					t.Error("bob has read its inbox, and is still unknown")
				}
			})
		})
	}
}

// The store hears of a call a moment later.
func TestWhoeverCalledAMomentAgoIsNeitherSweptNorTakenOutOfRooms(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann", "bob")
		h.joinRoom("build", "ann")
		pass(8 * time.Minute)
		must(h.as("ann").Ping(t.Context(), c3po.None{}))(t)
		swept := must(h.asPerson().Sweep(t.Context(), c3po.SweepInput{Older: "5m"}))(t).Swept
		if len(swept) != 1 || swept[0].ID != "bob" {
			t.Errorf("swept are %+v", swept)
		}
		pass(8 * time.Minute)
		must(h.as("ann").Ping(t.Context(), c3po.None{}))(t)
		pruned := must(h.asPerson().RoomPrune(t.Context(), c3po.RoomPruneInput{Older: 300}))(t)
		if len(pruned.Evicted) != 0 {
			t.Errorf("taken out of rooms are %+v", pruned.Evicted)
		}
	})
}

func TestASweepRemovesAsManyLettersAsItsDryRunSays(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann", "bob", "carl")
		for _, to := range []c3po.AgentID{"ann", "bob", "carl"} {
			for _, from := range []c3po.AgentID{"ann", "bob", "carl"} {
				if from != to {
					h.send(from, to, "hello")
				}
			}
		}
		pass(8 * time.Minute)
		count := func(result c3po.SweepResult) (letters int) {
			for _, swept := range result.Swept {
				letters += swept.Letters
			}
			return letters
		}
		dry := h.sweep(c3po.SweepInput{Older: "5m", DryRun: true})
		same(t, "dry run", count(dry), 6)
		same(t, "sweep", count(h.sweep(c3po.SweepInput{Older: "5m"})), 6)
		h.balanced()
	})
}

func TestAPersonForgetsOneAgentByName(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("ghost")
		h.enter("bob")
		h.send("bob", "ghost", "are you there?")
		dry := h.sweep(c3po.SweepInput{AgentID: "ghost", DryRun: true})
		if len(dry.Swept) != 1 || dry.Swept[0].Letters != 1 || !h.known("ghost") {
			t.Fatalf("a dry run says %+v", dry)
		}
		// Its last call was just now, and no session of it runs.
		gone := h.sweep(c3po.SweepInput{AgentID: "ghost"})
		if len(gone.Swept) != 1 || gone.Swept[0].ID != "ghost" || gone.Swept[0].Letters != 1 || h.known("ghost") || !h.known("bob") {
			t.Fatalf("forgotten %+v", gone)
		}
		h.balanced()
		_, err := h.asPerson().Sweep(t.Context(), c3po.SweepInput{AgentID: "ghost"})
		refused(t, err, c3po.AgentNotFound)
		h.enter("ghost")
		same(t, "its mail is back", texts(h.inbox("ghost")), []string{"are you there?"})
	})
}

func TestAnAgentWhoseSessionRunsIsNotForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = h.as("bob").WaitForMessage(ctx, c3po.WaitInput{Timeout: 3600})
		}()
		pass(time.Second)
		_, err := h.asPerson().Sweep(t.Context(), c3po.SweepInput{AgentID: "bob"})
		refused(t, err, c3po.InvalidRequest)
		if !h.known("bob") {
			t.Error("bob is gone")
		}
		stop()
		<-ended
	})
}

func TestASweepAndAReplayAnswerBeforeTheirCallerGivesUp(t *testing.T) {
	for name, life := range map[string]time.Duration{"a sweep": 72 * time.Hour, "a replay": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := build(t, func(l *c3po.Limits) { l.SendsPerMinute, l.MessageLife = 0, life })
				h.enter("bob")
				for i := range 20 {
					h.send("alice", "bob", fmt.Sprint("letter ", i))
				}
				pass(25 * time.Hour)
				h.enter("alice")
				h.calls.slow = time.Second
				calls := 0
				for more := true; more; calls++ {
					began := time.Now()
					if name == "a sweep" {
						more = h.sweep(c3po.SweepInput{}).More
					} else {
						more = must(h.asPerson().DeadLetterReplay(t.Context(), c3po.LetterSelection{All: true}))(t).More
					}
					if took := time.Since(began); took > 10*time.Second {
						t.Fatalf("a call took %s", took)
					}
				}
				if calls < 3 || calls > 6 {
					t.Errorf("20 letters took %d calls", calls)
				}
				h.calls.slow = 0
				same(t, "bob is registered", h.known("bob"), name == "a replay")
				h.enter("bob")
				same(t, "its mail", len(h.inbox("bob")), 20)
				h.balanced()
			})
		})
	}
}
