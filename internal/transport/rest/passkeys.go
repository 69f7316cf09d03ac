package rest

import (
	"net"
	"net/http"

	"github.com/c3po-dev/c3po/c3po"
)

// Passkeys and proofs. They are no operations: no agent has a use for them.

func (s *server) passkeyList(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	all, err := s.auth.Passkeys(r.Context(), caller)
	s.conclude(w, r, all, err)
}

func (s *server) passkeyOffer(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	offer, err := s.auth.OfferPasskey(r.Context(), caller, siteOf(r))
	s.conclude(w, r, offer, err)
}

func (s *server) passkeyAdd(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	var in c3po.PasskeyInput
	if err := readObject(r, &in); err != nil {
		s.refuse(w, r, err)
		return
	}
	all, err := s.auth.AddPasskey(r.Context(), caller, in)
	s.conclude(w, r, all, err)
}

func (s *server) passkeyRemove(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	all, err := s.auth.RemovePasskey(r.Context(), caller, r.PathValue("id"))
	s.conclude(w, r, all, err)
}

func (s *server) passkeyReset(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	all, err := s.auth.ResetPasskeys(r.Context(), caller)
	s.conclude(w, r, all, err)
}

func (s *server) proofPolicy(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	var in c3po.ProofPolicyInput
	if err := readObject(r, &in); err != nil {
		s.refuse(w, r, err)
		return
	}
	all, err := s.auth.SetProofPolicy(r.Context(), caller, in)
	s.conclude(w, r, all, err)
}

func (s *server) proofShow(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	request, err := s.auth.ProofRequest(r.Context(), caller, r.PathValue("id"), siteOf(r))
	s.conclude(w, r, request, err)
}

func (s *server) proofSign(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	var in c3po.ProofSignature
	err := readObject(r, &in)
	if err == nil {
		err = s.auth.SignProof(r.Context(), caller, r.PathValue("id"), in.Credential)
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.proofShow(w, r, caller)
}

// siteOf is the name of the page that a browser asks from.
func siteOf(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.Host); err == nil {
		return host
	}
	return r.Host
}
