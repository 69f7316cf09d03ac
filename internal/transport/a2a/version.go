package a2a

import (
	"cmp"
	"net/http"
	"strings"
)

// A version of the protocol. They differ in the names of methods and states, and in how
// an answer is wrapped.
type version string

const (
	v10 version = "1.0"
	v03 version = "0.3"
)

// versionHeader is how a caller says which version it speaks; it may also be a parameter
// of the address.
const versionHeader = "A2A-Version"

// versionOf is the version of a request. A caller that says nothing speaks 0.3. The third
// number of a version means nothing.
func versionOf(r *http.Request) (version, *fault) {
	said := strings.TrimSpace(cmp.Or(r.Header.Get(versionHeader), r.URL.Query().Get(versionHeader)))
	parts := strings.SplitN(said, ".", 3)
	switch strings.Join(parts[:min(len(parts), 2)], ".") {
	case "", string(v03):
		return v03, nil
	case string(v10), "1":
		return v10, nil
	}
	return v10, &fault{code: codeVersion, message: "this version of A2A is not spoken here", suggestion: "Use 1.0 or 0.3."}
}

// A state of a task.
type state int

const (
	submitted state = iota
	working
	inputRequired
	completed
	failed
	canceled
)

var stateNames = map[state]string{
	submitted: "submitted", working: "working", inputRequired: "input-required",
	completed: "completed", failed: "failed", canceled: "canceled",
}

func (s state) terminal() bool { return s == completed || s == failed || s == canceled }

// settled says that there is something for the caller: nothing more comes, or somebody is asked.
func (s state) settled() bool { return s.terminal() || s == inputRequired }

// state is a state in the words of the version.
func (v version) state(s state) string { return v.named(stateNames[s]) }

func (v version) named(state string) string {
	if v == v03 {
		return state
	}
	return "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(state, "-", "_"))
}

// hasState says that a word is a state of the protocol. No task here is ever rejected or
// waits for credentials.
func (v version) hasState(word string) bool {
	for _, name := range stateNames {
		if v.named(name) == word {
			return true
		}
	}
	return word == v.named("rejected") || word == v.named("auth-required")
}

// role is who speaks, user or agent.
func (v version) role(who string) string {
	if v == v03 {
		return who
	}
	return "ROLE_" + strings.ToUpper(who)
}

// kind is the word by which 0.3 tells objects apart; 1.0 has none.
func (v version) kind(word string) string {
	if v == v03 {
		return word
	}
	return ""
}
