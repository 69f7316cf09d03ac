package auth

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/c3po-dev/c3po/c3po"
)

// auditPage and maxAuditPage are how many entries are read at once.
const (
	auditPage    = 100
	maxAuditPage = 1000
)

// AuditRoles are who may read the audit.
func AuditRoles() []c3po.Role { return []c3po.Role{c3po.RoleAdmin} }

// AuditTail gives the entries after an ID, oldest first; after the empty ID the
// newest ones.
func (k *Keeper) AuditTail(ctx context.Context, after string, limit int) ([]c3po.AuditEntry, error) {
	if limit < 0 || limit > maxAuditPage {
		return nil, c3po.Errorf(c3po.InvalidRequest, "limit must be between 1 and %d", maxAuditPage).
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

// AuditHeads says how far the chains of the audit go.
func (k *Keeper) AuditHeads(ctx context.Context) (c3po.AuditHeads, error) {
	return k.store.AuditHeads(ctx)
}

// Acted writes down what was done for a person by the request whose context it is
// given. Of what was said with it only what it was done to is kept, and what was decided by it.
func (k *Keeper) Acted(ctx context.Context, caller c3po.Caller, as c3po.AgentID, o c3po.Operation, arguments []byte, decided string) {
	var to struct {
		AgentID   string         `json:"agent_id"`
		Target    string         `json:"target"`
		Room      string         `json:"room"`
		MessageID c3po.MessageID `json:"message_id"`
		Name      string         `json:"name"` // of a file
		ID        c3po.FileID    `json:"id"`
		All       bool           `json:"all"`
	}
	// It was read once already, or the act would not have been done.
	_ = json.Unmarshal(arguments, &to)
	what := o.Name
	if whom := cmp.Or(to.AgentID, to.Target, to.Room, string(to.MessageID), to.Name, string(to.ID)); to.All {
		what += " everybody"
	} else if whom != "" {
		what += " " + clip(whom)
	}
	if decided != "" {
		what += ": you " + clip(decided)
	}
	remote, _ := ctx.Value(remoteKey{}).(string)
	k.Record(ctx, AuditEntry{
		Event: EventPersonAct, KID: caller.KID, Role: caller.Role, Space: string(caller.Space), Agent: string(as), Remote: remote, Detail: what + provedBy(ctx),
	})
}
