package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// A route is one line of the surface. Paths that begin with /api/ are also
// served under /agent: that is where container agents look for them.
type route struct {
	method  string
	path    string
	handler http.Handler
	about   about
}

const (
	apiPrefix   = "/api/"
	agentPrefix = "/agent"
	// waitsForMail is the operation that sessions sleep in.
	waitsForMail = "pending"
)

// routes is the whole surface.
func (s *server) routes() []route {
	routes := []route{
		{"GET", "/livez", http.HandlerFunc(s.live), about{id: "livez", tag: "rest", open: true, says: "Whether the coordinator runs.",
			answers: []reply{{status: 200, says: "It runs.", body: liveness{}}}}},
		{"GET", "/readyz", http.HandlerFunc(s.ready), about{id: "readyz", tag: "rest", open: true, says: "Whether the coordinator takes requests.",
			answers: []reply{{status: 200, says: "It does.", body: readiness{}}, {status: 503, says: "It does not.", body: readiness{}}}}},
		{"GET", "/openapi.yaml", s.forRoles(c3po.Roles(), s.openapi), about{id: "openapi", tag: "rest", says: "This document.",
			answers: []reply{{status: 200, says: "This document.", media: "application/yaml", body: map[string]any{}}}}},
		{"GET", "/api/health", http.HandlerFunc(s.health), about{id: "health", tag: "rest", open: true, says: "Whether the coordinator and Redis work, and how many agents of space main are online.",
			answers: []reply{{status: 200, says: "They work.", body: c3po.Health{}}, {status: 500, says: "They do not.", body: sickness{}}}}},
		{"GET", "/api/agents", handle(s, "list_agents", agentsQuery, c3po.Service.ListAgents), about{id: "agents", tag: "rest", says: "The agents, in the order they registered.",
			takes: []parameter{agentHeader, sessionHeader, spaceHeader, cursorQuery, limitQuery, statusQuery}, answers: []reply{{status: 200, says: "One page of agents.", body: c3po.AgentList{}}}}},
		{"GET", "/api/pending", handle(s, waitsForMail, pendingQuery, c3po.Service.Pending), about{id: "pending_mail", tag: "rest", says: "Unacked mail, without recording that it was seen.",
			takes: []parameter{agentHeader, sessionHeader, spaceHeader, runHeader, cursorQuery, limitQuery}, answers: []reply{{status: 200, says: "Pending mail.", body: c3po.Pending{}, by: paged}}}},
		{"GET", "/api/wait", s.act(callOf(waitsForMail, s.waitQuery, c3po.Service.Pending)), about{id: "wait_for_mail", tag: "rest", says: "As /api/pending, once there is mail or the time is over.",
			takes: []parameter{agentHeader, sessionHeader, spaceHeader, runHeader, {in: "query", name: "timeout", says: "Seconds to wait", kind: 0, least: 1, most: 3600, otherwise: 60},
				{in: "query", name: "after", says: "Wait for mail after this sequence: the seq of an earlier answer", kind: 0}, cursorQuery, limitQuery},
			answers: []reply{{status: 200, says: "Pending mail, none if the time was over, or the word to retry.", body: c3po.PendingResult{}, by: paged}}}},
		{"GET", "/api/events", s.admit(s.events), about{id: "events", tag: "rest", says: "What changes in the space, as it happens.", more: aboutEvents,
			takes: []parameter{agentHeader, sessionHeader, spaceHeader, {in: "query", name: "after", says: "Id of the last event the caller has; from now on if left out", form: "^[0-9]+:[0-9]+$"},
				{in: "header", name: "Last-Event-ID", says: "As after, and before it"},
				{in: "query", name: "format", says: "How an event is written: as a CloudEvent of version 1.0; as an Event if left out", form: "^cloudevents$"}},
			answers: []reply{{status: 200, says: "The stream.", media: "text/event-stream", body: ""}}, beside: []any{c3po.StreamStart{}, c3po.Event{}, c3po.CloudEvent{}}}},
		{"GET", "/api/file", s.admit(s.file), about{id: "file", tag: "rest", says: "A file that came with a message, whole or the part that Range names.",
			takes:   []parameter{agentHeader, sessionHeader, spaceHeader, {in: "query", name: "message_id", says: "The message it is attached to", kind: c3po.MessageID("")}, {in: "query", name: "file", says: "Its id in the message's attachments"}, {in: "header", name: "Range", says: "For example bytes=1000-"}},
			answers: []reply{{status: 200, says: "Its bytes. They are to be saved, whatever they are: the type is not said.", media: "application/octet-stream", body: []byte{}}, {status: 206, says: "A part of it.", media: "application/octet-stream", body: []byte{}}, {status: 416, says: "The file has no such part.", media: "text/plain", body: ""}}}},
		{"POST", "/api/unregister", handle(s, "unregister", nothing, c3po.Service.Unregister), about{id: "unregister_agent", tag: "rest", says: "End the session; the agent stays known and keeps its mail.",
			takes: callerHeaders, answers: []reply{{status: 200, says: "The session has ended, or there was none.", body: c3po.Unregistered{}, by: introduced}}}},
		{"GET", "/api/admin/tokens", s.admit(s.tokenList), about{id: "token_list", tag: "admin", says: "All tokens, oldest first, without their secrets.",
			answers: []reply{{status: 200, says: "The tokens. Those that have ended are listed for 30 days.", body: []c3po.Token{}}}}},
		{"POST", "/api/admin/tokens", s.admit(s.tokenCreate), about{id: "token_create", tag: "admin", says: "Make a token. A runner may make those of the agents it starts.",
			body: c3po.TokenInput{}, closed: true, answers: []reply{{status: 200, says: "The token, which is shown this once.", body: c3po.NewToken{}}}}},
		{"POST", "/api/admin/tokens/{kid}/revoke", s.admit(s.tokenRevoke), about{id: "token_revoke", tag: "admin", says: "End a token for good. Every coordinator refuses it, and closes what it has open, within a second.",
			takes: []parameter{keyPath}, answers: []reply{{status: 200, says: "The token as it is now.", body: c3po.Token{}}}}},
		{"POST", "/api/admin/tokens/{kid}/rotate", s.admit(s.tokenRotate), about{id: "token_rotate", tag: "admin", says: "Make a successor of a token, beside which it works for 10 more minutes.",
			takes: []parameter{keyPath}, answers: []reply{{status: 200, says: "The successor, which is shown this once.", body: c3po.NewToken{}}}}},
		{"GET", "/api/admin/audit", s.forRoles(auth.AuditRoles(), s.auditTail), about{id: "audit_tail", tag: "admin", says: "What the audit holds after an entry, oldest first; without one the newest entries.",
			takes:   []parameter{{in: "query", name: "after", says: "The id of an entry"}, {in: "query", name: "limit", says: "How many at the most", kind: 0, least: 1, most: 1000, otherwise: 100}},
			answers: []reply{{status: 200, says: "Entries.", body: []c3po.AuditEntry{}}}}},
		{"GET", "/api/admin/audit/heads", s.forRoles(auth.AuditRoles(), s.auditHeads), about{id: "audit_heads", tag: "admin", says: "The last number and hash of each chain of the audit, whatever is kept of it.",
			answers: []reply{{status: 200, says: "Both heads.", body: c3po.AuditHeads{}}}}},
		{"POST", "/api/admin/invites", s.admit(s.invite), about{id: "invite", tag: "admin", says: "An invitation for one host, good for one use and 15 minutes.",
			body: c3po.InviteInput{}, answers: []reply{{status: 200, says: "The parts of c3po://ADDRESS/HASH-SECRET, shown this once.", body: c3po.Invited{}}}}},
		{"POST", "/api/join", open(s.joinHost), about{id: "join", tag: "join", says: "Tokens for a host that shows an invitation. Needs no token.",
			body: c3po.JoinInput{}, answers: []reply{{status: 200, says: "It has joined.", body: c3po.Joined{}}}}},
		{"POST", "/api/login", open(s.login), about{id: "login", tag: "login", says: "A token for a browser that shows the code of a link. Needs no token.",
			body: c3po.LoginInput{}, answers: []reply{{status: 200, says: "It is in, for 12 hours.", body: c3po.Login{}}}}},
		{"POST", "/api/login/link", s.admit(s.loginLink), about{id: "login_link", tag: "login", says: "A code that lets one browser in as the caller, a person; good for one use and a minute.",
			answers: []reply{{status: 200, says: "To be put behind /#/login/ of the coordinator's address.", body: c3po.LoginLink{}}}}},
		{"GET", "/api/ca", http.HandlerFunc(s.authority), about{id: "ca", tag: "join", open: true, says: "The authority that signs the coordinator's certificate, to be compared with the hash in an invitation. Needs no token.",
			answers: []reply{{status: 200, says: "A certificate.", media: "application/x-pem-file", body: ""}, {status: 404, says: "It has no authority.", body: c3po.Error{}}}}},
		{"GET", "/install", http.HandlerFunc(s.installer), about{id: "install", tag: "join", says: "A script that installs the program and joins. Needs no token.",
			answers: []reply{{status: 200, says: "For sh.", media: "text/x-shellscript", body: ""}}}},
		{"GET", "/install/{program}", http.HandlerFunc(s.program), about{id: "program", tag: "join", says: "The program for one system, for example c3po-linux-amd64. Needs no token.",
			takes: []parameter{{in: "path", name: "program"}}, answers: []reply{{status: 200, says: "The program.", media: "application/octet-stream", body: []byte{}}, {status: 404, says: "There is none for that system.", body: c3po.Error{}}}}},
	}
	routes = append(routes, s.passkeyRoutes()...)
	routes = append(routes, s.bridgeRoutes()...)
	for _, op := range dialect.Operations() {
		routes = append(routes, route{"POST", "/api/op/" + op.Name, s.act(operation(op)), aboutOperation(op)})
	}
	return routes
}

