package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
)

// A door answers the calls of our tools itself and leaves the rest of the
// protocol to the SDK: handshake, lists, batches, and whatever is not quite as it
// should be. A call costs a fraction of what it costs the SDK, its client hears at
// once that it was heard, and while it waits nothing else does.
type door struct {
	sdk      http.Handler
	sdkJSON  http.Handler    // the same for who takes no events
	versions []string        // of the protocol, that the SDK speaks
	about    json.RawMessage // the server, as answers name it
	held     heldCalls
}

func newDoor(s *Server) *door {
	var about bytes.Buffer
	writeLine(&about, s.implementation())
	return &door{sdk: s.sdkHandler(false), sdkJSON: s.sdkHandler(true), versions: mcp.SupportedProtocolVersions(), about: bytes.TrimSpace(about.Bytes())}
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A proxy that collects an answer before it passes it on defeats keep-alive.
	w.Header()["X-Accel-Buffering"] = unbuffered
	if r.Method != http.MethodPost {
		d.sdk.ServeHTTP(w, r)
		return
	}
	body, err := readBody(w, r)
	m, plain := parseMessage(body)
	if err == nil && plain {
		switch m.method {
		case methodCall:
			if call, ok := plainCall(r, m, visitOf(r.Context()).offer.tools, d.versions); ok {
				d.answer(w, r, call)
				return
			}
		case methodHello:
			// Not kept by anybody: it only tells the calls of clients apart that say
			// later which one they cancel.
			if r.Header.Get(versionHeader) < modernVersion {
				w.Header().Set(sessionHeader, rand.Text())
			}
		case methodCancelled:
			d.cancel(r, m.params)
		}
	}
	// The SDK also says what is wrong with a body that could not be read whole.
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
	if asJSON, asStream := parseAccept(r.Header.Values("Accept")); asJSON && !asStream {
		// The SDK refuses who does not also take events, and would say that of every mistake.
		r.Header.Set("Accept", "application/json, text/event-stream")
		d.sdkJSON.ServeHTTP(w, r)
		return
	}
	d.sdk.ServeHTTP(w, r)
}

// unbuffered is the value of a header of every answer.
var unbuffered = []string{"no"}

// answer runs a call and writes its answer. The call ends when its client hangs
// up or takes it back.
func (d *door) answer(w http.ResponseWriter, r *http.Request, call toolCall) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	if name, ok := holdName(r, string(call.id)); ok && !call.modern {
		defer d.held.hold(name, cancel)()
	}
	if call.trace != (c3po.TraceContext{}) {
		ctx = c3po.WithTrace(ctx, call.trace)
	}
	v := visitOf(ctx)
	acting, _ := v.service.(c3po.Acting)
	out := newReply(w, call, acting)
	a := call.tool.answer(ctx, v.service, v.refusal, call.arguments)
	if errors.Is(context.Cause(ctx), errWithdrawn) {
		out.abandon()
		return
	}
	gone := ctx.Err() != nil
	if out.finish(a, d.about) && !gone && acting != nil {
		acting.Delivered()
	}
}

// cancel ends the call that a notice names, if it is under way here and was made
// by the same caller.
func (d *door) cancel(r *http.Request, params json.RawMessage) {
	members(params, func(name string, value json.RawMessage) {
		if name != "requestId" {
			return
		}
		if id, ok := requestID(value); ok {
			if call, ok := holdName(r, id); ok {
				d.held.cancel(call)
			}
		}
	})
}

// readBody reads the body, as far as it can be read.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	var read bytes.Buffer
	// The length is the client's word; memory is given for what arrives.
	const atOnce = 64 << 10
	read.Grow(int(min(max(r.ContentLength, 0)+bytes.MinRead, atOnce)))
	_, err := read.ReadFrom(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	return read.Bytes(), err
}

// failing is a reader that ends as another one ended.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}
