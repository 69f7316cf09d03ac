package rest

import (
	"log/slog"
	"net/http"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// admit serves a request as its caller, for as long as the caller is admitted.
func (s *server) admit(serve func(http.ResponseWriter, *http.Request, c3po.Caller)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, ctx, release, err := s.auth.Caller(r, door)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		defer release()
		serve(w, r.WithContext(ctx), caller)
	})
}

// forRoles serves callers of these roles what is the same for all of them.
func (s *server) forRoles(roles []c3po.Role, serve http.HandlerFunc) http.Handler {
	return s.admit(func(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
		if err := checkRole(roles, caller.Role); err != nil {
			s.refuse(w, r, err)
			return
		}
		serve(w, r)
	})
}

// ForRoles is for what is served beside REST: next makes what a caller of these
// roles is served.
func ForRoles(keeper *auth.Keeper, log *slog.Logger, roles []c3po.Role, next func(c3po.Caller) http.Handler) http.Handler {
	s := &server{auth: keeper, log: log}
	return s.admit(func(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
		if err := checkRole(roles, caller.Role); err != nil {
			s.refuse(w, r, err)
			return
		}
		next(caller).ServeHTTP(w, r)
	})
}

func checkRole(roles []c3po.Role, role c3po.Role) error {
	if slices.Contains(roles, role) {
		return nil
	}
	return c3po.Errorf(c3po.Forbidden, "this is not for the role %s", role).
		Suggest("Use a token of another role; `c3po token create` makes one.")
}
