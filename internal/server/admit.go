package server

import (
	"context"
	"net/http"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/ops/metrics"
)

// An admission is what the keeper said of a request to the MCP server.
type admission struct {
	caller  c3po.Caller
	refusal error
}

type admissionKey struct{}

// admit serves MCP requests as their caller, for as long as the caller is admitted. The
// MCP server decides how a refusal is shown.
func admit(keeper *auth.Keeper, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, ctx, release, err := keeper.Caller(r, "mcp")
		if err != nil {
			auth.Challenge(w.Header(), c3po.AsError(err))
		}
		defer release()
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, admissionKey{}, admission{caller, err})))
	})
}

// serviceOf is the hub as the admitted caller.
func serviceOf(h *hub.Hub) func(*http.Request) (c3po.Service, error) {
	return func(r *http.Request) (c3po.Service, error) {
		a, ok := r.Context().Value(admissionKey{}).(admission)
		switch {
		case !ok:
			return nil, c3po.Errorf(c3po.Internal, "the request came past the door").Suggest("This is a fault of c3po.")
		case a.refusal != nil:
			return nil, a.refusal
		default:
			return h.As(a.caller), nil
		}
	}
}

// numbersFor are the roles that may read the metrics.
func numbersFor() []c3po.Role { return []c3po.Role{c3po.RoleObserver, c3po.RoleHuman, c3po.RoleAdmin} }

// numbers are what a caller may count: what happens in all spaces, or in its own.
func numbers(counts *metrics.Metrics, h *hub.Hub) func(c3po.Caller) http.Handler {
	all := counts.Handler(h)
	return func(caller c3po.Caller) http.Handler {
		if caller.AllSpaces {
			return all
		}
		return metrics.Space(h, caller.Space)
	}
}
