package rest

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// maxBodyBytes leaves room for a message and a context of the greatest length
// with every character escaped.
const maxBodyBytes = 2 << 20

// maxOpenBodyBytes is enough for a code or an invitation with all a host says of
// itself. The paths that take them are open to everybody.
const maxOpenBodyBytes = 4 << 10

// open serves a path that asks for no token.
func open(handler http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(nil, r.Body, maxOpenBodyBytes)
		handler(w, r)
	})
}

func nothing(*http.Request) (c3po.None, error) { return c3po.None{}, nil }

func agentsQuery(r *http.Request) (c3po.ListAgentsInput, error) {
	limit, err := number[int](r, "limit")
	query := r.URL.Query()
	return c3po.ListAgentsInput{Cursor: query.Get("cursor"), Limit: limit, Status: c3po.Status(query.Get("status"))}, err
}

func pendingQuery(r *http.Request) (c3po.PendingInput, error) {
	limit, err := number[int](r, "limit")
	return c3po.PendingInput{Cursor: r.URL.Query().Get("cursor"), Limit: limit}, err
}

// waitQuery asks for pending mail and a wait until there is some.
func (s *server) waitQuery(r *http.Request) (c3po.PendingInput, error) {
	in, err := pendingQuery(r)
	if err != nil {
		return in, err
	}
	in.Timeout = int(s.limits.WaitDefault / time.Second)
	if r.URL.Query().Has("timeout") {
		if in.Timeout, err = number[int](r, "timeout"); err != nil {
			return in, err
		}
		if in.Timeout < 1 {
			// To the hub it would mean not to wait at all.
			most := int(s.limits.MaxWait / time.Second)
			return in, c3po.Errorf(c3po.InvalidRequest, "timeout must be between 1 and %d seconds", most).
				Suggest("Use /api/pending to look without waiting.")
		}
	}
	if r.URL.Query().Has("after") {
		after, err := number[int64](r, "after")
		if err != nil {
			return in, err
		}
		in.After = &after
	}
	return in, nil
}

// number reads a query parameter; one that is missing or empty is 0.
func number[T int | int64](r *http.Request, name string) (T, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || int64(T(n)) != n {
		return 0, c3po.Errorf(c3po.InvalidRequest, "%s must be a whole number", name).
			Suggest("For example ?%s=10.", name)
	}
	return T(n), nil
}

// readBody reads the arguments of an operation. No body at all means none.
func readBody(r *http.Request) ([]byte, error) {
	// The length is the caller's word; memory is given for what arrives.
	const atOnce = 64 << 10
	var body bytes.Buffer
	body.Grow(int(min(max(r.ContentLength, 0)+bytes.MinRead, atOnce)))
	_, err := body.ReadFrom(http.MaxBytesReader(nil, r.Body, maxBodyBytes))
	data := body.Bytes()
	if err != nil {
		if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, c3po.Errorf(c3po.InvalidRequest, "the request is larger than %d bytes", tooLarge.Limit).
				Suggest("Send less at once: a message and its context may have 50000 characters each.")
		}
		if e, ok := errors.AsType[*c3po.Error](err); ok {
			return nil, e // what stands before us holds bodies to more than their length
		}
		return nil, c3po.Because(err, c3po.InvalidRequest, "the request ended before it was complete").
			Suggest("Send the whole body.")
	}
	if len(data) == 0 {
		return nil, nil
	}
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, c3po.Errorf(c3po.InvalidRequest, "the body must be JSON").
			Suggest("Send the header Content-Type: application/json.")
	}
	return data, nil
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}
