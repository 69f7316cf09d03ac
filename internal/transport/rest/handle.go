package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// CountHeader is how many messages there are in all, beside a page of them.
const CountHeader = "X-C3PO-Count"

// door is what a Caller's Route says of requests that come through here.
const door = "rest"

// A call asks the service for what a request asks for.
type call func(*http.Request, c3po.Service) (any, error)

// handle makes a handler of a method of the service: read takes its input from
// the request, and the answer is the method's result. Who may ask for it is said
// by the operation it mirrors.
func handle[In, Out any](s *server, mirrors string, read func(*http.Request) (In, error), run func(c3po.Service, context.Context, In) (Out, error)) http.Handler {
	return s.act(callOf(mirrors, read, run))
}

func callOf[In, Out any](mirrors string, read func(*http.Request) (In, error), run func(c3po.Service, context.Context, In) (Out, error)) call {
	op := operationCalled(mirrors)
	return func(r *http.Request, svc c3po.Service) (any, error) {
		if err := op.Check(svc.(c3po.RoleHolder).Role()); err != nil {
			return nil, err
		}
		in, err := read(r)
		if err != nil {
			return nil, err
		}
		out, err := c3po.Rejoining(r.Context(), svc, func() (Out, error) { return run(svc, r.Context(), in) })
		return &out, err
	}
}

// operation makes a call of a row of the table: the body holds its arguments.
func operation(op c3po.Operation) call {
	return func(r *http.Request, svc c3po.Service) (any, error) {
		arguments, err := readBody(r)
		if err != nil {
			return nil, err
		}
		return op.Call(r.Context(), svc, arguments)
	}
}

// operationCalled is a row of the table that this package names itself.
func operationCalled(name string) c3po.Operation {
	op, err := dialect.FindOperation(name)
	if err != nil {
		panic("rest: " + err.Error())
	}
	return op
}

// act runs one call as the request's caller, and answers it.
func (s *server) act(run call) http.Handler {
	return s.admit(func(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
		actor := s.hub.As(caller)
		out, err := run(r, actor)
		introduce(w.Header(), actor)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		if s.answer(w, r, out) {
			actor.Delivered()
		}
	})
}

// These headers as net/http keeps them, and the values of those that are always the same.
var (
	asJSON     = []string{"application/json"}
	notGuessed = []string{"nosniff"}
	notKept    = []string{"no-store"}
	actedAsKey = http.CanonicalHeaderKey(c3po.ActedAsHeader)
	epochKey   = http.CanonicalHeaderKey(c3po.EpochHeader)
)

// introduce tells the caller who it was taken for.
func introduce(header http.Header, actor *hub.Actor) {
	if id := actor.ID(); id != "" {
		header[actedAsKey] = []string{string(id)}
	}
	if epoch := actor.Epoch(); epoch != 0 {
		header[epochKey] = []string{strconv.FormatInt(epoch, 10)}
	}
}

// answer writes a result. A listing is written as a bare array, as the API
// reference prints it; where its next page starts is in the Link header. It
// reports whether the answer went out.
func (s *server) answer(w http.ResponseWriter, r *http.Request, out any) bool {
	switch out := out.(type) {
	case *c3po.MessageList:
		w.Header().Set(CountHeader, strconv.Itoa(out.Count))
	case *c3po.PendingResult:
		linkNext(w.Header(), r, out.Next)
	}
	if list, ok := out.(c3po.Listing); ok {
		linkNext(w.Header(), r, *list.Cursor())
		out = list.Rows()
	}
	if formed, ok := out.(interface{ Form() any }); ok {
		out = formed.Form() // what its MarshalJSON writes, which would be copied and read again
	}
	data, err := json.Marshal(out)
	if err != nil {
		s.refuse(w, r, err)
		return false
	}
	// Asked before it is written: a caller that hangs up right after its answer
	// has it all the same.
	gone := r.Context().Err() != nil
	err = write(w, http.StatusOK, data)
	if err == nil {
		// Only now is it known that the connection took it.
		err = http.NewResponseController(w).Flush()
	}
	return err == nil && !gone
}

// linkNext links to the next page: the same request with the cursor in its query.
func linkNext(header http.Header, r *http.Request, cursor string) {
	if cursor == "" {
		return
	}
	query := r.URL.Query()
	query.Set("cursor", cursor)
	header.Set("Link", "<?"+query.Encode()+`>; rel="next"`)
}

// writeJSON writes a value of ours that cannot fail to become JSON.
func writeJSON(w http.ResponseWriter, status int, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	// The caller may be gone, so there is nobody left to answer.
	_ = write(w, status, data)
}

func write(w http.ResponseWriter, status int, data []byte) error {
	data = append(data, '\n')
	h := w.Header()
	h["Content-Type"], h["X-Content-Type-Options"], h["Cache-Control"] = asJSON, notGuessed, notKept
	h["Content-Length"] = []string{strconv.Itoa(len(data))}
	w.WriteHeader(status)
	_, err := w.Write(data)
	return err
}
