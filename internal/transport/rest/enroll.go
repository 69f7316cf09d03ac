package rest

import (
	"encoding/json"
	"net/http"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// Joining is what other hosts know the coordinator by.
type Joining struct {
	Address string // where they most likely reach it
	Hash    string // of its authority, or the word for what every system trusts; empty if no host can join
	CA      []byte // the authority itself, in PEM, if it has one of its own
	Pin     string // of its key, as curl takes it, likewise
}

// invite makes an invitation for one host.
func (s *server) invite(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	var in c3po.InviteInput
	err := checkRole(auth.InviteRoles(), caller.Role)
	if err == nil {
		err = readObject(r, &in)
	}
	if err == nil && s.join.Hash == "" {
		err = c3po.Errorf(c3po.InvalidRequest, "no other host can reach this coordinator safely").
			Suggest("Start it anew with: c3po down && c3po up --listen :8420, which turns TLS on. Behind a proxy add --name, the name the proxy is called by.")
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	secret, expires, err := s.auth.Invite(r.Context(), caller, in)
	s.conclude(w, r, c3po.Invited{Address: s.join.Address, Hash: s.join.Hash, Secret: secret, Pin: s.join.Pin, Expires: expires}, err)
}

// joinHost lets a host in. Its invitation is all the proof there is.
func (s *server) joinHost(w http.ResponseWriter, r *http.Request) {
	var in c3po.JoinInput
	if err := readObject(r, &in); err != nil {
		s.refuse(w, r, err)
		return
	}
	if s.join.Hash == "" {
		// An invitation made elsewhere is not to be sent over this connection.
		s.refuse(w, r, c3po.Errorf(c3po.InvalidRequest, "this coordinator is for its own machine").
			Suggest("Join through a coordinator that other machines can reach."))
		return
	}
	joined, err := s.auth.Join(r.Context(), auth.RemoteOf(r), in)
	s.conclude(w, r, joined, err)
}

// authority shows the certificate authority, which is no secret.
func (s *server) authority(w http.ResponseWriter, r *http.Request) {
	if s.join.CA == nil {
		writeJSON(w, http.StatusNotFound, c3po.Errorf(c3po.InvalidRequest, "this coordinator has no certificate authority").
			Suggest("Trust what the system trusts."))
		return
	}
	w.Header().Set("Content-Type", "application/x-pem-file")
	_, _ = w.Write(s.join.CA)
}

// readObject reads a body that is one of our own types.
func readObject(r *http.Request, into any) error {
	data, err := readBody(r)
	if err != nil || len(data) == 0 {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		// What json says of a text can hold a part of it, and this one has secrets.
		return c3po.Errorf(c3po.InvalidRequest, "the body is not what this path takes").
			Suggest("GET /openapi.yaml describes it.")
	}
	return nil
}
