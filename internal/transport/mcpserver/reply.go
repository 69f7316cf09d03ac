package mcpserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
)

// firstByteAfter is how long a call may take before its client hears that it was
// heard. Answers that come sooner are written in one piece.
const firstByteAfter = 50 * time.Millisecond

// A reply is the HTTP answer to one call. It starts on its own when the call takes long,
// and gives signs of life until finish. No goroutine waits in between.
type reply struct {
	w      http.ResponseWriter
	call   toolCall
	acting c3po.Acting // nil if the service does not say
	began  time.Time

	mu       sync.Mutex
	beat     *time.Timer
	begun    bool // the headers are written
	finished bool
}

func newReply(w http.ResponseWriter, call toolCall, acting c3po.Acting) *reply {
	p := &reply{w: w, call: call, acting: acting, began: time.Now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beat = time.AfterFunc(firstByteAfter, p.signOfLife)
	return p
}

// signOfLife keeps what lies between us and the client from cutting a silent
// call: a comment for HTTP, and progress for the client itself. A client cannot
// be told of progress in JSON, but white space before it means nothing.
func (p *reply) signOfLife() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finished {
		return
	}
	first := !p.begun
	p.begin(http.StatusOK)
	var out bytes.Buffer
	switch {
	case !p.call.stream:
		out.WriteString("\n")
	case first || p.call.progress == nil:
		out.WriteString(": keep-alive\n\n")
	default:
		out.WriteString(": keep-alive\n\n")
		writeEvent(&out, progressNotice{"2.0", "notifications/progress", progressParams{
			Token: p.call.progress, Progress: time.Since(p.began).Seconds(), Message: stillWaiting,
		}})
	}
	// Should the client be gone, the call learns it from its context.
	_, _ = p.w.Write(out.Bytes())
	_ = http.NewResponseController(p.w).Flush()
	passed := time.Since(p.began)
	p.beat.Reset(progressEvery - passed%progressEvery)
}

// begin writes the headers, once.
func (p *reply) begin(status int) {
	if p.begun {
		return
	}
	p.begun = true
	h := p.w.Header()
	h["Cache-Control"], h["X-Content-Type-Options"] = notKept, notGuessed
	if p.acting != nil && p.acting.ID() != "" {
		h.Set(actedAsKey, string(p.acting.ID()))
		h.Set(epochKey, strconv.FormatInt(p.acting.Epoch(), 10))
	}
	if status != http.StatusNoContent {
		h["Content-Type"] = asJSON
		if p.call.stream {
			h["Content-Type"] = asEvents
		}
	}
	p.w.WriteHeader(status)
}

// Headers as net/http keeps them, and their values where those are always the same.
var (
	actedAsKey = http.CanonicalHeaderKey(c3po.ActedAsHeader)
	epochKey   = http.CanonicalHeaderKey(c3po.EpochHeader)
	notKept    = []string{"no-store, no-transform"}
	notGuessed = []string{"nosniff"}
	asJSON     = []string{"application/json"}
	asEvents   = []string{"text/event-stream"}
)

// finish writes the answer. Nothing follows it. It reports whether the answer
// went out.
func (p *reply) finish(a answer, server json.RawMessage) bool {
	p.end()
	response := callResponse{JSONRPC: "2.0", ID: p.call.id, Result: callResult{Content: make([]textBlock, len(a.blocks)),
		Structured: a.structured, IsError: a.isError}}
	size := 512 + len(a.structured)
	for i, block := range a.blocks {
		response.Result.Content[i] = textBlock{"text", block}
		size += len(block) + len(block)/4 // quotes and line breaks get a backslash
	}
	if p.call.modern {
		response.Result.Type = "complete"
		response.Result.Meta = map[string]json.RawMessage{mcp.MetaKeyServerInfo: server}
	}
	var out bytes.Buffer
	out.Grow(size)
	if p.call.stream {
		writeEvent(&out, response)
	} else {
		writeLine(&out, response)
	}
	p.begin(http.StatusOK)
	_, err := p.w.Write(out.Bytes())
	if err == nil && p.call.tool.Bodies {
		// Only now is it known that the connection took the mail.
		err = http.NewResponseController(p.w).Flush()
	}
	return err == nil
}

// abandon ends the reply without an answer, as a client wants that has cancelled
// the call.
func (p *reply) abandon() {
	p.end()
	if p.call.stream {
		p.begin(http.StatusOK)
	} else {
		p.begin(http.StatusNoContent)
	}
}

// end makes the caller the only one who writes.
func (p *reply) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished = true
	p.beat.Stop()
}

type callResponse struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  callResult      `json:"result"`
}

// callResult is mcp.CallToolResult, which cannot be given a type from outside.
type callResult struct {
	Meta       map[string]json.RawMessage `json:"_meta,omitempty"`
	Content    []textBlock                `json:"content"`
	Structured json.RawMessage            `json:"structuredContent,omitempty"`
	IsError    bool                       `json:"isError,omitempty"`
	Type       string                     `json:"resultType,omitempty"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type progressNotice struct {
	JSONRPC string         `json:"jsonrpc"`
	Method  string         `json:"method"`
	Params  progressParams `json:"params"`
}

type progressParams struct {
	Token    json.RawMessage `json:"progressToken"`
	Progress float64         `json:"progress"`
	Message  string          `json:"message"`
}

func writeEvent(out *bytes.Buffer, value any) {
	out.WriteString("event: message\ndata: ")
	writeLine(out, value)
	out.WriteString("\n")
}

// writeLine writes a value of ours that cannot fail to become JSON.
func writeLine(out *bytes.Buffer, value any) {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err)
	}
}
