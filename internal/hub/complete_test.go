package hub_test

import (
	"context"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/storetest"
)

// A faulty store panics when it is asked for what only makes an answer complete.
type faulty struct {
	store.Store
	armed bool
}

func (f *faulty) Memory(ctx context.Context) (store.Memory, error) {
	if f.armed {
		panic("no memory")
	}
	return f.Store.Memory(ctx)
}

func TestAFaultAfterAMessageIsStoredIsANotice(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		limits := c3po.DefaultLimits()
		broken := &faulty{Store: storetest.NewModel(limits)}
		h := run(t, &testHub{t: t, calls: &calls{Store: broken, count: map[string]int{}, fail: map[string]error{}}}, limits, "node-1")
		h.enter("ann")
		h.join("bob", "review")
		asked := h.send("ann", "bob", "which?").ID
		broken.armed = true
		for _, target := range []string{"bob", "role:review"} {
			receipt, err := h.as("ann").SendMessage(t.Context(), c3po.SendInput{Target: target, Message: "look"})
			if err != nil || !strings.Contains(receipt.Notice, "it is stored") {
				t.Errorf("to %s: %+v, %v", target, receipt, err)
			}
		}
		same(t, "inbox", len(h.inbox("bob")), 3)
		reply, err := h.as("bob").Reply(t.Context(), c3po.ReplyInput{MessageID: asked, Response: "this"})
		if err != nil || !strings.Contains(reply.Warning, "it is stored") {
			t.Errorf("a reply: %+v, %v", reply, err)
		}
	})
}

// A member of a queue can leave between the moment its name was read and the send.
func TestASendToAQueueWhoseLastMemberLeavesMeanwhileIsAReceipt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann")
		h.join("bob", "review")
		h.calls.members = func() { must(h.as("bob").Rename(t.Context(), c3po.RenameInput{NewID: "rob"}))(t) }
		receipt := must(h.as("ann").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "look"}))(t)
		same(t, "reachability", receipt.Reachability, c3po.ReachOffline)
	})
}

func TestAQueuesReceiptOfManyAtRestDoesNotSpeakForThoseItDidNotLookAt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("ann")
		for _, letter := range strings.Split("abcdefghijklmnopqrstu", "") {
			h.join(c3po.AgentID("w-"+letter), "review")
		}
		pass(c3po.DefaultLimits().OnlineWindow * 2)
		h.enter("ann")
		receipt := must(h.as("ann").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "look"}))(t)
		same(t, "reachability", receipt.Reachability, c3po.ReachUnknown)
		same(t, "notice", receipt.Notice, "")
	})
}
