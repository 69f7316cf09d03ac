package c3po

import "strings"

// Each call checks several names, so their forms are loops: a regular expression takes ten
// times as long, and each start of a command compiles it.

// isAgentID: NAME or HOST/NAME.
func isAgentID(s string) bool {
	host, name, found := strings.Cut(s, "/")
	return isName(host) && (!found || isName(name))
}

// isName: 1-64 of A-Z a-z 0-9 _ . - starting with a letter or digit.
func isName(s string) bool {
	return hasForm(s, func(c byte) bool { return isLower(c) || 'A' <= c && c <= 'Z' }, "_.-")
}

// isLabel: 1-64 of a-z 0-9 . _ - starting with a letter or digit. Spaces and rooms are
// called so.
func isLabel(s string) bool { return hasForm(s, isLower, "._-") }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// hasForm says whether a text has 1-64 letters, and after the first of them marks too.
func hasForm(s string, letter func(byte) bool, marks string) bool {
	if len(s) == 0 || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		if !letter(s[i]) && (i == 0 || strings.IndexByte(marks, s[i]) < 0) {
			return false
		}
	}
	return true
}

// isMessageID: FROM::TO::8 hexadecimal digits.
func isMessageID(s string) bool {
	from, rest, _ := strings.Cut(s, "::")
	to, hex, _ := strings.Cut(rest, "::")
	if len(hex) != 8 || !isAgentID(from) || !isAddress(to) {
		return false
	}
	for i := range len(hex) {
		if !isLower(hex[i]) || hex[i] > 'f' {
			return false
		}
	}
	return true
}
