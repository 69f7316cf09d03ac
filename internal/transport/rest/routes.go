package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// A route is one line of the surface. Paths that begin with /api/ are also
// served under /agent: that is where container agents look for them.
type route struct {
	method  string
	path    string
	handler http.Handler
}

const (
	apiPrefix   = "/api/"
	agentPrefix = "/agent"
)

// routes is the whole surface.
func (s *server) routes() []route {
	routes := []route{
		{"GET", "/livez", http.HandlerFunc(s.live)},
		{"GET", "/readyz", http.HandlerFunc(s.ready)},
		{"GET", "/openapi.yaml", s.forRoles(c3po.Roles(), s.openapi)},
		{"GET", "/api/health", http.HandlerFunc(s.health)},
		{"GET", "/api/agents", handle(s, "list_agents", agentsQuery, c3po.Service.ListAgents)},
		{"GET", "/api/pending", handle(s, "pending", pendingQuery, c3po.Service.Pending)},
		{"GET", "/api/wait", handle(s, "pending", s.waitQuery, c3po.Service.Pending)},
		{"GET", "/api/events", s.admitted(s.events)},
		{"POST", "/api/unregister", handle(s, "unregister", nothing, c3po.Service.Unregister)},
		{"GET", "/api/admin/tokens", s.admitted(s.tokenList)},
		{"POST", "/api/admin/tokens", s.admitted(s.tokenCreate)},
		{"POST", "/api/admin/tokens/{kid}/revoke", s.admitted(s.tokenRevoke)},
		{"POST", "/api/admin/tokens/{kid}/rotate", s.admitted(s.tokenRotate)},
		{"GET", "/api/admin/audit", s.forRoles(auth.AuditRoles(), s.auditTail)},
		{"GET", "/api/admin/audit/heads", s.forRoles(auth.AuditRoles(), s.auditHeads)},
		{"POST", "/api/admin/invites", s.admitted(s.invite)},
		{"POST", "/api/join", open(s.joinHost)},
		{"POST", "/api/login", open(s.login)},
		{"POST", "/api/login/link", s.admitted(s.loginLink)},
		{"GET", "/api/ca", http.HandlerFunc(s.authority)},
		{"GET", "/install", http.HandlerFunc(s.installer)},
		{"GET", "/install/{program}", http.HandlerFunc(s.program)},
		{"GET", "/agents", handle(s, "bridge_list_agents", bridgeAgentsQuery, bridgeAgents)},
		{"POST", "/agents/register", s.bridged("bridge_register_agent", s.bridgeRegister)},
		{"POST", "/agents/{id}/send", s.bridged("bridge_send_message", s.bridgeSend)},
		{"POST", "/agents/{id}/heartbeat", s.bridged("bridge_register_agent", s.bridgeHeartbeat)},
		{"POST", "/replies", s.bridged("post_reply", s.bridgeReply)},
		{"GET", "/replies/{ticket}", s.bridged("await_reply", s.bridgeAwait)},
		{"GET", "/replies/{ticket}/stream", s.bridged("await_reply", s.bridgeStream)},
	}
	for _, op := range dialect.Operations() {
		routes = append(routes, route{"POST", "/api/op/" + op.Name, s.operation(op)})
	}
	return routes
}

// mux serves the routes. Everything else is answered in JSON as well.
func (s *server) mux() *http.ServeMux {
	mux := http.NewServeMux()
	allowed := map[string][]string{}
	for _, r := range s.routes() {
		paths := []string{r.path}
		if strings.HasPrefix(r.path, apiPrefix) {
			paths = append(paths, agentPrefix+r.path)
		}
		for _, path := range paths {
			mux.Handle(r.method+" "+path, r.handler)
			allowed[path] = append(allowed[path], r.method)
		}
	}
	for path, methods := range allowed {
		mux.Handle(path, wrongMethod(methods))
	}
	// Any method: a pattern for POST alone would be in doubt with those above.
	mux.HandleFunc("/api/op/{name}", s.noOperation)
	mux.HandleFunc("/agent/api/op/{name}", s.noOperation)
	mux.HandleFunc("/", noPath)
	return mux
}

func wrongMethod(methods []string) http.Handler {
	slices.Sort(methods)
	allow := strings.Join(methods, ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", allow)
		writeJSON(w, http.StatusMethodNotAllowed, c3po.Errorf(c3po.InvalidRequest, "this path is not for %s", r.Method).
			Suggest("Use %s.", allow))
	})
}

func (s *server) noOperation(w http.ResponseWriter, r *http.Request) {
	_, err := dialect.FindOperation(r.PathValue("name"))
	s.refuse(w, r, err)
}

func noPath(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusNotFound, c3po.Errorf(c3po.InvalidRequest, "there is nothing at this path").
		Suggest("GET /openapi.yaml lists every path."))
}
