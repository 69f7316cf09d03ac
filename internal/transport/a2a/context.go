package a2a

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/c3po"
)

// threadPrefix begins the names of our threads, and of contexts whose caller named none.
const threadPrefix = "a2a-"

// maxContextChars is how long a contextId can be.
const maxContextChars = 200

// The names in a message's metadata under which the ids are kept that its caller gave.
const (
	askedKeyName   = "a2a_message_id"
	contextKeyName = "a2a_context_id"
)

// account is whose a caller's contexts are. A rotated token keeps it.
func account(caller c3po.Caller) string { return cmp.Or(caller.Account, caller.KID) }

// threadOf names the thread of a caller's context. Callers that choose the same contextId
// share neither a conversation nor its budget.
func threadOf(caller c3po.Caller, contextID string) string {
	sum := sha256.Sum256([]byte(account(caller) + "\x00" + string(caller.ID) + "\x00" + contextID))
	return threadPrefix + hex.EncodeToString(sum[:16])
}

// place puts a message into its context, and keeps the caller's ids with it.
func (m *sentMessage) place(caller c3po.Caller, send *c3po.SendInput) *fault {
	if chars := utf8.RuneCountInString(m.ContextID); chars > maxContextChars {
		return badParams(fmt.Sprintf("contextId has %d characters, at most %d are allowed", chars, maxContextChars), "Use a UUID.")
	}
	shown := cmp.Or(m.ContextID, threadPrefix+nameOfID(m.MessageID))
	send.Thread = threadOf(caller, shown)
	var wrong *fault
	send.Metadata, wrong = withNames(m.Metadata, map[string]string{askedKeyName: m.MessageID, contextKeyName: shown})
	return wrong
}

// withNames adds names to the metadata of a caller's, in place of what it calls so.
func withNames(metadata json.RawMessage, names map[string]string) (json.RawMessage, *fault) {
	notObject := badParams("message.metadata is not an object", `For example {"source": "crm"}.`)
	all := map[string]json.RawMessage{}
	if given(metadata) {
		if err := json.Unmarshal(metadata, &all); err != nil {
			return nil, notObject
		}
	}
	for name, value := range names {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, notObject
		}
		all[name] = text
	}
	whole, err := json.Marshal(all)
	if err != nil {
		return nil, notObject
	}
	return whole, nil
}

// named reads a name that withNames has added; empty if there is none.
func named(m c3po.Message, name string) (value string) {
	var all map[string]json.RawMessage
	if json.Unmarshal(m.Metadata, &all) != nil || json.Unmarshal(all[name], &value) != nil {
		return ""
	}
	return value
}

// askedAs is the id that the caller gave its message. Older messages have it in the name
// of their thread.
func askedAs(m c3po.Message) string {
	if id := named(m, askedKeyName); id != "" {
		return id
	}
	if id, ok := strings.CutPrefix(m.Thread, threadPrefix); ok {
		return id
	}
	return string(m.ID)
}

// contextOf is the context of a message as its caller knows it. Older messages have it as
// their thread.
func contextOf(m c3po.Message) string { return cmp.Or(named(m, contextKeyName), m.Thread) }
