package redisstore

import "strings"

// plainFields reads a JSON object of texts without escapes and whole numbers, which the facts
// and the body of most new messages are, and gives each to set: a number with its digits, a
// text as it is. It reports false where it sees anything else, or set refuses a field; then
// encoding/json has the word, which takes ten times as long.
func plainFields(object string, set func(name, value string, number bool) bool) bool {
	rest, found := strings.CutPrefix(object, "{")
	for more := found; more; {
		name, after, quoted := plainText(rest)
		after, colon := strings.CutPrefix(after, ":")
		if !quoted || !colon {
			return false
		}
		value, behind, text := plainText(after)
		if !text {
			value, behind = wholeNumber(after)
		}
		if value == "" && !text || !set(name, value, !text) {
			return false
		}
		rest, more = strings.CutPrefix(behind, ",")
	}
	return found && rest == "}"
}

// plainText cuts a quoted text of printable ASCII without escapes off.
func plainText(s string) (text, rest string, ok bool) {
	if s == "" || s[0] != '"' {
		return "", s, false
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return s[1:i], s[i+1:], true
		case c == '\\', c < ' ', c > '~':
			return "", s, false
		}
	}
	return "", s, false
}

// wholeNumber cuts digits off, as many as fit into 64 bits.
func wholeNumber(s string) (digits, rest string) {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	if n > 18 || n > 1 && s[0] == '0' {
		return "", s
	}
	return s[:n], s[n:]
}
