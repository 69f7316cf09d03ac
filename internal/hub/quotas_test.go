package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func TestAReceiptWarnsBeforeSomethingIsFull(t *testing.T) {
	long := strings.Repeat("x", 600)
	full := weight("alice", "bob", long) * 10 / 8 // a message of them fills 80 %
	for _, test := range []struct {
		name   string
		limits func(*c3po.Limits)
		memory store.Memory
		to     c3po.AgentID
		text   string
		want   string // of the warning; none if empty
	}{
		{"nothing is", nil, store.Memory{Used: 1 << 40}, "bob", long, ""},
		{"an inbox of messages", func(l *c3po.Limits) { l.InboxMessages, l.SenderShare = 1, 1 }, store.Memory{}, "bob", "hi", "the inbox of 'bob' is 100 % full. "},
		{"an inbox of bytes", func(l *c3po.Limits) { l.InboxBytes, l.SenderShare = full, 1 }, store.Memory{}, "bob", long, "the inbox of 'bob' is 80 % full. "},
		{"just under", func(l *c3po.Limits) { l.InboxBytes, l.SenderShare = full+2, 1 }, store.Memory{}, "bob", long, ""},
		{"a share", func(l *c3po.Limits) { l.InboxBytes, l.SenderShare = 4*full, 4 }, store.Memory{}, "bob", long, "your share of the inbox of 'bob' is 80 % full. "},
		{"nobody's share of the mail of a person", func(l *c3po.Limits) { l.InboxBytes, l.SenderShare = 4*full, 4 }, store.Memory{}, c3po.Human, long, ""},
		{"a space", func(l *c3po.Limits) { l.SpaceBytes = full }, store.Memory{}, "bob", long, "space 'main' is 80 % full of unacked mail. "},
		{"the engine", nil, store.Memory{Used: 85, Max: 100}, "bob", "hi", "the memory of Redis is 85 % full. "},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				change := []func(*c3po.Limits){}
				if test.limits != nil {
					change = append(change, test.limits)
				}
				h := build(t, change...)
				h.model.SetMemory(test.memory)
				h.enter("bob")
				got := h.send("alice", test.to, test.text).Warning
				want := test.want
				if want != "" {
					want += "What is full refuses; acking what was dealt with makes room"
				}
				same(t, "warning", got, want)
			})
		})
	}
}

// weight is what a message to an agent weighs.
func weight(from, to c3po.AgentID, text string) int {
	return store.Draft{From: from, To: to, Text: text, ExpectsReply: true}.Bytes()
}

func TestASenderIsWarnedOfAFullInboxAndNotOfItsShareToo(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { l.InboxMessages, l.SenderShare = 2, 2 })
		h.enter("bob")
		same(t, "a full share", h.send("carol", "bob", "hi").Warning,
			"your share of the inbox of 'bob' is 100 % full. What is full refuses; acking what was dealt with makes room")
		same(t, "a full inbox", h.send("alice", "bob", "hi").Warning,
			"the inbox of 'bob' is 100 % full. What is full refuses; acking what was dealt with makes room")
	})
}

func TestAFullSpaceRefusesAndCanBeDrained(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) {
			l.SpaceBytes, l.SendsPerMinute = 4*weight("alice", "bob", fmt.Sprintf("%0100d", 0)), 0
		})
		h.enter("bob")
		var ids []c3po.MessageID
		for i := range 4 {
			ids = append(ids, h.send("alice", "bob", fmt.Sprintf("%0100d", i)).ID)
		}
		_, err := h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "one more"})
		refused(t, err, c3po.StoreFull, "the space is full", "Reading, acking and answering work")
		same(t, "shown", len(h.inbox("bob")), 4)
		h.reply("bob", ids[0], "short")
		if got := must(h.as("alice").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "nothing fits any more"}))(t); got.MessageID == "" {
			t.Error("nobody could be asked for help")
		}
		must(h.as("bob").AckMessages(t.Context(), c3po.AckInput{MessageIDs: ids[1:]}))(t)
		h.send("alice", "bob", "there is room again")
		same(t, "balanced", must(h.asPerson().Fsck(t.Context(), c3po.None{}))(t).Balanced, true)
	})
}

func TestAReceiptWarnsBeforeABudgetIsSpent(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*c3po.Limits)
		says   string
	}{
		"of the conversation": {func(l *c3po.Limits) { l.ChainMessages = 10 }, "this conversation has used 80 % of its budget"},
		"its hops":            {func(l *c3po.Limits) { l.ChainHops = 10 }, "this conversation has used 80 % of its budget"},
		"of the pair":         {func(l *c3po.Limits) { l.PairMessages = 10 }, "you and 'bob' have used 80 % of the budget of an hour"},
		"of the agent":        {func(l *c3po.Limits) { l.AgentMessages = 10 }, "you have used 80 % of your budget of an hour"},
		"of the minute":       {func(l *c3po.Limits) { l.SendsPerMinute = 10 }, "you have sent 80 % of what you may in a minute"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := build(t, func(l *c3po.Limits) {
					*l = l.Unbudgeted()
					c.change(l)
				})
				h.enter("ann", "bob")
				for n := 1; n <= 9; n++ {
					receipt := must(h.as("ann").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: fmt.Sprint("step ", n), Thread: "release"}))(t)
					if warns := strings.Contains(receipt.Warning, c.says); n < 8 && receipt.Warning != "" || n == 8 && !warns {
						t.Errorf("the warning of message %d is %q", n, receipt.Warning)
					}
				}
			})
		})
	}
}

func TestAnswersPostsAndBroadcastsWarnTooAndSoDoesTheSameTextAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) {
			*l = l.Unbudgeted()
			l.SendsPerMinute, l.AgentMessages, l.SameTexts = 10, 5, 2
		})
		h.enter("ann", "bob")
		h.joinRoom("build", "ann")
		warns := func(what, warning, says string) {
			t.Helper()
			if !strings.Contains(warning, says) {
				t.Errorf("the warning of %s is %q, without %q", what, warning, says)
			}
		}
		for n := range 4 {
			asked := h.send("bob", "ann", fmt.Sprint("question ", n))
			reply := must(h.as("ann").Reply(t.Context(), c3po.ReplyInput{MessageID: asked.ID, Response: fmt.Sprint("answer ", n)}))(t)
			if n < 3 {
				same(t, "an early warning", reply.Warning, "")
				continue
			}
			warns("an answer", reply.Warning, "you have used 80 % of your budget of an hour")
		}
		for n := range 8 {
			receipt := must(h.as("ann").RoomPost(t.Context(), c3po.RoomPostInput{Room: "build", Message: fmt.Sprint("green ", n)}))(t)
			if n < 7 {
				same(t, "an early warning", receipt.Warning, "")
				continue
			}
			warns("a post", receipt.Warning, "you have sent 80 % of what you may in a minute")
		}
		warns("a broadcast", must(h.as("ann").Broadcast(t.Context(), c3po.BroadcastInput{Message: "all green"}))(t).Warning, "you have sent 90 % of what you may in a minute")
		pass(time.Hour)
		again := func() string {
			pass(time.Minute)
			return must(h.as("bob").SendMessage(t.Context(), c3po.SendInput{Target: "ann", Message: "are you there?"}))(t).Warning
		}
		same(t, "the first", again(), "")
		warns("the same text again", again(), "'ann' has this text 2 times by now")
	})
}
