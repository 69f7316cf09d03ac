package rest

import (
	"cmp"
	"net/http"
	"reflect"

	"github.com/c3po-dev/c3po/c3po"
)

// What openapi.yaml says of a route beyond its method and path. A test writes
// the document from the routes, the table of operations and their Go types.

// about describes a route.
type about struct {
	id      string // what programs that are made from the document call it
	tag     string
	says    string
	more    string
	takes   []parameter
	body    any  // a value of the body's type; nil if it takes none
	closed  bool // the body may hold nothing that is not known
	answers []reply
	beside  []any // values of types that only the prose speaks of
	open    bool  // is refused to nobody
}

// A parameter is a part of a request outside its body.
type parameter struct {
	in, name, says string
	kind           any // a value of its type; a text if nil
	least, most    int // of a number, or of the length of a text; none if most is 0
	otherwise      int // of a number that is left out; unknown if 0
	form           string
	ref            string // its name in the document, if several routes have it
}

// A reply is one of the answers of a route.
type reply struct {
	status int
	says   string
	body   any    // a value of the type; nil if there is none
	media  string // application/json if empty
	by     naming // which headers say whom it was for
}

// naming says which headers an answer has.
type naming int

const (
	anonymous naming = iota
	introduced
	paged
	counted
)

// Parameters that several routes have.
var (
	agentHeader    = parameter{in: "header", name: "X-Agent-ID", says: "Who calls", kind: c3po.AgentID(""), ref: "Agent"}
	sessionHeader  = parameter{in: "header", name: "X-Session-ID", says: "The client's own session id", most: 200, ref: "Session"}
	spaceHeader    = parameter{in: "header", name: "X-C3PO-Space", says: "The space to act in", kind: c3po.Space(""), ref: "Space"}
	runHeader      = parameter{in: "header", name: "X-C3PO-Run", says: "What holds the id: host:pid:start or a word of a runner; the session if left out", most: 200, ref: "Run"}
	epochHeader    = parameter{in: "header", name: "X-C3PO-Epoch", says: "The epoch of an earlier answer", kind: 0, ref: "Epoch"}
	clientHeader   = parameter{in: "header", name: "X-C3PO-Client", says: "Name and version of the client", most: 200, ref: "Client"}
	protocolHeader = parameter{in: "header", name: "X-C3PO-Protocol", says: "The oldest and the newest protocol that c3po's own client speaks. Leave it out", form: "^[1-9][0-9]*-[1-9][0-9]*$", ref: "Protocol"}
	statusQuery    = parameter{in: "query", name: "status", says: "Only agents that are online or offline", kind: c3po.Status("")}
	cursorQuery    = parameter{in: "query", name: "cursor", says: "Where to go on, from an earlier answer", ref: "Cursor"}
	limitQuery     = parameter{in: "query", name: "limit", says: "How many at the most", kind: 0, ref: "Limit"}
	waitMSQuery    = parameter{in: "query", name: "waitMs", says: "Milliseconds to wait; 25000 if left out, for a stream until the timeoutMs of the ticket has passed, else an hour", kind: 0, most: 3600000, ref: "WaitMS"}
	keyPath        = parameter{in: "path", name: "kid", says: "The key id of a token", ref: "KeyID"}
	passkeyPath    = parameter{in: "path", name: "id", says: "The id of a passkey", ref: "Passkey"}
	proofPath      = parameter{in: "path", name: "id", says: "The proof that a refusal names", ref: "Proof"}
	handlePath     = parameter{in: "path", name: "id", says: "An agent; a slash in its id is written %2F", ref: "Handle"}
	ticketPath     = parameter{in: "path", name: "ticket", says: "The ticketId of the sender, or the id of the message with %2F for each slash", ref: "Ticket"}
	// callerHeaders are those of every operation.
	callerHeaders = []parameter{agentHeader, sessionHeader, spaceHeader, runHeader, epochHeader, clientHeader, protocolHeader}
)

const aboutEvents = `Server-sent events. Each has an id, "epoch:seq"; who comes back with the id of its last event misses nothing. The stream begins with a
word about itself: "event: resume" if it goes on from there (or begins now), "event: reset" if it cannot, because the log no longer
holds what came after, or because the store went back and the epoch rose. After a reset, look at the state itself and read on. The data
of both is a StreamStart. All other messages have no event name, and their data is an Event, or with format=cloudevents a CloudEvent. A comment comes every 15 seconds. When the
coordinator stops, the stream ends with "retry:".`

// aboutOperation describes a row of the table.
func aboutOperation(op c3po.Operation) about {
	return about{id: op.Name, tag: cmp.Or(string(op.Toolset), "client"), says: op.Doc, takes: callerHeaders,
		body: reflect.Zero(op.In).Interface(), closed: op.Toolset != c3po.Bridge,
		answers: []reply{{status: http.StatusOK, says: "The result.", body: reflect.Zero(op.Out).Interface(), by: introduced}}}
}
