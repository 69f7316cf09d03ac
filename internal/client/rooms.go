package client

import (
	"cmp"
	"context"
	"crypto/rand"

	"github.com/c3po-dev/c3po"
)

func (c *Client) RoomJoin(ctx context.Context, in c3po.RoomJoinInput) (c3po.RoomJoined, error) {
	return call[c3po.RoomJoined](ctx, c, "room_join", in)
}

func (c *Client) RoomLeave(ctx context.Context, in c3po.RoomInput) (c3po.RoomLeft, error) {
	return call[c3po.RoomLeft](ctx, c, "room_leave", in)
}

func (c *Client) RoomPost(ctx context.Context, in c3po.RoomPostInput) (c3po.PostReceipt, error) {
	in.ClientKey = cmp.Or(in.ClientKey, rand.Text())
	return call[c3po.PostReceipt](ctx, c, "room_post", in)
}

func (c *Client) RoomHistory(ctx context.Context, in c3po.RoomHistoryInput) (c3po.MessageList, error) {
	return call[c3po.MessageList](ctx, c, "room_history", in)
}

func (c *Client) RoomList(ctx context.Context, in c3po.RoomListInput) (c3po.RoomList, error) {
	return call[c3po.RoomList](ctx, c, "room_list", in)
}

// RoomEnd implements c3po.Service.
func (c *Client) RoomEnd(ctx context.Context, in c3po.RoomInput) (c3po.RoomEnded, error) {
	return call[c3po.RoomEnded](ctx, c, "room_end", in)
}

func (c *Client) RoomInvite(ctx context.Context, in c3po.RoomInviteInput) (c3po.RoomInvited, error) {
	return call[c3po.RoomInvited](ctx, c, "room_invite", in)
}

func (c *Client) RoomSet(ctx context.Context, in c3po.RoomSetInput) (c3po.Room, error) {
	return call[c3po.Room](ctx, c, "room_set", in)
}

func (c *Client) RoomPrune(ctx context.Context, in c3po.RoomPruneInput) (c3po.RoomPruned, error) {
	return call[c3po.RoomPruned](ctx, c, "room_prune", in)
}

func (c *Client) Broadcast(ctx context.Context, in c3po.BroadcastInput) (c3po.BroadcastReceipt, error) {
	if in.Cursor == "" {
		in.ClientKey = cmp.Or(in.ClientKey, rand.Text())
	}
	return call[c3po.BroadcastReceipt](ctx, c, "broadcast", in)
}
