package a2a

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// The codes of JSON-RPC, and those that A2A adds.
const (
	codeParse       = -32700
	codeRequest     = -32600
	codeMethod      = -32601
	codeParams      = -32602
	codeInternal    = -32603
	codeRefused     = -32000 // a rule of c3po; the reason says which
	codeNoTask      = -32001
	codeNotCancel   = -32002
	codeNoPush      = -32003
	codeUnsupported = -32004
	codeContentType = -32005
	codeNoExtended  = -32007
	codeVersion     = -32009
)

// reasons are the names of A2A's own errors.
var reasons = map[int]string{
	codeNoTask: "TASK_NOT_FOUND", codeNotCancel: "TASK_NOT_CANCELABLE", codeNoPush: "PUSH_NOTIFICATION_NOT_SUPPORTED",
	codeUnsupported: "UNSUPPORTED_OPERATION", codeContentType: "CONTENT_TYPE_NOT_SUPPORTED",
	codeNoExtended: "EXTENDED_AGENT_CARD_NOT_CONFIGURED", codeVersion: "VERSION_NOT_SUPPORTED",
}

// A fault is a refusal as this protocol says it.
type fault struct {
	code       int
	message    string
	suggestion string
	refusal    *c3po.Error // what it was, if a rule of c3po
}

func (f *fault) Error() string { return f.message }

func badParams(message, suggestion string) *fault {
	return &fault{code: codeParams, message: message, suggestion: suggestion}
}

// faultOf is any error as a fault.
func faultOf(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	refusal := c3po.AsError(err)
	message, suggestion := inWords(refusal)
	f := &fault{code: codeRefused, message: message, suggestion: suggestion, refusal: refusal}
	switch refusal.Code {
	case c3po.InvalidRequest, c3po.KeyConflict, c3po.AgentNotFound:
		f.code = codeParams
	case c3po.TicketNotFound:
		f.code = codeNoTask
	case c3po.Internal, c3po.RedisUnavailable, c3po.StoreFull, c3po.UnknownOutcome, c3po.CoordDown:
		f.code = codeInternal
	}
	return f
}

// status is the HTTP status that goes with a fault of JSON-RPC: its own errors are
// answers, and only who may not come in hears of it from HTTP.
func (f *fault) status() int {
	if f.refusal != nil && (f.refusal.Code == c3po.Unauthorized || f.refusal.Code == c3po.Forbidden) {
		return f.refusal.Code.Status()
	}
	return http.StatusOK
}

// details are what a program can act on, in the form of the version.
func (f *fault) details(v version) any {
	reason, domain := reasons[f.code], "a2a-protocol.org"
	more := map[string]string{}
	if f.suggestion != "" {
		more["suggestion"] = f.suggestion
	}
	if f.refusal != nil {
		if reason == "" {
			reason, domain = string(f.refusal.Code), "c3po"
		}
		more["retry"] = string(f.refusal.Code.Retry())
	}
	if v == v03 {
		more["error"] = f.message
		if reason != "" {
			more["reason"] = reason
		}
		return more
	}
	if reason == "" {
		reason, domain = "INVALID_REQUEST", "c3po"
	}
	return []any{struct {
		Type     string            `json:"@type"`
		Reason   string            `json:"reason"`
		Domain   string            `json:"domain"`
		Metadata map[string]string `json:"metadata,omitempty"`
	}{"type.googleapis.com/google.rpc.ErrorInfo", reason, domain, more}}
}

// A request is one call of JSON-RPC.
type request struct {
	id     json.RawMessage
	method string
	params json.RawMessage
}

var null = json.RawMessage("null")

// parseRequest reads a call. Of one that is none it gives the id, if it has one.
func parseRequest(body []byte) (request, *fault) {
	req := request{id: null}
	if !json.Valid(body) {
		return req, &fault{code: codeParse, message: "the body is not JSON", suggestion: "Send one JSON-RPC request."}
	}
	var form struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
	}
	err := json.Unmarshal(body, &form)
	if isID(form.ID) {
		req.id = form.ID
	}
	req.method, req.params = form.Method, form.Params
	if err != nil || form.Version != "2.0" || form.Method == "" || !isID(form.ID) {
		return req, &fault{code: codeRequest, message: "this is not a request of JSON-RPC 2.0",
			suggestion: `Send one object with "jsonrpc": "2.0", an id, a method and params; batches are not known.`}
	}
	return req, nil
}

// isID says that a value can name a call: a text or a number.
func isID(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && (raw[0] == '"' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// A reply is the answer to a call of JSON-RPC.
type reply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// serveRPC answers one call of JSON-RPC.
func (s *server) serveRPC(w http.ResponseWriter, r *http.Request, at place) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		write(w, http.StatusMethodNotAllowed, c3po.Errorf(c3po.InvalidRequest, "this path is not for %s", r.Method).
			Suggest("Post JSON-RPC; the card is at %s.", r.URL.EscapedPath()+WellKnown))
		return
	}
	caller, r, release, err := s.admit(r)
	defer release()
	v, wrong := versionOf(r)
	e := exchange{server: s, w: w, r: r, v: v, id: null}
	if err != nil {
		e.refuse(err)
		return
	}
	body, err := readBody(r)
	if err != nil {
		e.refuse(err)
		return
	}
	req, malformed := parseRequest(body)
	e.id, e.actor, e.caller = req.id, s.hub.As(caller), caller
	switch {
	case malformed != nil:
		e.refuse(malformed)
	case wrong != nil:
		e.refuse(wrong)
	default:
		e.call(methodNames[v][req.method], at.target, req)
	}
}

// A method is what a caller may ask for, in either version.
type method string

const (
	sendMessage   method = "send"
	streamMessage method = "stream"
	getTask       method = "get"
	listTasks     method = "list"
	cancelTask    method = "cancel"
	subscribe     method = "subscribe"
	pushConfig    method = "push config"
	extendedCard  method = "extended card"
)

var methodNames = map[version]map[string]method{
	v10: {
		"SendMessage": sendMessage, "SendStreamingMessage": streamMessage, "GetTask": getTask, "ListTasks": listTasks,
		"CancelTask": cancelTask, "SubscribeToTask": subscribe, "GetExtendedAgentCard": extendedCard,
		"CreateTaskPushNotificationConfig": pushConfig, "GetTaskPushNotificationConfig": pushConfig,
		"ListTaskPushNotificationConfigs": pushConfig, "DeleteTaskPushNotificationConfig": pushConfig,
	},
	v03: {
		"message/send": sendMessage, "message/stream": streamMessage, "tasks/get": getTask, "tasks/cancel": cancelTask,
		"tasks/resubscribe": subscribe, "agent/getAuthenticatedExtendedCard": extendedCard,
		"tasks/pushNotificationConfig/set": pushConfig, "tasks/pushNotificationConfig/get": pushConfig,
		"tasks/pushNotificationConfig/list": pushConfig, "tasks/pushNotificationConfig/delete": pushConfig,
	},
}

// write writes a value of ours that cannot fail to become JSON.
func write(w http.ResponseWriter, status int, value any) bool {
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	if refusal, ok := value.(*c3po.Error); ok {
		auth.Challenge(w.Header(), refusal)
	}
	h := w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(data.Len()))
	w.WriteHeader(status)
	if _, err := w.Write(data.Bytes()); err != nil {
		return false
	}
	// Only now is it known that the connection took it.
	return http.NewResponseController(w).Flush() == nil
}