// passkeyRoutes are how a person proves that an act is theirs.
func (s *server) passkeyRoutes() []route {
	all := []reply{{status: 200, says: "The passkeys as they are now.", body: c3po.Passkeys{}}}
	one := []reply{{status: 200, says: "The act, and how far its proof has come.", body: c3po.ProofRequest{}}}
	return []route{
		{"GET", "/api/passkeys", s.admit(s.passkeyList), about{id: "passkey_list", tag: "proof", says: "A person's passkeys, and what they are needed for.", answers: all}},
		{"POST", "/api/passkeys/offer", s.admit(s.passkeyOffer), about{id: "passkey_offer", tag: "proof", says: "What a browser needs to make a passkey, good for 5 minutes.",
			answers: []reply{{status: 200, says: "For navigator.credentials.create.", body: c3po.PasskeyOffer{}}}}},
		{"POST", "/api/passkeys", s.admit(s.passkeyAdd), about{id: "passkey_add", tag: "proof", says: "Add the passkey that a browser has made. Needs the proof of another one, if there is one.",
			body: c3po.PasskeyInput{}, answers: all}},
		{"POST", "/api/passkeys/{id}/remove", s.admit(s.passkeyRemove), about{id: "passkey_remove", tag: "proof", says: "Forget a passkey. Needs the proof of one.",
			takes: []parameter{passkeyPath}, answers: all}},
		{"POST", "/api/passkeys/reset", s.admit(s.passkeyReset), about{id: "passkey_reset", tag: "proof", says: "Forget all passkeys in an hour, unless one is used before. For an admin.", answers: all}},
		{"POST", "/api/passkeys/policy", s.admit(s.proofPolicy), about{id: "proof_policy", tag: "proof", says: "Say what a person's token is not enough for.",
			body: c3po.ProofPolicyInput{}, answers: all}},
		{"GET", "/api/proofs/{id}", s.admit(s.proofShow), about{id: "proof_show", tag: "proof", says: "An act that waits for a person's passkey.",
			takes: []parameter{proofPath}, answers: one}},
		{"POST", "/api/proofs/{id}", s.admit(s.proofSign), about{id: "proof_sign", tag: "proof", says: "The signature of a passkey, as navigator.credentials.get gives it. The refused request is then repeated with X-C3PO-Proof.",
			takes: []parameter{proofPath}, body: c3po.ProofSignature{}, answers: one}},
	}
}

