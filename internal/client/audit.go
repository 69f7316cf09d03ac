package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/c3po-dev/c3po/c3po"
)

// AuditHeads says how far the chains of the audit go.
func (c *Client) AuditHeads(ctx context.Context) (c3po.AuditHeads, error) {
	return managed[c3po.AuditHeads](ctx, c, request{method: http.MethodGet, path: "/api/admin/audit/heads"})
}

// AuditTail gives the entries of the audit after an ID, oldest first; after the
// empty ID the newest ones.
func (c *Client) AuditTail(ctx context.Context, after string, limit int) ([]c3po.AuditEntry, error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if after != "" {
		query.Set("after", after)
	}
	return managed[[]c3po.AuditEntry](ctx, c, request{method: http.MethodGet, path: "/api/admin/audit?" + query.Encode()})
}
