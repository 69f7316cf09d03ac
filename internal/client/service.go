package client

import (
	"cmp"
	"context"
	"crypto/rand"

	"github.com/c3po-dev/c3po/c3po"
)

// The methods of c3po.Service that store a message: they give it a key first, so
// that a repeat of the call is never a second message. All others are one line each
// and are generated, in operations.go.

// SendMessage sends, and with WaitSeconds waits for the answer in calls of
// their own: once the message is stored, nothing that happens to the wait can
// turn the receipt into an error.
func (c *Client) SendMessage(ctx context.Context, in c3po.SendInput) (c3po.Receipt, error) {
	in.ClientKey = cmp.Or(in.ClientKey, rand.Text())
	wait := in.WaitSeconds
	if waitable(wait) {
		in.WaitSeconds = 0
	}
	receipt, err := call[c3po.Receipt](ctx, c, "send_message", in)
	if err != nil || !waitable(wait) {
		return receipt, err
	}
	receipt.Reply, receipt.Wait = c.AwaitReply(ctx, receipt.ID, wait)
	return receipt, nil
}

func (c *Client) Reply(ctx context.Context, in c3po.ReplyInput) (c3po.Message, error) {
	in.ClientKey = cmp.Or(in.ClientKey, rand.Text())
	return call[c3po.Message](ctx, c, "reply", in)
}

func (c *Client) EscalateToHuman(ctx context.Context, in c3po.EscalateInput) (c3po.Escalation, error) {
	in.ClientKey = cmp.Or(in.ClientKey, rand.Text())
	return call[c3po.Escalation](ctx, c, "escalate_to_human", in)
}

func (c *Client) HumanAnswer(ctx context.Context, in c3po.AnswerInput) (c3po.Message, error) {
	in.ClientKey = cmp.Or(in.ClientKey, rand.Text())
	return call[c3po.Message](ctx, c, "human_answer", in)
}

func (c *Client) RoomPost(ctx context.Context, in c3po.RoomPostInput) (c3po.PostReceipt, error) {
	in.ClientKey = cmp.Or(in.ClientKey, rand.Text())
	return call[c3po.PostReceipt](ctx, c, "room_post", in)
}

func (c *Client) Broadcast(ctx context.Context, in c3po.BroadcastInput) (c3po.BroadcastReceipt, error) {
	if in.Cursor == "" {
		in.ClientKey = cmp.Or(in.ClientKey, rand.Text())
	}
	return call[c3po.BroadcastReceipt](ctx, c, "broadcast", in)
}
