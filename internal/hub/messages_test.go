package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

func TestAQuestionIsAskedAndAnsweredBackAndForth(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("meshtastic")
	receipt := must(h.as("homeassistant").SendMessage(t.Context(), c3po.SendInput{
		Target: "meshtastic", Message: "What MQTT topics are available?", Context: "Building a sensor dashboard",
	}))(t)
	fields := wire(t, receipt)
	for field, want := range map[string]any{
		"from_agent": "homeassistant", "to_agent": "meshtastic", "message": "What MQTT topics are available?",
		"context": "Building a sensor dashboard", "status": "pending", "durability": "fsync", "recipient": "online",
		"reachability": "next_call", "expects_reply": true,
	} {
		same(t, "receipt's "+field, fields[field], want)
	}

	row := wire(t, h.inbox("meshtastic")[0])
	for _, field := range []string{"id", "from_agent", "message", "context", "timestamp"} {
		same(t, field, row[field], fields[field])
	}
	for _, field := range []string{"to_agent", "status"} {
		if _, ok := row[field]; ok {
			t.Errorf("the row of an inbox carries %s", field)
		}
	}

	id := receipt.ID
	for turn, from := range []c3po.AgentID{"meshtastic", "homeassistant", "meshtastic"} {
		reply := h.reply(from, id, fmt.Sprintf("answer %d", turn))
		if reply.MessageID != id || reply.ID == "" || reply.Status != "success" || reply.Thread != receipt.Thread || reply.FromAgent != from {
			t.Fatalf("reply = %+v", reply)
		}
		same(t, "state of what was answered", h.trace(id).State, c3po.StateAcked)
		id = reply.ID
	}
	mine := h.inbox("homeassistant")
	same(t, "inbox", texts(mine), []string{"answer 2"})
	if mine[0].Kind != c3po.KindReply || mine[0].Response == "" || mine[0].Status != "success" {
		t.Errorf("a reply in the inbox: %+v", mine[0])
	}
}

func TestWhatIsNotAMessageIsRefused(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("bob")
	long := strings.Repeat("ü", 50_001)
	for name, in := range map[string]c3po.SendInput{
		"an empty message":          {Message: " \n"},
		"a long message":            {Message: long},
		"a long context":            {Message: "x", Context: long},
		"broken text":               {Message: "\xff"},
		"metadata that is text":     {Message: "x", Metadata: []byte(`"a"`)},
		"an unknown priority":       {Message: "x", Priority: "low"},
		"an unknown if_away":        {Message: "x", IfAway: "drop"},
		"a long key":                {Message: "x", ClientKey: strings.Repeat("k", 201)},
		"a key of two lines":        {Message: "x", ClientKey: "a\nb"},
		"a long thread":             {Message: "x", Thread: strings.Repeat("t", 201)},
		"a long content type":       {Message: "x", ContentType: strings.Repeat("t", 101)},
		"a wait that is too long":   {Message: "x", WaitSeconds: 3601},
		"a wait of negative length": {Message: "x", WaitSeconds: -1},
	} {
		t.Run(name, func(t *testing.T) {
			in.Target = "bob"
			_, err := h.as("alice").SendMessage(t.Context(), in)
			refused(t, err, c3po.InvalidRequest)
		})
	}
	same(t, "inbox", texts(h.inbox("bob")), []string{})
	fits := strings.Repeat("ü", 50_000)
	h.send("alice", "bob", fits)
	same(t, "the longest message", h.inbox("bob")[0].Message, fits)
}

func TestWhatASenderAttachesArrives(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("bob")
	no := false
	must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{
		Target: "bob", Message: `{"a":[]}`, ContentType: "application/json", Metadata: []byte(`{ "b": [] }`),
		ExpectsReply: &no, Thread: "release", Priority: c3po.Urgent,
	}))(t)
	got := h.inbox("bob")[0]
	if got.Message != `{"a":[]}` || got.ContentType != "application/json" || string(got.Metadata) != `{"b":[]}` ||
		got.ExpectsReply || got.Thread != "release" || got.Priority != c3po.Urgent {
		t.Errorf("got %+v", got)
	}
}

func TestSendsAreLimitedAMinuteAndMailToThePersonIsNot(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		for i := range 10 {
			h.send("alice", "bob", fmt.Sprint(i))
		}
		_, err := h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "one more"})
		refused(t, err, c3po.RateLimited, "10 of 10", "60 seconds")
		h.send("alice", c3po.Human, "help")
		h.reply("bob", h.inbox("bob")[0].ID, "replies are free")
		pass(61 * time.Second)
		h.send("alice", "bob", "one more")
	})
}

