package c3po

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// A TraceID names a trace, a SpanID one span of it, as W3C Trace Context has them. A zero
// one names nothing.
type (
	TraceID [16]byte
	SpanID  [8]byte
)

func (t TraceID) String() string { return hex.EncodeToString(t[:]) }
func (s SpanID) String() string  { return hex.EncodeToString(s[:]) }

// A TraceContext is a place in a trace.
type TraceContext struct {
	Trace TraceID
	Span  SpanID
	Flags byte
	State string // what tracing systems say of it: tracestate
}

// Sampled says that whoever began the trace records it.
func (t TraceContext) Sampled() bool { return t.Flags&1 != 0 }

// Parent writes the place as a traceparent.
func (t TraceContext) Parent() string {
	return "00-" + t.Trace.String() + "-" + t.Span.String() + "-" + hex.EncodeToString([]byte{t.Flags & 1})
}

const (
	// MaxTraceState is how long a tracestate that is passed on may be, and maxTraceMembers
	// how many members it may have: what the specification demands of everybody.
	MaxTraceState   = 512
	maxTraceMembers = 32
	// parentBytes is the length of a traceparent of version 00.
	parentBytes = 55
	// ourMember is the member of a tracestate in which a coordinator keeps the parent of a
	// message's span, or root.
	ourMember  = "c3po="
	rootMember = "root"
)

// ParseTraceContext reads the two headers. It is false if the first is not a valid
// traceparent; a tracestate that is not valid is left out.
func ParseTraceContext(parent, state string) (TraceContext, bool) {
	var t TraceContext
	if len(parent) < parentBytes || parent[2] != '-' || parent[35] != '-' || parent[52] != '-' {
		return t, false
	}
	var version, flags [1]byte
	if !readHex(version[:], parent[:2]) || !readHex(t.Trace[:], parent[3:35]) || !readHex(t.Span[:], parent[36:52]) || !readHex(flags[:], parent[53:55]) {
		return TraceContext{}, false
	}
	switch {
	case t.Trace == TraceID{}, t.Span == SpanID{}, version[0] == 0xff,
		version[0] == 0 && len(parent) != parentBytes,
		len(parent) > parentBytes && parent[parentBytes] != '-', len(parent) > MaxTraceState:
		return TraceContext{}, false
	}
	t.Flags, t.State = flags[0], checkedState(state)
	return t, true
}

// readHex reads lower-case digits only, as the specification has it.
func readHex(to []byte, text string) bool {
	if strings.ToLower(text) != text {
		return false
	}
	_, err := hex.Decode(to, []byte(text))
	return err == nil
}

// checkedState is a tracestate if it may be passed on, else nothing.
func checkedState(state string) string {
	if len(state) > MaxTraceState || strings.Count(state, ",") >= maxTraceMembers {
		return ""
	}
	for _, r := range state {
		if r < ' ' || r > '~' {
			return ""
		}
	}
	if state != "" {
		for member := range strings.SplitSeq(state, ",") {
			key, _, found := strings.Cut(strings.TrimSpace(member), "=")
			if (!found || key == "") && strings.TrimSpace(member) != "" {
				return ""
			}
		}
	}
	return state
}

// A MessageTrace is the place of a message in a trace: its own span, and the span that it
// follows from.
type MessageTrace struct {
	TraceContext
	From SpanID       // zero if it begins the trace
	Link TraceContext // another trace that it belongs to; zero if there is none
}

// Within makes the place of a message that follows from another place, which may be zero.
func (t TraceContext) Within(own SpanID) MessageTrace {
	m := MessageTrace{TraceContext: TraceContext{Trace: t.Trace, Span: own, Flags: t.Flags, State: t.State}, From: t.Span}
	return m
}

// Into adds the place to a message's metadata, a JSON object without spaces or nothing. What
// does not fit into so many bytes is left out.
func (m MessageTrace) Into(metadata []byte, most int) []byte {
	mine := WithoutTrace(metadata)
	ours := ourMember + rootMember
	if m.From != (SpanID{}) {
		ours = ourMember + m.From.String()
	}
	for _, state := range []string{withMember(ours, m.State), ours} {
		added, err := json.Marshal(carried{m.Parent(), state})
		if err != nil {
			continue
		}
		if body := bytes.TrimPrefix(bytes.TrimSuffix(mine, []byte("}")), []byte("{")); len(body) > 0 {
			added = append(append([]byte("{"), body...), append([]byte(","), added[1:]...)...)
		}
		if len(added) <= most {
			return added
		}
	}
	return metadata
}

