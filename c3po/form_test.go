package c3po

import (
	"regexp"
	"testing"
)

// The forms as regular expressions say the same.
func FuzzNamesHaveTheFormsThatAreDocumented(f *testing.F) {
	agent := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}(/[A-Za-z0-9][A-Za-z0-9_.-]{0,63})?$`)
	label := regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	message := regexp.MustCompile(`^([^:]+)::([^:]+)::([0-9a-f]{8})$`)
	for _, s := range []string{
		"", "a", "A/b", "a/b/c", "/a", "a/", ".a", "a.", "a:b", "é", "a\n", "main", "Main", "a b", "0-9_.",
		"a::b::0123abcd", "a::#room::0123abcd", "a::b::0123abcg", "a::b::0123ABCD", "a::b::0123abc", "a::b", "a::::0123abcd", "a:::b::0123abcd", "a::b::c::0123abcd",
		"0123456789012345678901234567890123456789012345678901234567890123", "01234567890123456789012345678901234567890123456789012345678901234",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if is, want := isAgentID(s), agent.MatchString(s); is != want {
			t.Errorf("%q is an agent id: %t, want %t", s, is, want)
		}
		if is, want := isLabel(s), label.MatchString(s); is != want {
			t.Errorf("%q is a label: %t, want %t", s, is, want)
		}
		parts := message.FindStringSubmatch(s)
		want := parts != nil && agent.MatchString(parts[1]) && (agent.MatchString(parts[2]) || parts[2][0] == '#' && label.MatchString(parts[2][1:]))
		if is := isMessageID(s); is != want {
			t.Errorf("%q is a message id: %t, want %t", s, is, want)
		}
	})
}