func TestTheReceiptSaysWhatHappensNext(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("asleep", "paused", "asking")
		must(h.as("asking").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "May I?"}))(t)
		must(h.asPerson().Pause(t.Context(), c3po.PauseInput{AgentID: "paused", Reason: "lunch"}))(t)
		pass(2 * time.Minute)
		for _, want := range []struct {
			to     c3po.AgentID
			status c3po.Status
			reach  c3po.Reachability
			words  string
		}{
			{"asleep", c3po.Offline, c3po.ReachOffline, "'asleep' is offline; it reads this when it starts again"},
			{"paused", c3po.Offline, c3po.ReachResumed, "'paused' is paused (lunch); it reads this once resumed"},
			{"asking", c3po.Offline, c3po.ReachWaitingForHuman, "'asking' has asked its user; it reads this when its user answers"},
			{c3po.Human, c3po.Offline, c3po.ReachPersonReturns, "a person reads this"},
			{"me", c3po.Online, c3po.ReachNextCall, ""},
		} {
			got := h.send("me", want.to, "hi")
			if got.Recipient != want.status || got.Reachability != want.reach || !strings.HasPrefix(got.Notice, want.words) || (want.words == "") != (got.Notice == "") {
				t.Errorf("receipt for %s: %s, %s, %q", want.to, got.Recipient, got.Reachability, got.Notice)
			}
		}
		_, err := h.as("me").SendMessage(t.Context(), c3po.SendInput{Target: "asleep", Message: "now or never", IfAway: "fail"})
		refused(t, err, c3po.AgentUnavailable)
	})
}

func TestARepeatedSendIsTheFirstMessage(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("bob")
	in := c3po.SendInput{Target: "bob", Message: "once", ClientKey: "k"}
	first := must(h.as("alice").SendMessage(t.Context(), in))(t)
	h.reply("bob", first.ID, "done")
	again := must(h.as("alice").SendMessage(t.Context(), in))(t)
	same(t, "id", again.ID, first.ID)
	same(t, "state as it is now", again.Status, c3po.StateAcked)
	in.Message = "twice"
	_, err := h.as("alice").SendMessage(t.Context(), in)
	refused(t, err, c3po.KeyConflict)
}

func TestAReplyIsHeldToItsForm(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("bob", "carol")
	id := h.send("alice", "bob", "question").ID
	reply := func(from c3po.AgentID, in c3po.ReplyInput) error {
		in.MessageID = id
		_, err := h.as(from).Reply(t.Context(), in)
		return err
	}
	refused(t, reply("bob", c3po.ReplyInput{Response: "  "}), c3po.InvalidRequest, "response is empty")
	refused(t, reply("bob", c3po.ReplyInput{Response: "x", Status: "maybe"}), c3po.InvalidRequest, "success, error or handed_over")
	refused(t, reply("bob", c3po.ReplyInput{Response: "x", Status: c3po.ReplyHandedOver}), c3po.InvalidRequest, "handed_to")
	refused(t, reply("bob", c3po.ReplyInput{Response: "x", HandedTo: "carol"}), c3po.InvalidRequest, "handed_over")
	refused(t, reply("bob", c3po.ReplyInput{Response: "x", Status: c3po.ReplyHandedOver, HandedTo: "carl"}), c3po.AgentNotFound, "'carol'")
	refused(t, reply("carol", c3po.ReplyInput{Response: "x"}), c3po.Forbidden)
	_, err := h.as("bob").Reply(t.Context(), c3po.ReplyInput{Response: "x"})
	refused(t, err, c3po.InvalidRequest, "message_id")
	_, err = h.as("bob").Reply(t.Context(), c3po.ReplyInput{MessageID: "alice::bob::00000000", Response: "x"})
	refused(t, err, c3po.InvalidRequest)
	_, err = h.as("bob").Reply(t.Context(), c3po.ReplyInput{MessageID: "system::bob::00000000", Response: "x"})
	refused(t, err, c3po.InvalidRequest, "ack_messages")

	got := must(h.as("bob").Reply(t.Context(), c3po.ReplyInput{
		MessageID: id, Response: "carol knows", Status: c3po.ReplyHandedOver, HandedTo: "carol", ExpectsReply: true,
	}))(t)
	if got.HandedTo != "carol" || got.Status != c3po.ReplyHandedOver || !got.ExpectsReply {
		t.Errorf("reply = %+v", got)
	}
}

func TestAMessageThatIsRefusedMakesNobodyAnAgent(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		for _, in := range []c3po.SendInput{{Target: "bob", Message: " "}, {Target: "no one", Message: "hi"}, {Target: "bob", Message: "hi", Priority: "soon"}} {
			_, err := h.as("api").SendMessage(t.Context(), in)
			refused(t, err, c3po.InvalidRequest)
		}
		agents := must(h.asPerson().ListAgents(t.Context(), c3po.ListAgentsInput{}))(t).Agents
		if len(agents) != 1 || agents[0].ID != "bob" {
			t.Errorf("the agents are %+v", agents)
		}
	})
}
