package rest

import (
	"net/http"

	"github.com/c3po-dev/c3po/c3po"
)

type liveness struct {
	Status  string `json:"status" enum:"ok"`
	Version string `json:"version"`
}

type readiness struct {
	Status  string   `json:"status" enum:"ready,not_ready"`
	Reasons []string `json:"reasons"` // why not
}

// sickness is the form of a failure that the API reference prints for health.
type sickness struct {
	Status string `json:"status" enum:"error"`
	Error  string `json:"error"`
}

// live says that the process answers, whatever else may be wrong.
func (s *server) live(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, liveness{Status: "ok", Version: s.version})
}

// ready says whether it makes sense to send requests here.
func (s *server) ready(w http.ResponseWriter, r *http.Request) {
	if err := s.hub.Ready(r.Context()); err != nil {
		writeJSON(w, http.StatusServiceUnavailable, readiness{Status: "not_ready", Reasons: reasons(err)})
		return
	}
	writeJSON(w, http.StatusOK, readiness{Status: "ready", Reasons: []string{}})
}

// reasons are the sentences of joined errors.
func reasons(err error) []string {
	var all []string
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			all = append(all, reasons(one)...)
		}
		return all
	}
	return append(all, c3po.AsError(err).Message)
}

func (s *server) health(w http.ResponseWriter, r *http.Request) {
	health, err := s.hub.Health(r.Context())
	if err != nil {
		s.note(r, c3po.AsError(err))
		writeJSON(w, http.StatusInternalServerError, sickness{Status: "error", Error: "Redis connection failed"})
		return
	}
	writeJSON(w, http.StatusOK, health)
}

func (s *server) openapi(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openapi)
}
