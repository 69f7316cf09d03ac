package doctor

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// mask stands where a secret was.
const mask = "****"

// A Mask takes secrets out of texts that are given to others. It knows the
// secrets of this host, and the forms that ours and common ones have: what lies
// in an old log was perhaps never in a file that we know.
type Mask struct {
	known []string
	home  string
}

// minSecretBytes keeps a short word from being taken out of everything.
const minSecretBytes = 6

// NewMask knows these secrets. What is under home is named without it.
func NewMask(home string, secrets ...string) Mask {
	m := Mask{home: strings.TrimRight(home, "/")}
	for _, secret := range secrets {
		for _, s := range []string{secret, inJSON(secret), url.QueryEscape(secret), url.PathEscape(secret)} {
			if len(secret) >= minSecretBytes && !slices.Contains(m.known, s) {
				m.known = append(m.known, s)
			}
		}
	}
	// The longest first: a secret can be the beginning of another.
	slices.SortFunc(m.known, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return m
}

// inJSON is a text as it stands between the quotes of JSON.
func inJSON(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return string(data[1 : len(data)-1])
}

// secretForms are what a secret looks like, and what stays of it.
var secretForms = []struct {
	form *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`), mask},
	{regexp.MustCompile(`(c3po_[a-z]+_)[A-Za-z0-9_-]+`), "${1}" + mask},
	{regexp.MustCompile(`(c3po://[^/\s"']+/)[^\s"']+`), "${1}" + mask},                                         // an invitation
	{regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{6,}`), "${1}" + mask},                   // a header
	{regexp.MustCompile(`([a-z][a-z0-9+.-]*://)[^/@\s"'\\]*@`), "${1}" + mask + "@"},                           // user and password in an address
	{regexp.MustCompile(`(#/login/)[A-Za-z0-9_-]+`), "${1}" + mask},                                            // a link for a browser
	{regexp.MustCompile(`\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|xox[abprs]|glpat)[-_][A-Za-z0-9_-]{10,}`), mask}, // keys of other services
	{regexp.MustCompile(`(?i)(["']?[a-z0-9_.-]*(?:secret|password|passwd|api_?key|token)["']?\s*[:=]\s*["']?)[^\s"',}&]{6,}`), "${1}" + mask},
}

// tokenForm is a whole token of ours.
var tokenForm = regexp.MustCompile(`c3po_(?:agent|runner|observer|human|admin)_[a-z2-7]{12}_[A-Za-z0-9_-]{43}`)

// HoldsToken says that a token of ours is in a text.
func HoldsToken(text []byte) bool { return tokenForm.Match(text) }

// Text is a text without its secrets.
func (m Mask) Text(text string) string {
	for _, s := range m.known {
		text = strings.ReplaceAll(text, s, mask)
	}
	for _, f := range secretForms {
		text = f.form.ReplaceAllString(text, f.with)
	}
	if len(m.home) > 1 {
		text = strings.ReplaceAll(text, m.home, "~")
	}
	return text
}
