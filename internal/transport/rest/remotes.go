package rest

import (
	"context"
	"net/http"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// Remotes asks agents of other systems.
type Remotes interface {
	// Describe reads a card, which may ask for the token in a variable: the address it is
	// at, and what the agent calls itself.
	Describe(ctx context.Context, address, tokenEnv string) (card, name string, err error)
	// Claim gives a remote its name, from when on it can be asked. A name that is not free
	// is refused.
	Claim(ctx context.Context, remote auth.Remote) error
}

// remoteAdd adds an agent of another system. Its card is read first, so that nothing is
// added that cannot be asked.
func (s *server) remoteAdd(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	var in c3po.RemoteInput
	err := checkRole(auth.TokenRoles(false), caller.Role)
	if err == nil {
		err = readObject(r, &in)
	}
	if err == nil {
		err = auth.CheckTokenEnv(in.TokenEnv)
	}
	if err == nil {
		var name string
		if in.URL, name, err = s.remotes.Describe(r.Context(), in.URL, in.TokenEnv); err == nil && in.Name == "" {
			in.Name = string(c3po.AgentIDFromFolder(name))
		}
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	added, err := s.auth.AddRemote(r.Context(), caller, in, s.remotes.Claim)
	s.conclude(w, r, added, err)
}

// remoteRemove ends an agent of another system.
func (s *server) remoteRemove(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	removed, err := s.auth.RemoveRemote(r.Context(), caller, r.PathValue("name"))
	s.conclude(w, r, removed, err)
}
