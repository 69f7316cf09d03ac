package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	maxBodyBytes = 2 << 20
	// So many queries, and so long ones, are remembered with what they choose.
	maxChosen, maxChosenBytes = 64, 256
)

// Handler serves MCP over Streamable HTTP. The query parameter tools chooses
// toolsets (?tools=core,more), and answers=json has them answer JSON alone. Checking which web page a request comes from is
// left to what stands before it.
func (s *Server) Handler() http.Handler { return s.receive(newDoor(s)) }

// sdkHandler is the protocol as the SDK speaks it, with answers in events or in JSON.
func (s *Server) sdkHandler(asJSON bool) http.Handler {
	return mcp.NewStreamableHTTPHandler(
		func(r *http.Request) *mcp.Server { return visitOf(r.Context()).offer.server },
		&mcp.StreamableHTTPOptions{
			Stateless:                    true,
			JSONResponse:                 asJSON,
			PropagateRequestCancellation: true,
			MaxRequestBodyBytes:          maxBodyBytes,
			Logger:                       s.log,
			// What stands before it knows by which names we are called; the SDK would
			// refuse all but localhost behind a proxy on the same machine.
			DisableLocalhostProtection: true,
		})
}

// receive finds out what a request asks of whom, and refuses who may not come in.
func (s *Server) receive(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		offer, err := s.offerTo(r.URL)
		if err != nil {
			refuse(w, err)
			return
		}
		v := visit{request: r, offer: offer}
		v.service, v.refusal = s.config.Service(r)
		// A caller that is not admitted gets an HTTP status. Any other refusal comes from
		// the tools, where a model can read it.
		if e := c3po.AsError(v.refusal); e != nil && (e.Code == c3po.Unauthorized || e.Code == c3po.Forbidden) {
			refuse(w, e)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), visitKey{}, v)))
	})
}

// A visit is one HTTP request on its way through the SDK, which hands its
// context to the tools but not the request itself.
type visit struct {
	request *http.Request
	offer   *offer
	service c3po.Service
	refusal error
}

type visitKey struct{}

// visitOf gives the zero visit where there was no HTTP request.
func visitOf(ctx context.Context) visit {
	v, _ := ctx.Value(visitKey{}).(visit)
	return v
}

func serviceOfRequest(ctx context.Context) (c3po.Service, error) {
	v := visitOf(ctx)
	return v.service, v.refusal
}

// whileConnected ends a call with the HTTP request it came in. The SDK does so
// for clients of 2026-07-28 only; an older client that hung up cannot be
// answered either.
func whileConnected(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	r := visitOf(ctx).request
	if r == nil {
		return ctx, cancel
	}
	stop := context.AfterFunc(r.Context(), cancel)
	return ctx, func() { stop(); cancel() }
}

// offerTo is what the query of a URL chooses.
func (s *Server) offerTo(u *url.URL) (*offer, error) {
	s.mu.Lock()
	known := s.chosen[u.RawQuery]
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	sets, asJSON, err := choiceOf(u)
	if err != nil {
		return nil, err
	}
	found := s.sharedOffer(sets, asJSON)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.chosen) < maxChosen && len(u.RawQuery) <= maxChosenBytes {
		s.chosen[u.RawQuery] = found
	}
	return found, nil
}

// choiceOf gives the toolsets that a URL chooses, and whether their answers are JSON alone.
func choiceOf(u *url.URL) (sets []c3po.Toolset, asJSON bool, err error) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, false, c3po.Because(err, c3po.InvalidRequest, "the query of the URL cannot be read").
			Suggest("Choose toolsets as in ?tools=core,more.")
	}
	switch answers := query.Get("answers"); answers {
	case "", "json":
		sets, err = ParseToolsets(strings.Join(query["tools"], ","))
		return sets, answers == "json", err
	default:
		return nil, false, c3po.Errorf(c3po.InvalidRequest, "answers is %q; it must be json or left out", c3po.Clip(answers)).
			Suggest("Use ?answers=json in a program, and leave it out for a model.")
	}
}

func refuse(w http.ResponseWriter, err error) {
	e := c3po.AsError(err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.Code.Status())
	json.NewEncoder(w).Encode(e)
}
