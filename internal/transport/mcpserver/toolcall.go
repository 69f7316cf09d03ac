package mcpserver

import (
	"encoding/json"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	methodCall      = "tools/call"
	methodHello     = "initialize"
	methodCancelled = "notifications/cancelled"

	// The metadata of a call that says where its client is in a trace. It is nearer to the
	// call than the headers of the request.
	metaTraceparent = "traceparent"
	metaTracestate  = "tracestate"

	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"

	// modernVersion is where the protocol lost its handshake: since then every
	// request says in its headers and its metadata what it is.
	modernVersion = "2026-07-28"
)

// A toolCall is a call that the front door can answer.
type toolCall struct {
	tool      tool
	id        json.RawMessage
	arguments []byte
	// progress is the token under which the client wants to hear that the call
	// goes on, or nothing.
	progress json.RawMessage
	// modern says that the answer names its kind and its server.
	modern bool
	// stream says that the client takes events.
	stream bool
	// trace is where the client is in a trace, by its metadata; zero if that does not say.
	trace c3po.TraceContext
}

// plainCall reads a call in which nothing is wrong and nothing unusual. All
// others are left to the SDK, whose refusals are the ones that count.
func plainCall(r *http.Request, m message, tools map[string]tool, versions []string) (toolCall, bool) {
	asJSON, asStream := parseAccept(r.Header.Values("Accept"))
	version := r.Header.Get(versionHeader)
	c := toolCall{id: m.id, modern: version == modernVersion, stream: asStream}
	_, named := requestID(m.id)
	if !named || !asJSON && !asStream || !isJSON(r.Header.Get("Content-Type")) || r.Header.Get("Last-Event-ID") != "" || foreignHost(r) ||
		version > modernVersion || version != "" && !slices.Contains(versions, version) {
		return c, false
	}
	p, plain := parseParams(m.params)
	c.tool, named = tools[p.name]
	if !plain || !named {
		return c, false
	}
	c.arguments, c.progress = c.tool.arguments(p.arguments, p.toolUse), p.progress
	c.trace, _ = c3po.ParseTraceContext(p.traceparent, p.tracestate)
	if c.modern {
		return c, p.describes(r.Header)
	}
	return c, p.version == nil
}

// callParams are the parameters of a call, and what its metadata says to us.
type callParams struct {
	name      string
	arguments json.RawMessage

	progress json.RawMessage
	toolUse  string

	traceparent, tracestate string // where the client is in a trace

	version, client, capabilities json.RawMessage // of 2026-07-28
}

func parseParams(raw json.RawMessage) (p callParams, plain bool) {
	plain = true
	isObject := members(raw, func(name string, value json.RawMessage) {
		ok := true
		switch name {
		case "name":
			p.name, ok = stringOf(value)
		case "arguments":
			p.arguments = value
		case "_meta":
			ok = members(value, p.describe) || string(value) == "null"
		default:
			ok = false
		}
		plain = plain && ok
	})
	return p, isObject && plain
}

func (p *callParams) describe(name string, value json.RawMessage) {
	switch name {
	case "progressToken":
		p.progress = nil
		// What JSON-RPC allows a token to be.
		if value[0] == '"' || value[0] == '-' || value[0] >= '0' && value[0] <= '9' {
			p.progress = value
		}
	case toolUseID:
		p.toolUse, _ = stringOf(value)
	case metaTraceparent:
		p.traceparent, _ = stringOf(value)
	case metaTracestate:
		p.tracestate, _ = stringOf(value)
	case mcp.MetaKeyProtocolVersion:
		p.version = value
	case mcp.MetaKeyClientInfo:
		p.client = value
	case mcp.MetaKeyClientCapabilities:
		p.capabilities = value
	}
}

// describes says whether headers and metadata are there and agree with each
// other, as 2026-07-28 demands.
func (p *callParams) describes(h http.Header) bool {
	version, _ := stringOf(p.version)
	return version == modernVersion &&
		h.Get("Mcp-Method") == methodCall && h.Get("Mcp-Name") == p.name &&
		holds[mcp.ClientCapabilities](p.capabilities) &&
		(p.client == nil || holds[mcp.Implementation](p.client))
}

// holds says whether the text is a value of this type.
func holds[T any](raw json.RawMessage) bool {
	var value *T
	return raw != nil && json.Unmarshal(raw, &value) == nil && value != nil
}

// parseAccept reads what a client takes. To say nothing is to take anything, and
// JSON is what everybody can read.
func parseAccept(accept []string) (asJSON, asStream bool) {
	if len(accept) == 0 {
		return true, false
	}
	for _, list := range accept {
		for kind := range strings.SplitSeq(list, ",") {
			kind, _, _ = strings.Cut(kind, ";")
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "application/json", "application/*":
				asJSON = true
			case "text/event-stream", "text/*":
				asStream = true
			case "*/*":
				asJSON, asStream = true, true
			}
		}
	}
	return asJSON, asStream
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

// foreignHost says whether a request reached a loopback address by a name of
// elsewhere, as a web page does that lets its own name point here.
func foreignHost(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if tcp, is := local.(*net.TCPAddr); is {
		return tcp.IP.IsLoopback() && !isLoopback(r.Host)
	}
	return ok && isLoopback(local.String()) && !isLoopback(r.Host)
}

func isLoopback(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.IsLoopback()
}
