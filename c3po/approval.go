package c3po

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// ApprovalInput asks the person whether a coding agent may use a tool, once.
type ApprovalInput struct {
	Tool    string          `json:"tool" jsonschema:"The tool, as the coding agent names it"`
	Input   json.RawMessage `json:"input" jsonschema:"The exact arguments of the call, a JSON object"`
	Session string          `json:"session" jsonschema:"The coding agent's session that asks"`
	Request string          `json:"request" jsonschema:"A name of this request that nothing else has; the same name never asks twice"`
	Folder  string          `json:"folder,omitempty" jsonschema:"Where the tool would run"`
	Reason  string          `json:"reason,omitempty" jsonschema:"What the agent said before it asked"`
	Expires string          `json:"expires,omitempty" jsonschema:"After how long the request is withdrawn: 10m or 1h; default 1h"`
}

// An Approval is what the person is asked to allow: the metadata of a message of the kind
// approval. A verdict is about exactly this.
type Approval struct {
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
	Hash    string          `json:"hash"` // of tool and input: ApprovalHash
	Session string          `json:"session"`
	Request string          `json:"request"`
	Host    string          `json:"host,omitempty"`
	Folder  string          `json:"folder,omitempty"`
	Expires time.Time       `json:"expires"`
}

// ApprovalAsked confirms that the person was asked to allow a tool.
type ApprovalAsked struct {
	MessageID MessageID `json:"message_id"`
	Hash      string    `json:"hash"`
	Expires   time.Time `json:"expires"`
}

// A Verdict is the person's decision on an approval: the metadata of the answer to it. The
// words of a denial are the answer's text.
type Verdict struct {
	Allow   bool      `json:"allow"`
	Tool    string    `json:"tool,omitempty"` // what it is about, for the record; Hash binds it
	Hash    string    `json:"hash"`
	Session string    `json:"session"`
	Request string    `json:"request"`
	Folder  string    `json:"folder,omitempty"`
	Expires time.Time `json:"expires"`
}

// The choices of an approval. Everything else that a person answers denies it in their words.
const (
	AllowOnce = "Allow once"
	Deny      = "Deny"
)

// VerdictType is the content type of an answer to an approval. It is for the session
// that asked, and no mail to its model.
const VerdictType = "application/vnd.c3po.verdict"

// ApprovalKey is the client_key of the question that a request asks.
func ApprovalKey(request string) string { return "approval:" + request }

// Approval is what a message asks the person to allow; false if it asks no such thing.
func (m Message) Approval() (Approval, bool) {
	var approval Approval
	ok := m.Kind == KindApproval && json.Unmarshal(m.Metadata, &approval) == nil
	return approval, ok
}

// Verdict is the decision that an answer carries; false if it carries none.
func (m Message) Verdict() (Verdict, bool) {
	var verdict Verdict
	ok := m.Kind == KindReply && m.FromAgent == Human && m.ContentType == VerdictType && json.Unmarshal(m.Metadata, &verdict) == nil
	return verdict, ok
}

// Decision is what the person decided, in words: "allowed Bash once" or "denied Bash".
func (v Verdict) Decision() string {
	if v.Allow {
		return "allowed " + cmp.Or(v.Tool, "it") + " once"
	}
	return "denied " + cmp.Or(v.Tool, "it")
}

// IsFor says that the verdict decides this request of this session, for this tool with
// this input in this folder, and is still good.
func (v Verdict) IsFor(a Approval, now time.Time) bool {
	return v.Hash != "" && v.Folder == a.Folder && v.Hash == a.Hash && v.Session == a.Session && v.Request == a.Request && v.Request != "" && now.Before(v.Expires) && v.Expires.Equal(a.Expires)
}

// ApprovalHash is the fingerprint of a tool with its exact input. The order and spacing
// of the input's fields do not matter, everything else does.
func ApprovalHash(tool string, input json.RawMessage) (string, error) {
	canonical, err := canonicalJSON(input)
	if err != nil {
		return "", err
	}
	bound := make([]byte, 0, len(tool)+1+len(canonical))
	bound = append(bound, tool...)
	bound = append(bound, 0)
	sum := sha256.Sum256(append(bound, canonical...))
	return hex.EncodeToString(sum[:]), nil
}

// canonicalJSON writes an object with its fields in order and its numbers as they are.
func canonicalJSON(input json.RawMessage) ([]byte, error) {
	if !utf8.Valid(input) || halfCharacter(input) != "" {
		return nil, Errorf(InvalidRequest, "the input of a tool has half a character, which programs read as different ones").
			Suggest("Have it decided at the terminal.")
	}
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil || object == nil || decoder.More() {
		return nil, Errorf(InvalidRequest, "the input of a tool is not a JSON object").Suggest("Send the arguments as the coding agent gave them.")
	}
	if name, repeats := repeatedField(json.NewDecoder(bytes.NewReader(input))); repeats {
		return nil, Errorf(InvalidRequest, "the input of a tool has the field %.80q twice, and nobody can tell which one counts", name).
			Suggest("Have it decided at the terminal.")
	}
	return json.Marshal(object)
}

// halfCharacter finds one half of a surrogate pair that a text of JSON escapes. All such
// halves are read as the same character.
func halfCharacter(input []byte) string {
	for at := 0; ; {
		next := bytes.IndexByte(input[at:], '\\')
		if next < 0 || at+next+1 >= len(input) {
			return ""
		}
		at += next
		unit, ok := escapedUnit(input[at:])
		switch {
		case !ok:
			at += 2 // a backslash may be what is escaped
		case !utf16.IsSurrogate(unit):
			at += escapedBytes
		default:
			low, ok := escapedUnit(input[at+escapedBytes:])
			if !ok || utf16.DecodeRune(unit, low) == utf8.RuneError {
				return string(input[at : at+escapedBytes])
			}
			at += 2 * escapedBytes
		}
	}
}

// escapedBytes are those of \uXXXX.
const escapedBytes = 6

// escapedUnit reads \uXXXX.
func escapedUnit(text []byte) (rune, bool) {
	if len(text) < escapedBytes || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit), err == nil
}

// repeatedField finds a field that one object of valid JSON has twice. Programs differ in
// which one they take, so what a person would read may not be what runs.
func repeatedField(decoder *json.Decoder) (name string, found bool) {
	token, err := decoder.Token()
	open, isOpen := token.(json.Delim)
	if err != nil || !isOpen {
		return "", false
	}
	seen := map[string]bool{}
	for decoder.More() {
		if open == '{' {
			token, err := decoder.Token()
			field, _ := token.(string)
			if err != nil || seen[field] {
				return field, err == nil
			}
			seen[field] = true
		}
		if name, found = repeatedField(decoder); found {
			return name, true
		}
	}
	_, _ = decoder.Token() // the end of it
	return "", false
}
