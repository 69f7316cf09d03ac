package c3po

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// badArguments says what is wrong with arguments that are to be of a type.
func badArguments(err error, of reflect.Type) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	sentence := strings.TrimPrefix(err.Error(), "json: ")
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		sentence = "argument " + wrong.Field + " has the wrong type: " + wrong.Value
		if wrong.Field == "" {
			sentence = "the arguments have the wrong type: not a JSON object"
		}
	}
	refused := Errorf(InvalidRequest, "%s", sentence).Suggest("Check parameter values and formats.")
	quoted, unknown := strings.CutPrefix(sentence, "unknown field ")
	if !unknown {
		return refused
	}
	refused.cause = errNotKnown
	if name, err := strconv.Unquote(quoted); err == nil {
		if meant := argumentMeant(name, of); meant != "" {
			refused.Suggest("Did you mean %q?", meant)
		}
	}
	return refused
}

// CheckNames refuses arguments of which a reader sees something else than the operation
// takes: one that is given twice, or under its name in other letters, which JSON in Go takes
// for the same.
func (o Operation) CheckNames(arguments []byte) error {
	if len(bytes.TrimSpace(arguments)) == 0 || o.In == nil || o.In.Kind() != reflect.Struct {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(arguments))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil // decoding it says what is wrong
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		name, _ := key.(string)
		if err != nil || d.Decode(new(json.RawMessage)) != nil {
			return nil
		}
		if seen[name] {
			return Errorf(InvalidRequest, "argument %q is given twice", Clip(name)).Suggest("Give each argument once.")
		}
		seen[name] = true
		for _, field := range reflect.VisibleFields(o.In) {
			if argument, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != argument && strings.EqualFold(name, argument) {
				return Errorf(InvalidRequest, "argument %q is not spelled %q", Clip(name), argument).Suggest("Spell it %s.", argument)
			}
		}
	}
	return nil
}

// A decoder reads the arguments of one call after another, so that a call need not make
// another buffer. One that has failed is not used again, and none keeps a large buffer.
type decoder struct {
	*json.Decoder
	from *bytes.Reader
	home *sync.Pool // nil if it is not used again
}

const maxDecoderBytes = 16 << 10

// Those that refuse fields they do not know, and those that do not.
var closedDecoders, openDecoders sync.Pool

func decoderOf(closed bool, length int) *decoder {
	home := &openDecoders
	if closed {
		home = &closedDecoders
	}
	if length > maxDecoderBytes {
		return newDecoder(closed, nil)
	}
	if d, ok := home.Get().(*decoder); ok {
		return d
	}
	return newDecoder(closed, home)
}

func newDecoder(closed bool, home *sync.Pool) *decoder {
	d := &decoder{from: bytes.NewReader(nil), home: home}
	d.Decoder = json.NewDecoder(d.from)
	if closed {
		d.DisallowUnknownFields()
	}
	return d
}

func (d *decoder) release() {
	d.from.Reset(nil)
	if d.home != nil {
		d.home.Put(d)
	}
}

// otherWords are words that callers use for an argument, besides its own name.
var otherWords = map[string][]string{
	"target":       {"to", "recipient", "agent", "agent_id", "target_agent", "to_agent"},
	"message":      {"text", "body", "content", "question", "msg"},
	"response":     {"text", "body", "content", "answer", "reply", "message"},
	"message_id":   {"id", "reply_to", "request_id", "ticket"},
	"message_ids":  {"ids", "message_id", "id", "messages"},
	"agent_id":     {"id", "agent", "target", "name"},
	"wait_seconds": {"wait", "timeout", "timeout_seconds"},
	"timeout":      {"wait", "wait_seconds", "timeout_seconds", "seconds"},
	"current_task": {"task"},
	"client_key":   {"key", "idempotency_key"},
}

// argumentMeant is the argument that an unknown one stands for; empty if none is
// likely.
func argumentMeant(name string, of reflect.Type) string {
	if of.Kind() != reflect.Struct {
		return ""
	}
	near := ""
	for _, field := range reflect.VisibleFields(of) {
		argument, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case argument == "" || argument == "-":
		case strings.ReplaceAll(strings.ToLower(name), "-", "_") == argument, slices.Contains(otherWords[argument], name):
			return argument
		case near == "" && len(name) > 3 && oneOff(name, argument):
			near = argument
		}
	}
	return near
}

// oneOff says that two words differ by one letter: left out, added, or another.
func oneOff(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		return i < len(a) && a[i+1:] == b[i+1:]
	}
	return a[i:] == b[i+1:]
}
