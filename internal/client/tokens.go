package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/c3po-dev/c3po/c3po"
)

const tokensPath = "/api/admin/tokens"

// CreateToken makes a token. It is not repeated by itself: a token whose answer
// was lost is one that nobody has.
func (c *Client) CreateToken(ctx context.Context, in c3po.TokenInput) (c3po.NewToken, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return c3po.NewToken{}, err
	}
	return managed[c3po.NewToken](ctx, c, request{method: http.MethodPost, path: tokensPath, body: body})
}

// Tokens are all tokens, oldest first, without their secrets.
func (c *Client) Tokens(ctx context.Context) ([]c3po.Token, error) {
	return managed[[]c3po.Token](ctx, c, request{method: http.MethodGet, path: tokensPath})
}

// RevokeToken ends a token for good.
func (c *Client) RevokeToken(ctx context.Context, kid string) (c3po.Token, error) {
	return managed[c3po.Token](ctx, c, request{method: http.MethodPost, path: tokensPath + "/" + url.PathEscape(kid) + "/revoke"})
}

// RotateToken makes a successor of a token, beside which it works for ten more
// minutes.
func (c *Client) RotateToken(ctx context.Context, kid string) (c3po.NewToken, error) {
	return managed[c3po.NewToken](ctx, c, request{method: http.MethodPost, path: tokensPath + "/" + url.PathEscape(kid) + "/rotate"})
}

func managed[Out any](ctx context.Context, c *Client, r request) (Out, error) {
	var out Out
	r.limit = callTimeout
	err := c.attempt(ctx, r, &out)
	return out, final(err, r.method == http.MethodGet)
}