// withMember puts a member in front of the others, without those that no longer fit.
func withMember(first, state string) string {
	all, members := first, 1
	for member := range strings.SplitSeq(state, ",") {
		member = strings.TrimSpace(member)
		if member == "" || strings.HasPrefix(member, ourMember) {
			continue
		}
		if members++; members > maxTraceMembers || len(all)+1+len(member) > MaxTraceState {
			break
		}
		all += "," + member
	}
	return all
}

// carried is what metadata says of a trace.
type carried struct {
	Parent string `json:"traceparent"`
	State  string `json:"tracestate,omitempty"`
}

func (c carried) context() (TraceContext, bool) { return ParseTraceContext(c.Parent, c.State) }

// ContextIn is the context that a caller has written into metadata; false if there is none.
func ContextIn(metadata []byte) (TraceContext, bool) {
	if !bytes.Contains(metadata, []byte(`"traceparent"`)) {
		return TraceContext{}, false
	}
	var members map[string]json.RawMessage // a struct would also take other cases of its names
	var c carried
	if json.Unmarshal(metadata, &members) != nil || json.Unmarshal(members["traceparent"], &c.Parent) != nil {
		return TraceContext{}, false
	}
	if state, found := members["tracestate"]; found && json.Unmarshal(state, &c.State) != nil {
		return TraceContext{}, false
	}
	return c.context()
}

// TraceIn is the place of a message by its metadata; false if that says none. Without our
// member the context is its sender's, and the message's own span is named after its id.
func TraceIn(space Space, id MessageID, metadata []byte) (MessageTrace, bool) {
	t, ok := ContextIn(metadata)
	if !ok {
		return MessageTrace{}, false
	}
	for member := range strings.SplitSeq(t.State, ",") {
		value, ours := strings.CutPrefix(strings.TrimSpace(member), ourMember)
		var from SpanID
		if ours && (value == rootMember || len(value) == 2*len(from) && readHex(from[:], value)) {
			return MessageTrace{TraceContext: t, From: from}, true
		}
	}
	return t.Within(SpanOf(space, id)), true
}

// ChainTrace is the place of a message whose metadata says none, by the chain that it belongs
// to: the same whoever asks.
func ChainTrace(space Space, chain string, id MessageID) MessageTrace {
	sum := sha256.Sum256([]byte("c3po trace\x00" + string(space) + "\x00" + cmp.Or(chain, string(id))))
	return TraceContext{Trace: TraceID(sum[:16]), Flags: 1}.Within(SpanOf(space, id))
}

// SpanOf names the span of a message after its id.
func SpanOf(space Space, id MessageID) SpanID {
	sum := sha256.Sum256([]byte("c3po span\x00" + string(space) + "\x00" + string(id)))
	return SpanID(sum[:8])
}

// WithoutTrace is metadata without what it says of a trace, otherwise as it is written: two
// messages that differ only in that are the same, and no model reads it.
func WithoutTrace(metadata []byte) []byte {
	if !bytes.Contains(metadata, []byte(`"traceparent"`)) && !bytes.Contains(metadata, []byte(`"tracestate"`)) {
		return metadata
	}
	read := json.NewDecoder(bytes.NewReader(metadata))
	if open, err := read.Token(); err != nil || open != json.Delim('{') {
		return metadata
	}
	left := []byte("{")
	for read.More() {
		from := read.InputOffset()
		key, err := read.Token()
		var value json.RawMessage
		if err == nil {
			err = read.Decode(&value)
		}
		if err != nil {
			return metadata
		}
		if key == "traceparent" || key == "tracestate" {
			continue
		}
		if len(left) > 1 {
			left = append(left, ',')
		}
		left = append(left, bytes.TrimLeft(metadata[from:read.InputOffset()], ", \t\r\n")...)
	}
	if len(left) == 1 {
		return nil
	}
	return append(left, '}')
}

type traceKey struct{}

// WithTrace gives the context of a call that is made within a trace.
func WithTrace(ctx context.Context, t TraceContext) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf is the place in a trace that the call under ctx was made from; false if it says none.
func TraceOf(ctx context.Context) (TraceContext, bool) {
	t, ok := ctx.Value(traceKey{}).(TraceContext)
	return t, ok
}