// bridgeRoutes are the paths of the agent-to-agent bridge.
func (s *server) bridgeRoutes() []route {
	return []route{
		{"GET", "/agents", handle(s, "bridge_list_agents", bridgeAgentsQuery, bridgeAgents), about{id: "bridge_agents", tag: "bridge", says: "The agents, in the order they registered.",
			takes:   []parameter{agentHeader, spaceHeader, cursorQuery, limitQuery, {in: "query", name: "type", says: "Only agents of this kind of client"}, statusQuery},
			answers: []reply{{status: 200, says: "One page of agents.", body: dialect.AgentList{}}}}},
		{"POST", "/agents/register", s.serveBridge("bridge_register_agent", s.bridgeRegister), about{id: "bridge_register", tag: "bridge", says: "Announce an agent. To register again is to reconnect.",
			takes: []parameter{spaceHeader}, body: dialect.Register{},
			answers: []reply{{status: 200, says: "It is registered, and online until expiresAt if nothing more is heard of it.", body: dialect.Registered{}, by: introduced}}}},
		{"POST", "/agents/{id}/send", s.serveBridge("bridge_send_message", s.bridgeSend), about{id: "bridge_send", tag: "bridge", says: "Send a message to an agent, as the agent X-Agent-ID names, else as `bridge`.",
			takes: []parameter{handlePath, agentHeader, spaceHeader}, body: dialect.Send{}, answers: []reply{{status: 200, says: "The ticket.", body: dialect.Ticket{}, by: introduced}}}},
		{"POST", "/agents/{id}/heartbeat", s.serveBridge("bridge_register_agent", s.bridgeHeartbeat), about{id: "bridge_heartbeat", tag: "bridge", says: "Keep a registered agent online.",
			takes: []parameter{handlePath, spaceHeader}, answers: []reply{{status: 200, says: "It is online until expiresAt.", body: dialect.Registered{}, by: introduced}}}},
		{"POST", "/replies", s.serveBridge("post_reply", s.bridgeReply), about{id: "bridge_reply", tag: "bridge", says: "Answer a ticket, as the agent X-Agent-ID names, else as the one it was sent to.",
			takes: []parameter{agentHeader, spaceHeader}, body: dialect.Reply{}, answers: []reply{{status: 204, says: "The answer is stored.", by: introduced}}}},
		{"GET", "/replies/{ticket}", s.serveBridge("await_reply", s.bridgeAwait), about{id: "bridge_await", tag: "bridge", says: "The answer to a ticket, when it comes. Ended tickets are known for 30 minutes.",
			takes:   []parameter{ticketPath, waitMSQuery, agentHeader, spaceHeader},
			answers: []reply{{status: 200, says: "The answer, or what the ticket has become without one.", body: dialect.Ticket{}, by: introduced}, {status: 204, says: "No answer came in time.", by: introduced}}}},
		{"GET", "/replies/{ticket}/stream", s.serveBridge("await_reply", s.bridgeStream), about{id: "bridge_stream", tag: "bridge", says: "The answer to a ticket as one server-sent event, `reply` or `timeout`, whose data is a BridgeTicket.",
			takes:   []parameter{ticketPath, waitMSQuery, agentHeader, spaceHeader},
			answers: []reply{{status: 200, says: "The stream. It ends after the event, or with `retry:` when the coordinator stops.", media: "text/event-stream", body: ""}}}},
	}
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
