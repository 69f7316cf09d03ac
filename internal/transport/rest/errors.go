package rest

import (
	"context"
	"errors"
	"net/http"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// refuse answers a request that failed.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if cause := context.Cause(r.Context()); errors.Is(cause, c3po.Unauthorized) {
		// The token was revoked while it was used.
		Refuse(w, c3po.AsError(cause))
		return
	}
	if r.Context().Err() != nil {
		// The caller has gone, or this coordinator ends. Should anybody still
		// listen, this is the truth.
		Refuse(w, c3po.Because(err, c3po.UnknownOutcome, "the request was cut off before it was answered").
			Suggest("Make the same call again, with the same client_key if it had one."))
		return
	}
	told := c3po.OtherVersion(c3po.AsError(err), c3po.ClientVersion(r.Header.Get(auth.ClientHeader)), s.version)
	s.note(r, told)
	Refuse(w, told)
}

// note is the one place on this side that logs a failure, and only one of ours:
// that a request was refused, or its caller left, is no error.
func (s *server) note(r *http.Request, err *c3po.Error) {
	if err.Code.Status() < http.StatusInternalServerError || r.Context().Err() != nil {
		return
	}
	s.log.ErrorContext(r.Context(), "request failed", "method", r.Method, "route", r.Pattern,
		"code", err.Code, "err", err.Message, "cause", err.Unwrap())
}

// Refuse writes an error in the one form it has on the wire.
func Refuse(w http.ResponseWriter, err *c3po.Error) {
	auth.Challenge(w.Header(), err)
	writeJSON(w, err.Code.Status(), err)
}
