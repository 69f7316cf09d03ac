package rest

import (
	"encoding/json"
	"net/http"

	"github.com/c3po-dev/c3po"
)

// auditTail answers with what the audit holds after a place.
func (s *server) auditTail(w http.ResponseWriter, r *http.Request) {
	limit, err := number[int](r, "limit")
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	entries, err := s.auth.AuditTail(r.Context(), r.URL.Query().Get("after"), limit)
	s.conclude(w, r, entries, err)
}

// record writes an act down that only a person may do. Of what was said with it
// only what it was done to is kept.
func (s *server) record(r *http.Request, op c3po.Operation, svc c3po.Service, arguments []byte) {
	if op.ReadOnly || op.Allows(c3po.RoleAgent) {
		return
	}
	var to struct {
		AgentID   string         `json:"agent_id"`
		MessageID c3po.MessageID `json:"message_id"`
		All       bool           `json:"all"`
	}
	// It was read once already, or the act would not have been done.
	_ = json.Unmarshal(arguments, &to)
	what := op.Name
	switch {
	case to.All:
		what += " everybody"
	case to.AgentID != "":
		what += " " + to.AgentID
	case to.MessageID != "":
		what += " " + string(to.MessageID)
	}
	s.auth.RecordAct(r, svc.(c3po.RoleHolder).Role(), what)
}
