package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

const (
	// callTimeout is how long an answer to a call that does not wait may take.
	callTimeout = 15 * time.Second
	// answerBytes bounds what is read: a page of bodies, escaped at its worst.
	answerBytes = 64 << 20

	firstPause = 50 * time.Millisecond
	maxPause   = time.Second
)

// call runs one operation, and repeats it while that can help. Every operation
// may be repeated: those that store a message carry a key.
func call[Out any](ctx context.Context, c *Client, name string, in any) (Out, error) {
	var out Out
	op, err := dialect.FindOperation(name)
	if err != nil {
		return out, err
	}
	r, err := operation(name, in)
	if err != nil {
		return out, err
	}
	err = c.retry(ctx, r, op.ReadOnly, &out)
	return out, err
}

// retry makes a request, and makes it again while that can help. What is
// asked for must be the same however often it is done.
func (c *Client) retry(ctx context.Context, r request, readOnly bool, out any) error {
	inDoubt, err := attempt.Repeat(ctx, attempt.Pace{First: firstPause, Max: maxPause, Patience: c.patience}, func(inDoubt bool) (attempt.Verdict, error) {
		err := c.attempt(ctx, r, out)
		return verdict(err, inDoubt), err
	})
	if err == nil {
		return nil
	}
	return final(inDoubtAs(err, inDoubt && !readOnly), readOnly)
}

// verdict is what an attempt's error says about it. What was never sent is not
// sent again: nobody listens there. What may have been is, until somebody answers.
func verdict(err error, inDoubt bool) attempt.Verdict {
	var lost *lostError
	switch {
	case errors.As(err, &lost) && lost.sent, errors.Is(err, c3po.UnknownOutcome):
		return attempt.Doubt
	case lost != nil && inDoubt, lost == nil && err != nil && passing(err):
		return attempt.Undone
	default:
		return attempt.Final
	}
}

func operation(name string, in any) (request, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return request{}, c3po.Errorf(c3po.InvalidRequest, "the arguments of %s are not JSON: %w", name, err).
			Suggest("Check parameter values and formats.")
	}
	return request{method: http.MethodPost, path: "/api/op/" + name, body: body, limit: callTimeout}, nil
}

// A request is everything one attempt needs.
type request struct {
	method string
	path   string
	body   []byte
	limit  time.Duration // how long the answer may take
	proof  string        // that a person has confirmed it with, if they had to
}

// lostError is an attempt that brought no answer.
type lostError struct {
	sent  bool // the coordinator may have received the request
	cause error
}

func (e *lostError) Error() string { return e.cause.Error() }
func (e *lostError) Unwrap() error { return e.cause }

// attempt makes one attempt, and another one with a proof if a person has to give one.
// Its error is a *lostError, or what the coordinator answered.
func (c *Client) attempt(ctx context.Context, r request, out any) error {
	err := c.attemptOnce(ctx, r, out)
	asked, ok := errors.AsType[*c3po.Error](err)
	if !ok || asked.Code != c3po.ProofRequired || asked.Proof == "" {
		return err
	}
	if err := c.awaitProof(ctx, asked); err != nil {
		return err
	}
	r.proof = asked.Proof
	return c.attemptOnce(ctx, r, out)
}

func (c *Client) attemptOnce(ctx context.Context, r request, out any) error {
	limited, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	// From the moment there is a connection the request may have arrived.
	var connected atomic.Bool
	limited = httptrace.WithClientTrace(limited, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	q, err := http.NewRequestWithContext(limited, r.method, c.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return c3po.Errorf(c3po.InvalidRequest, "%q is not the address of a coordinator", c.base).
			Suggest("Write it as http://host:port.")
	}
	c.introduce(q.Header)
	if from, ok := c3po.TraceOf(ctx); ok {
		q.Header.Set("Traceparent", from.Parent())
		if from.State != "" {
			q.Header.Set("Tracestate", from.State)
		}
	}
	if r.proof != "" {
		q.Header.Set(c3po.ProofHeader, r.proof)
	}
	if r.body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.http.Do(q)
	if err != nil {
		if ctx.Err() == nil {
			c.setLost()
		}
		if _, stranger := errors.AsType[*tls.CertificateVerificationError](err); stranger {
			return c3po.Because(err, c3po.Forbidden, "what answers at "+c.base+" is not a coordinator that is trusted here; nothing was sent to it").
				Suggest("If the coordinator is new, join it with a new invitation of `c3po invite`. If it is not, something in between poses as it.")
		}
		// What http reports of a cancelled call is why, not that it was cancelled.
		return &lostError{sent: connected.Load(), cause: cmp.Or(ctx.Err(), err)}
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, answerBytes))
	if err != nil {
		return &lostError{sent: true, cause: cmp.Or(ctx.Err(), err)}
	}
	if answer.StatusCode/100 != 2 {
		return c.refusal(answer, body)
	}
	c.learn(answer.Header)
	if answer.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := decode(answer.Header, body, out); err != nil {
		return foreign(answer.StatusCode, err)
	}
	return nil
}

