// Package a2a serves agents and queues as the Agent2Agent protocol knows them, in its
// versions 1.0 and 0.3: a card for each, JSON-RPC, and server-sent events.
// A task is a ticket of the hub. It decides nothing; what a caller may do is said by the
// operation of the table that a method stands for.
package a2a

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/hub"
)

const (
	// Prefix is the path below which each agent has its own.
	Prefix = "/a2a/"
	// WellKnown is where the protocol looks for the card of a host, and after an agent's
	// path for the card of the agent.
	WellKnown = "/.well-known/agent-card.json"
	// door is what a Caller's Route says of requests that come through here.
	door = "a2a"
	// maxBodyBytes leaves room for the longest message with every character escaped.
	maxBodyBytes = 2 << 20
	// sharedName is who asks if the token is good for several names and none was given.
	sharedName = "a2a"
)

// Config configures the handler. The zero value of every field but Hub and Auth works.
type Config struct {
	Hub     *hub.Hub
	Auth    *auth.Keeper // says who makes a request
	Version string       // of the program, which the cards show
	Secure  bool         // callers reach it with https, also where a proxy encrypts
	Log     *slog.Logger // silent if nil
}

type server struct {
	hub     *hub.Hub
	auth    *auth.Keeper
	version string
	secure  bool
	log     *slog.Logger
}

// New makes the handler of everything below Prefix, and of WellKnown.
func New(cfg Config) http.Handler {
	s := &server{hub: cfg.Hub, auth: cfg.Auth, version: cfg.Version, secure: cfg.Secure, log: cfg.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s
}

// A place is what a path names: an agent or queue, and what is asked of it.
type place struct {
	target string // as a message is addressed; empty for the host itself
	rest   string // of the path, with its slash: empty for JSON-RPC
}

// placeOf reads a path as it was sent. The id of an agent on a host has a slash, which is
// understood escaped and, where nothing else is meant, as it is.
func placeOf(path string) (place, bool) {
	if path == WellKnown {
		return place{rest: WellKnown}, true
	}
	path, ok := strings.CutPrefix(path, strings.TrimSuffix(Prefix, "/"))
	if !ok {
		return place{}, false
	}
	if path == "" || path == "/" {
		return place{}, true
	}
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	words := 1
	whole := strings.Contains(strings.ToUpper(parts[0]), "%2F") || strings.Contains(parts[0], ":") // of a host, or a queue
	if len(parts) > 1 && parts[1] != "" && !whole && !slices.Contains(binding, parts[1]) {
		words = 2
	}
	target, err := url.PathUnescape(strings.Join(parts[:words], "/"))
	if err != nil || target == "" {
		return place{}, false
	}
	rest := ""
	if len(parts) > words {
		rest = "/" + strings.Join(parts[words:], "/")
	}
	return place{target: target, rest: strings.TrimSuffix(rest, "/")}, true
}

// binding are the first words of paths below an agent's own.
var binding = []string{".well-known", "message:send", "message:stream", "tasks", "extendedAgentCard"}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at, ok := placeOf(r.URL.EscapedPath())
	if !ok {
		write(w, http.StatusNotFound, c3po.Errorf(c3po.InvalidRequest, "there is nothing at this path").
			Suggest("An agent is at %sNAME, its card at %sNAME%s.", Prefix, Prefix, WellKnown))
		return
	}
	switch {
	case at.rest == WellKnown:
		s.serveCard(w, r, at)
	case at.rest == "":
		s.serveRPC(w, r, at)
	default:
		write(w, http.StatusNotFound, c3po.Errorf(c3po.InvalidRequest, "there is nothing at this path").
			Suggest("Post JSON-RPC to %s.", Prefix+url.PathEscape(at.target)))
	}
}

// admit lets a caller in, under the name of its token unless it gives another one.
func (s *server) admit(r *http.Request) (caller c3po.Caller, admitted *http.Request, release func(), err error) {
	caller, ctx, release, err := s.auth.Caller(r, door)
	if err != nil {
		return caller, r, func() {}, err
	}
	if caller.ID == "" && caller.Role != c3po.RoleObserver {
		shared := false
		if caller.ID, shared = nameOf(caller.Agents); shared {
			// Each token has its own budget, also where they share a name.
			caller.Payer = sharedName + "#" + caller.KID
		}
	}
	return caller, r.WithContext(ctx), release, nil
}

// nameOf is the one name that a token is for. Of one that is for several it is a name
// that it covers, which all callers with such a token share.
func nameOf(pattern c3po.Pattern) (name c3po.AgentID, shared bool) {
	if !strings.Contains(string(pattern), "*") && pattern != "" {
		return c3po.AgentID(pattern), false
	}
	filled := strings.ReplaceAll(strings.Replace(string(pattern), "*", sharedName, 1), "*", "")
	if id, err := c3po.ParseAgentID(filled); err == nil && c3po.Pattern(pattern).Covers(id) {
		return id, true
	}
	return sharedName, true
}

// readBody reads a request's body, which is never longer than a message can be.
func readBody(r *http.Request) ([]byte, error) {
	var body bytes.Buffer
	_, err := body.ReadFrom(http.MaxBytesReader(nil, r.Body, maxBodyBytes))
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, c3po.Errorf(c3po.InvalidRequest, "the request is larger than %d bytes", tooLarge.Limit).
			Suggest("Send less at once: a message may have 50000 characters.")
	}
	if refusal, ok := errors.AsType[*c3po.Error](err); ok {
		return nil, refusal // what stands before us holds bodies to more than their length
	}
	if err != nil {
		return nil, c3po.Because(err, c3po.InvalidRequest, "the request ended before it was complete").Suggest("Send the whole body.")
	}
	return body.Bytes(), nil
}
