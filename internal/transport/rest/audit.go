package rest

import "net/http"

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

// auditHeads answers with how far the chains of the audit go.
func (s *server) auditHeads(w http.ResponseWriter, r *http.Request) {
	heads, err := s.auth.AuditHeads(r.Context())
	s.conclude(w, r, heads, err)
}
