package rest

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// The management of tokens. It is not an operation: no agent has a use for it,
// and no model shall be offered it.

func (s *server) tokenList(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	tokens, err := s.auth.Tokens(r.Context(), caller)
	s.conclude(w, r, tokens, err)
}

func (s *server) tokenCreate(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	err := checkRole(auth.TokenRoles(true), caller.Role)
	var in c3po.TokenInput
	if err == nil {
		in, err = tokenInput(r)
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	made, err := s.auth.CreateToken(r.Context(), caller, in)
	s.conclude(w, r, made, err)
}

func (s *server) tokenRevoke(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	token, err := s.auth.RevokeToken(r.Context(), caller, r.PathValue("kid"))
	s.conclude(w, r, token, err)
}

func (s *server) tokenRotate(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	made, err := s.auth.RotateToken(r.Context(), caller, r.PathValue("kid"))
	s.conclude(w, r, made, err)
}

func (s *server) conclude(w http.ResponseWriter, r *http.Request, out any, err error) {
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.answer(w, r, out)
}

func tokenInput(r *http.Request) (c3po.TokenInput, error) {
	var in c3po.TokenInput
	data, err := readBody(r)
	if err != nil {
		return in, err
	}
	// Strictly: a misspelt limit would make a token that is worth more.
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return in, c3po.Because(err, c3po.InvalidRequest, "the body does not describe a token").
			Suggest("Send role, spaces, agents and label as a JSON object.")
	}
	return in, nil
}
