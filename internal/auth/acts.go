package auth

import (
	"context"
	"net/http"

	"github.com/c3po-dev/c3po"
)

// auditPage and auditPageMost are how many entries are read at once.
const (
	auditPage     = 100
	auditPageMost = 1000
)

// AuditRoles are who may read the audit.
func AuditRoles() []c3po.Role { return []c3po.Role{c3po.RoleAdmin} }

// AuditTail gives the entries after an ID, oldest first; after the empty ID the
// newest ones.
func (k *Keeper) AuditTail(ctx context.Context, after string, limit int) ([]c3po.AuditEntry, error) {
	if limit < 0 || limit > auditPageMost {
		return nil, c3po.Errorf(c3po.InvalidRequest, "limit must be between 1 and %d", auditPageMost).
			Suggest("Ask again after the last entry for more.")
	}
	if limit == 0 {
		limit = auditPage
	}
	entries, err := k.store.AuditTail(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	told := make([]c3po.AuditEntry, len(entries))
	for i, e := range entries {
		told[i] = c3po.AuditEntry(e)
	}
	return told, nil
}

// RecordAct writes down what was done for a person by the request.
func (k *Keeper) RecordAct(r *http.Request, role c3po.Role, what string) {
	grant, _ := r.Context().Value(grantKey{}).(Grant)
	k.Record(r.Context(), AuditEntry{
		Event: EventPersonAct, KID: grant.KID, Role: role, Space: clip(r.Header.Get(SpaceHeader)), Agent: clip(r.Header.Get(AgentHeader)),
		Remote: RemoteOf(r), Detail: what,
	})
}
