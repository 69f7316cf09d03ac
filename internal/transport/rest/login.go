package rest

import (
	"net/http"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// loginLink makes the code of a link by which a browser is let in.
func (s *server) loginLink(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	link, err := s.auth.LoginLink(r.Context(), caller)
	s.conclude(w, r, link, err)
}

// login lets a browser in. Its code is all the proof there is.
func (s *server) login(w http.ResponseWriter, r *http.Request) {
	var in c3po.LoginInput
	if err := readObject(r, &in); err != nil {
		s.refuse(w, r, err)
		return
	}
	if in.Code == "" {
		s.refuse(w, r, c3po.Errorf(c3po.InvalidRequest, "code is empty").Suggest("Show the code of a link that `c3po open` printed."))
		return
	}
	login, err := s.auth.Login(r.Context(), auth.RemoteOf(r), in)
	s.conclude(w, r, login, err)
}
