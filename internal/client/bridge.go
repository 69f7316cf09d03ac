package client

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// PostReply answers a ticket of the bridge. A client without an agent id answers
// as the agent the ticket was sent to. The same answer twice is one answer, so
// it may be repeated.
func (c *Client) PostReply(ctx context.Context, in dialect.Reply) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return c.retry(ctx, request{method: http.MethodPost, path: "/replies", body: body, limit: callTimeout}, false, nil)
}