// refusal is the error the coordinator answered, unchanged.
func (c *Client) refusal(answer *http.Response, body []byte) error {
	refused := &c3po.Error{}
	understood := json.Unmarshal(body, refused) == nil
	switch {
	case understood && refused.Code != "":
		c.learn(answer.Header)
		return refused
	case understood && refused.Message != "":
		// What the API reference prints for health: a sentence and nothing else.
		return c3po.Errorf(c3po.Internal, "%s", refused.Message).Suggest("The coordinator's log says more.")
	}
	// Something between us and the coordinator speaks, which cannot know what
	// the coordinator did.
	switch answer.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &lostError{sent: true, cause: fmt.Errorf("%s answered %s", answer.Request.URL, answer.Status)}
	}
	if answer.StatusCode == http.StatusBadRequest && strings.Contains(string(body), "HTTP request to an HTTPS server") { // as Go's servers say it
		return c3po.Errorf(c3po.InvalidRequest, "%s speaks https, not http", answer.Request.URL.Host).
			Suggest("Write the address with https:// in --url or C3PO_COORDINATOR_URL.")
	}
	return foreign(answer.StatusCode, errors.New("no c3po error in the answer"))
}

func foreign(status int, cause error) *c3po.Error {
	return c3po.Because(cause, c3po.Internal, fmt.Sprintf("what answered (status %d) is not a c3po coordinator", status)).
		Suggest("Check the address in --url or C3PO_COORDINATOR_URL.")
}

// decode reads an answer. Listings travel as bare arrays, with what does not
// fit into one in the header.
func decode(header http.Header, body []byte, out any) error {
	listing, ok := out.(c3po.Listing)
	if !ok {
		return json.Unmarshal(body, out)
	}
	*listing.Cursor() = nextCursor(header)
	if messages, ok := out.(*c3po.MessageList); ok {
		messages.Count, _ = strconv.Atoi(header.Get("X-C3PO-Count"))
	}
	return json.Unmarshal(body, listing.Rows())
}

func nextCursor(header http.Header) string {
	for _, link := range header.Values("Link") {
		target, parameters, _ := strings.Cut(link, ";")
		if !strings.Contains(parameters, `rel="next"`) {
			continue
		}
		if at, err := url.Parse(strings.Trim(strings.TrimSpace(target), "<>")); err == nil {
			return at.Query().Get("cursor")
		}
	}
	return ""
}

// passing says that the same request may well succeed soon.
func passing(err error) bool {
	e := c3po.AsError(err)
	status := e.Code.Status()
	return e.Code.Retry() == c3po.RetrySameKey && (status == http.StatusBadGateway || status == http.StatusServiceUnavailable)
}

// inDoubtAs keeps an earlier doubt alive: that the last attempt could not connect, or
// was refused by somebody who did not look its key up, does not settle the first.
func inDoubtAs(err error, inDoubt bool) error {
	e := c3po.AsError(err)
	if !inDoubt || e.NotStored || e.Code == c3po.UnknownOutcome {
		return err
	}
	return &lostError{sent: true, cause: err}
}

// final is what the caller is told in the end.
func final(err error, readOnly bool) error {
	var lost *lostError
	switch {
	case !errors.As(err, &lost):
		return err
	case errors.Is(err, context.Canceled) && (readOnly || !lost.sent):
		return context.Canceled
	case lost.sent && !readOnly:
		return c3po.Because(lost.cause, c3po.UnknownOutcome, "the connection to the coordinator was lost before it answered; it may have done what was asked").
			Suggest("Make the same call again with the same key: nothing will be done twice.")
	default:
		return coordDown(lost.cause)
	}
}

func coordDown(cause error) *c3po.Error {
	return c3po.Because(cause, c3po.CoordDown, "c3po coordinator is not reachable.").
		Suggest(c3po.WorkLocally)
}
