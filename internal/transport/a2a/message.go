package a2a

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"mime"
	"strings"
	"unicode"

	"github.com/c3po-dev/c3po/c3po"
)

// maxKeyIDBytes is how long an id can be and still be a key as it is.
const maxKeyIDBytes = 150

// maxIDBytes is how long an id can be: a longer one is kept in the metadata, which has to
// hold the caller's own too.
const maxIDBytes = 1000

// keyPrefix makes an id the idempotency key of a message. A key that is also the name of
// the thread would mean that the same text may be sent as often as one likes.
const keyPrefix = "a2a:"

// What a caller sends, in both versions.
type (
	sendParams struct {
		Tenant        string          `json:"tenant"`
		Message       *sentMessage    `json:"message"`
		Configuration sendWishes      `json:"configuration"`
		Metadata      json.RawMessage `json:"metadata"`
	}
	sentMessage struct {
		MessageID string          `json:"messageId"`
		ContextID string          `json:"contextId"`
		TaskID    string          `json:"taskId"`
		Role      string          `json:"role"`
		Parts     []sentPart      `json:"parts"`
		Metadata  json.RawMessage `json:"metadata"`
	}
	sentPart struct {
		Text      *string         `json:"text"`
		Data      json.RawMessage `json:"data"`
		Raw       json.RawMessage `json:"raw"`
		URL       json.RawMessage `json:"url"`
		File      json.RawMessage `json:"file"` // of 0.3
		MediaType string          `json:"mediaType"`
	}
	sendWishes struct {
		ReturnImmediately bool            `json:"returnImmediately"`
		Blocking          *bool           `json:"blocking"` // of 0.3, where it is the other way round
		HistoryLength     *int            `json:"historyLength"`
		Push              json.RawMessage `json:"taskPushNotificationConfig"`
		PushBefore        json.RawMessage `json:"pushNotificationConfig"` // of 0.3
	}
)

// atOnce says that the caller does not wait for the answer in this call.
func (w sendWishes) atOnce() bool { return w.ReturnImmediately || w.Blocking != nil && !*w.Blocking }

func given(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && !bytes.Equal(raw, null)
}

// decode reads params. What is not known is ignored, as the protocol asks for.
func decode[T any](params json.RawMessage) (T, *fault) {
	var in T
	if !given(params) {
		return in, nil
	}
	if err := json.Unmarshal(params, &in); err != nil {
		return in, badParams("the parameters have another form than this method's", "See the schema of the protocol.")
	}
	return in, nil
}

// parseSend reads a message and what to send for it.
func parseSend(v version, caller c3po.Caller, params json.RawMessage) (sendParams, c3po.SendInput, *fault) {
	in, wrong := decode[sendParams](params)
	if wrong != nil {
		return in, c3po.SendInput{}, wrong
	}
	m := in.Message
	switch {
	case m == nil:
		return in, c3po.SendInput{}, badParams("message is missing", "Give one with a messageId, a role and parts.")
	case m.MessageID == "":
		return in, c3po.SendInput{}, badParams("message.messageId is missing", "Give each message a new id; the same id never sends twice.")
	case len(m.MessageID) > maxIDBytes:
		return in, c3po.SendInput{}, badParams(fmt.Sprintf("message.messageId has %d bytes, at most %d are allowed", len(m.MessageID), maxIDBytes), "Use a UUID.")
	case m.Role != v.role("user"):
		return in, c3po.SendInput{}, badParams("message.role is not "+v.role("user"), "A caller speaks as the user.")
	}
	if given(in.Configuration.Push) || given(in.Configuration.PushBefore) {
		return in, c3po.SendInput{}, noPush()
	}
	text, contentType, wrong := textOf(m.Parts)
	if wrong != nil {
		return in, c3po.SendInput{}, wrong
	}
	send := c3po.SendInput{Message: text, ContentType: contentType, ClientKey: keyPrefix + nameOfID(m.MessageID)}
	if caller.Payer != "" {
		// Callers that share a name do not share the ids of their messages.
		send.ClientKey = keyPrefix + nameOfID(threadOf(caller, "")+" "+m.MessageID)
	}
	wrong = m.place(caller, &send)
	return in, send, wrong
}

// nameOfID is an id of a message as a key or a thread can be named after it.
func nameOfID(id string) string {
	if len(id) <= maxKeyIDBytes && !strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// textOf is what the parts of a message say. One part of data goes as JSON; among others
// it goes as its text.
func textOf(parts []sentPart) (text, contentType string, wrong *fault) {
	var texts []string
	for _, part := range parts {
		kinds := 0
		for _, has := range []bool{part.Text != nil, given(part.Data), given(part.Raw), given(part.URL), given(part.File)} {
			if has {
				kinds++
			}
		}
		switch {
		case kinds > 1:
			return "", "", badParams("a part has more than one content", "Send text and data as two parts.")
		case part.Text != nil:
			texts = append(texts, *part.Text)
			contentType = part.MediaType
		case given(part.Raw) || given(part.URL) || given(part.File):
			return "", "", &fault{code: codeContentType, message: "files cannot be sent here", suggestion: "Send text or data, and say in it where the file is."}
		case given(part.Data):
			texts = append(texts, string(bytes.TrimSpace(part.Data)))
			contentType = jsonType
		default:
			return "", "", badParams("a part has neither text nor data", `For example {"text": "Which topics are there?"}.`)
		}
	}
	if len(texts) == 0 {
		return "", "", badParams("message.parts is empty", "Send at least one part.")
	}
	if kind, _, err := mime.ParseMediaType(contentType); len(texts) > 1 || err != nil || kind == "text/plain" {
		contentType = ""
	}
	return strings.Join(texts, "\n\n"), contentType, nil
}
