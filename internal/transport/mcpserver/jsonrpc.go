package mcpserver

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// A message is a single JSON-RPC message that has a method, as far as the front
// door looks into it. Its parts are parts of the body.
type message struct {
	id     json.RawMessage // nil for a notification
	method string
	params json.RawMessage
}

// parseMessage reads a message. It is false for all that is not plainly one: the
// SDK is then asked, which also knows what to say about it.
func parseMessage(body []byte) (message, bool) {
	if !utf8.Valid(body) || !json.Valid(body) {
		return message{}, false
	}
	var m message
	version, plain := "", true
	isObject := members(body, func(name string, value json.RawMessage) {
		ok := true
		switch name {
		case "jsonrpc":
			version, ok = stringOf(value)
		case "method":
			m.method, ok = stringOf(value)
		case "id":
			m.id = value
		case "params":
			m.params = value
		default:
			ok = false
		}
		plain = plain && ok
	})
	return m, isObject && plain && version == "2.0" && m.method != ""
}

// requestID is what names a call, as it is written. It is false for a number that
// not every client could read back.
func requestID(raw json.RawMessage) (string, bool) {
	if _, ok := stringOf(raw); ok {
		return string(raw), true
	}
	const exact = 1<<53 - 1 // the integers that a float64 keeps
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return string(raw), err == nil && n >= -exact && n <= exact && strconv.FormatInt(n, 10) == string(raw)
}

// members hands each member of an object to visit, and says whether it was an
// object. The names are told apart by case, which encoding/json does not, and
// nothing is copied. The text must be valid JSON.
func members(object json.RawMessage, visit func(name string, value json.RawMessage)) bool {
	rest := bytes.TrimLeft(object, space)
	if len(rest) == 0 || rest[0] != '{' {
		return false
	}
	for rest = bytes.TrimLeft(rest[1:], space); rest[0] != '}'; rest = bytes.TrimLeft(rest, ","+space) {
		end := valueEnd(rest)
		name, _ := stringOf(rest[:end])
		rest = bytes.TrimLeft(rest[end:], ":"+space)
		end = valueEnd(rest)
		visit(name, rest[:end:end])
		rest = bytes.TrimLeft(rest[end:], space)
	}
	return true
}

const space = " \t\r\n"

// valueEnd is where the value ends that valid JSON begins with.
func valueEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // of what the value is a part of
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// stringOf reads a JSON string.
func stringOf(raw json.RawMessage) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), true
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}
